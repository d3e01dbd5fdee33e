//! Read-back of saved cards and saved banks (gateway-api, Saved card, Saved bank).

use std::time::Duration;

use serde_json::Value;

use super::import_template;
use crate::api::call::Call;
use crate::api::methods::bank::{GetBank, ListBanks};
use crate::api::methods::card::{GetCard, ListCards};
use crate::effects::methods::method::method_facts;
use crate::kinds::remote::readback::{ReadBack, ReadBackField, WireForm};

/// Only their merchant changes saved methods: they are read a few times a day.
const EVERY: Duration = Duration::from_hours(6);

const fn plain_field(path: &'static str, at: &'static str) -> ReadBackField {
    ReadBackField { path, at, form: WireForm::Same }
}

const fn fingerprint_field(path: &'static str) -> ReadBackField {
    ReadBackField { path, at: "fingerprint", form: WireForm::Fingerprint }
}

fn never_ended(_: &Value) -> Option<String> {
    None
}

pub(crate) static CARDS: ReadBack = ReadBack {
    list_name: "cards",
    list: || Call::to::<ListCards>(&[]),
    one: |id| Call::to::<GetCard>(&[id.as_str()]),
    interval: EVERY,
    fields: &[
        fingerprint_field("source.card.number"),
        plain_field("source.card.exp_month", "exp_month"),
        ReadBackField { path: "source.card.exp_year", at: "exp_year", form: WireForm::Year },
        plain_field("source.card.name", "name"),
        plain_field("source.card.address1", "address1"),
        plain_field("source.card.city", "city"),
        plain_field("source.card.state", "state"),
        plain_field("source.card.postal_code", "postal_code"),
        plain_field("description", "description"),
    ],
    facts: &[],
    import_facts: method_facts,
    import_template: import_template::card,
    ended_reason: never_ended,
};

pub(crate) static BANKS: ReadBack = ReadBack {
    list_name: "banks",
    list: || Call::to::<ListBanks>(&[]),
    one: |id| Call::to::<GetBank>(&[id.as_str()]),
    interval: EVERY,
    fields: &[
        fingerprint_field("source.bank.account_number"),
        plain_field("source.bank.account_type", "account_type"),
        plain_field("source.bank.account_holder_type", "account_holder_type"),
        plain_field("source.bank.name", "name"),
        plain_field("description", "description"),
    ],
    facts: &[],
    import_facts: method_facts,
    import_template: import_template::bank,
    ended_reason: never_ended,
};

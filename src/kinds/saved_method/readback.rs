//! Read-back of saved cards and saved banks (gateway-api, Saved card, Saved bank).

use std::time::Duration;

use serde_json::Value;

use super::sketch;
use crate::api::Call;
use crate::api::bank::{GetBank, ListBanks};
use crate::api::card::{GetCard, ListCards};
use crate::effects::method_facts;
use crate::kinds::readback::{Form, ReadBack, Shown};

/// Only their merchant changes saved methods: they are read a few times a day.
const EVERY: Duration = Duration::from_hours(6);

const fn same(path: &'static str, at: &'static str) -> Shown {
    Shown { path, at, form: Form::Same }
}

const fn masked(path: &'static str) -> Shown {
    Shown { path, at: "fingerprint", form: Form::Fingerprint }
}

fn lasts(_: &Value) -> Option<String> {
    None
}

pub static CARDS: ReadBack = ReadBack {
    list_name: "cards",
    list: || Call::to::<ListCards>(&[]),
    one: |id| Call::to::<GetCard>(&[id.as_str()]),
    every: EVERY,
    fields: &[
        masked("source.card.number"),
        same("source.card.exp_month", "exp_month"),
        Shown { path: "source.card.exp_year", at: "exp_year", form: Form::Year },
        same("source.card.name", "name"),
        same("source.card.address1", "address1"),
        same("source.card.city", "city"),
        same("source.card.state", "state"),
        same("source.card.postal_code", "postal_code"),
        same("description", "description"),
    ],
    facts: &[],
    adopted: method_facts,
    sketch: sketch::card,
    ended: lasts,
};

pub static BANKS: ReadBack = ReadBack {
    list_name: "banks",
    list: || Call::to::<ListBanks>(&[]),
    one: |id| Call::to::<GetBank>(&[id.as_str()]),
    every: EVERY,
    fields: &[
        masked("source.bank.account_number"),
        same("source.bank.account_type", "account_type"),
        same("source.bank.account_holder_type", "account_holder_type"),
        same("source.bank.name", "name"),
        same("description", "description"),
    ],
    facts: &[],
    adopted: method_facts,
    sketch: sketch::bank,
    ended: lasts,
};

/// Returns the description of reading a method of this spec.
pub(super) fn read_back(spec: &Value) -> Option<&'static ReadBack> {
    match spec.get("type").and_then(Value::as_str) {
        Some("card") => Some(&CARDS),
        Some("bank") => Some(&BANKS),
        _ => None,
    }
}

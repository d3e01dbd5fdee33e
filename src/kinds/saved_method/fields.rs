//! Table of a saved method's fields.

use crate::kinds::schema::kind::{Mutability, Privacy, SpecField};

const fn never(path: &'static str, doc: &'static str) -> SpecField {
    SpecField { path, privacy: Privacy::Plain, mutability: Mutability::Immutable, doc }
}

const fn token(path: &'static str, doc: &'static str) -> SpecField {
    SpecField { path, privacy: Privacy::Plain, mutability: Mutability::ReplaceByToken, doc }
}

const fn secret(path: &'static str, doc: &'static str) -> SpecField {
    SpecField { privacy: Privacy::Secret, ..token(path, doc) }
}

const fn personal(path: &'static str, doc: &'static str) -> SpecField {
    SpecField { privacy: Privacy::Personal, ..token(path, doc) }
}

/// All fields. The parts of the source that the service keeps change only by a token (gateway-api,
/// PATCH /v1/cards/{cardId}, PATCH /v1/banks/{bankId}).
pub(super) const FIELDS: &[SpecField] = &[
    never(
        "merchant",
        "The merchant that the method belongs to, NAME or NAMESPACE/NAME (design, Files).",
    ),
    never("type", "`card` or `bank` (gateway-api, Payment method in a request)."),
    token(
        "source",
        "Source of the data: a mapping that fits `type`, or `intake`, where the payer enters it on a page of ours \
         or `reckon attach` supplies a one-time token (design, Files).",
    ),
    token("source.card", "A card (gateway-api, Saved cards)."),
    secret(
        "source.card.number",
        "`{env: NAME}`, `{file: NAME}`, or a published test number under a merchant in test mode (gateway-api, POST /v1/cards).",
    ),
    token("source.card.exp_month", "Month of expiry, 1 to 12 (gateway-api, POST /v1/cards)."),
    token(
        "source.card.exp_year",
        "Year of expiry, two or four digits (gateway-api, POST /v1/cards; service-facts, 31).",
    ),
    personal(
        "source.card.name",
        "The holder, at most 64 characters (gateway-api, Saved card; service-facts, 31).",
    ),
    personal(
        "source.card.address1",
        "Street and number, at most 64 characters (gateway-api, Saved card; service-facts, 31).",
    ),
    personal(
        "source.card.city",
        "City, at most 64 characters (gateway-api, Saved card; service-facts, 31).",
    ),
    personal("source.card.state", "State or province (gateway-api, Saved card)."),
    personal(
        "source.card.postal_code",
        "3 to 9 letters and digits (gateway-api, Saved card; service-facts, 31).",
    ),
    token("source.bank", "A bank account (gateway-api, Saved banks)."),
    token(
        "source.bank.routing_number",
        "Nine digits, the last of which checks the others (gateway-api, POST /v1/banks).",
    ),
    secret(
        "source.bank.account_number",
        "`{env: NAME}`, `{file: NAME}`, or, with a published test routing number under a merchant in test mode, 4 to 17 digits (gateway-api, POST /v1/banks; service-facts, 31).",
    ),
    token(
        "source.bank.account_type",
        "`CHECKING` or `SAVINGS` (gateway-api, Payment method in a request).",
    ),
    token(
        "source.bank.account_holder_type",
        "`business`, beside `name`; left out for an individual (gateway-api, Payment method in a request).",
    ),
    personal(
        "source.bank.name",
        "The name of a business, at most 64 characters (gateway-api, Saved bank; service-facts, 31).",
    ),
    personal(
        "source.bank.given_name",
        "An individual's given name, at most 64 characters (gateway-api, Payment method in a request).",
    ),
    personal(
        "source.bank.surname",
        "An individual's family name, at most 64 characters (gateway-api, Payment method in a request).",
    ),
    SpecField {
        path: "description",
        privacy: Privacy::Plain,
        mutability: Mutability::InPlace,
        doc: "A text of the merchant's own, at most 64 characters (gateway-api, PATCH /v1/cards, PATCH /v1/banks; service-facts, 31).",
    },
];

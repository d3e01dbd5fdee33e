//! Saved methods: the description changes in place, everything else of the source by a fresh token (gateway-api, PATCH
//! /v1/cards/{cardId}, PATCH /v1/banks/{bankId}).

use crate::fields::case::{Case, Table, by_token, in_place, never};
use crate::fields::documents::MERCHANTS;

pub(crate) const TABLE: Table = Table {
    kind: "SavedMethod",
    base: "
merchant: acme
type: card
source: {card: {number: '4242424242424242', exp_month: 12, exp_year: 2031, name: Jane Doe, address1: 1 Main Street, city: Springfield, state: IL, postal_code: '62701'}}",
    beside: &[MERCHANTS],
    with: &[],
    cases: CASES,
};

const PERSON: &str = "
merchant: acme
type: bank
source: {bank: {routing_number: '000000013', account_number: '1234567890', account_type: CHECKING, given_name: Jane, surname: Doe}}";

const BUSINESS: &str = "
merchant: acme
type: bank
source: {bank: {routing_number: '000000013', account_number: '1234567890', account_type: CHECKING, name: Doe Ltd, account_holder_type: business}}";

const BANK: &str = "{routing_number: '000000013', account_number: '1234567890', account_type: CHECKING, given_name: Jane, surname: Doe}";

const CASES: &[Case] = &[
    never("merchant", "acme", "other"),
    never("type", "card", "bank").also(&[("source.card", "~"), ("source.bank", BANK)]),
    in_place("description", "Jane's card", "The card of Jane"),
    in_place("description", "~", "A card"),
    in_place("description", "Jane's card", "~"),
    by_token("source.card.number", "'4242424242424242'", "'4111111111111111'"),
    by_token("source.card.exp_month", "12", "11"),
    by_token("source.card.exp_year", "2031", "2032"),
    by_token("source.card.name", "Jane Doe", "Jane Roe"),
    by_token("source.card.name", "Jane Doe", "~"),
    by_token("source.card.name", "~", "Jane Roe"),
    by_token("source.card.address1", "1 Main Street", "2 Main Street"),
    by_token("source.card.address1", "1 Main Street", "~"),
    by_token("source.card.address1", "~", "2 Main Street"),
    by_token("source.card.city", "Springfield", "Chicago"),
    by_token("source.card.city", "Springfield", "~"),
    by_token("source.card.city", "~", "Chicago"),
    by_token("source.card.state", "IL", "WI"),
    by_token("source.card.state", "IL", "~"),
    by_token("source.card.state", "~", "WI"),
    by_token("source.card.postal_code", "'62701'", "'60601'"),
    by_token("source.card.postal_code", "'62701'", "~"),
    by_token("source.card.postal_code", "~", "'60601'"),
    by_token("source.bank.routing_number", "'000000013'", "'111000025'").on(PERSON),
    by_token("source.bank.account_number", "'1234567890'", "'1234567899'").on(PERSON),
    by_token("source.bank.account_type", "CHECKING", "SAVINGS").on(PERSON),
    by_token("source.bank.given_name", "Jane", "Janet").on(PERSON),
    by_token("source.bank.surname", "Doe", "Roe").on(PERSON),
    by_token("source.bank.name", "Doe Ltd", "Roe Ltd").on(BUSINESS),
    by_token("source.bank.account_holder_type", "business", "~").on(BUSINESS).also(&[
        ("source.bank.name", "~"),
        ("source.bank.given_name", "Jane"),
        ("source.bank.surname", "Doe"),
    ]),
];

//! Merchants: no edit changes them at the service. The mode is fixed; every other field, such as the source of a
//! secret, concerns reckon alone.

use crate::fields::case::{Case, Table, local, never};
use crate::support::applicants::COMPLETE;

pub(crate) const TABLE: Table = Table {
    kind: "Merchant",
    base: "{mode: test, credentials: {authorization_code: {env: CODE}}}",
    with: &[],
    beside: &[COMPLETE],
    cases: CASES,
};

const TOKEN: &str = "{mode: test, credentials: {access_token: {file: token}}}";
const KEYS: &str =
    "{mode: test, credentials: {keys: {public_key: $FIRST-KEY, secret_key: {file: first}}}}";
const SECOND_KEYS: &str =
    "{mode: test, credentials: {keys: {public_key: $SECOND-KEY, secret_key: {file: second}}}}";
const APPROVED: &str = "{mode: test, credentials: {application: harbor}}";

const CASES: &[Case] = &[
    never("mode", "test", "live"),
    local("timezone", "America/Chicago", "Europe/Berlin"),
    local("web_url", "~", "https://127.0.0.1:8700"),
    local("credentials.authorization_code", "{env: CODE}", "{env: CODE_TWO}"),
    local("credentials.access_token", "{file: token}", "{file: token-two}").on(TOKEN),
    local("credentials.keys.public_key", "$FIRST-KEY", "$THIRD-KEY").on(KEYS),
    local("credentials.keys.secret_key", "{file: second}", "{file: second-two}").on(SECOND_KEYS),
    local("credentials.application", "harbor", "~")
        .on(APPROVED)
        .also(&[("credentials.authorization_code", "{env: CODE}")]),
];

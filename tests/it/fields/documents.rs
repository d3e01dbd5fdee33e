//! Documents that a table needs beside its own.

pub(crate) const MERCHANTS: &str = "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_ACME}}}
---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: other}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_OTHER}}}";

pub(crate) const CONTACTS: &str = "apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec: {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jim}
spec: {merchant: acme, first_name: Jim, last_name: Doe, email_addresses: [{address: jim@example.com}]}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: joe}
spec: {merchant: other, first_name: Joe, last_name: Roe, email_addresses: [{address: joe@example.com}]}";

pub(crate) const METHODS: &str = "apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card}
spec: {merchant: acme, type: card, source: {card: {number: '4242424242424242', exp_month: 12, exp_year: 2031}}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card-two}
spec: {merchant: acme, type: card, source: {card: {number: '4111111111111111', exp_month: 12, exp_year: 2031}}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card-of-other}
spec: {merchant: other, type: card, source: {card: {number: '4111111111111111', exp_month: 12, exp_year: 2031}}}";

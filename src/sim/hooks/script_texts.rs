//! Scripts of simulated operators; each answers payments of its own amount.

/// Fully refunded, under a name of the script's choice.
pub(crate) const FULL_REFUND: i64 = 701;
/// Refunded in two parts, under names derived from the arguments.
pub(crate) const PARTIAL_REFUNDS: i64 = 702;
/// Answered with a credit to the payer.
pub(crate) const CREDITED: i64 = 703;
/// Voided.
pub(crate) const VOID: i64 = 704;
/// Charged again in the same amount, until the chain of causes is too long.
pub(crate) const ECHO: i64 = 706;
/// Answered with two notifications; so is [`LATE`].
pub(crate) const NOTIFIED: i64 = 707;
/// Partly refunded, by a script that fails until it is fixed.
pub(crate) const LATE: i64 = 708;
/// A recurring charge of this amount: its first occurrence is paid early.
pub(crate) const EARLY: i64 = 711;
/// A recurring charge of this amount: its first occurrence is skipped.
pub(crate) const SKIP: i64 = 712;
/// First day of the recurring charges of these amounts.
pub(crate) const START: &str = "2031-01-01";
/// Parts that are refunded of [`PARTIAL_REFUNDS`].
pub(crate) const PARTIAL_AMOUNTS: [i64; 2] = [50, 100];
/// Credit for [`CREDITED`].
pub(crate) const CREDIT_AMOUNT: i64 = 11;
/// Part that is refunded of [`LATE`].
pub(crate) const LATE_REFUND: i64 = 108;
/// Message of a script that fails.
pub(crate) const FAILURE_MESSAGE: &str = "not mended yet";

/// A script: the name of its file, and its functions.
pub(crate) type ScriptText = (&'static str, &'static [&'static str]);

/// Place of an unrelated call.
pub(crate) const FIRST: &str = "// first";
/// The unrelated call.
pub(crate) const UNRELATED: &str = r#"notify("ops", "unrelated", #{name: "unrelated"});"#;
/// Place at which a script fails until it is fixed.
pub(crate) const FAILS: &str = "// fails";
/// Script that makes a set invalid.
pub(crate) const WRONG: &str = "fn on_transaction_authorized(event) { refnd(event.data); }\n";

/// Every script. The last one is never renamed, since its failed runs are replayed under its name.
pub(crate) const SCRIPTS: &[ScriptText] = &[
    (
        "returns",
        &[
            r#"
fn on_transaction_authorized(event) {
    let paid = event.data;
    if !is_payment(paid) { return; }
    // first
    if paid.amount == 701 { refund(paid, #{name: "give-back"}); }
    if paid.amount == 702 {
        refund(paid, #{amount: "1.00 USD"});
        refund(paid, #{amount: "0.50 USD"});
    }
    if paid.amount == 704 { void(paid, #{name: "take-back"}); }
}
"#,
            r#"
fn is_payment(paid) { paid.type == "CHARGE" }
"#,
        ],
    ),
    (
        "moves",
        &[r#"
fn on_transaction_authorized(event) {
    let paid = event.data;
    if paid.type != "CHARGE" { return; }
    if paid.amount == 703 { credit(paid.method.id, "0.11 USD", #{name: "thanks"}); }
    if paid.amount == 706 { charge(paid.method.id, "7.06 USD", #{name: "again"}); }
}
"#],
    ),
    (
        "words",
        &[
            r#"
fn on_transaction_authorized(event) {
    let paid = event.data;
    if paid.type != "CHARGE" { return; }
    // first
    count(event);
    if paid.amount == 707 || paid.amount == 708 {
        notify("ops", `paid ${paid.id}`, #{name: "tell"});
        notify("ops", `once more ${paid.id}`);
    }
}
"#,
            r"
fn count(event) {
    let key = `seen-${event.merchant}`;
    let seen = kv_get(key);
    kv_set(key, if seen == () { 1 } else { seen + 1 });
}
",
        ],
    ),
    (
        "early",
        &[r#"
fn on_recurring_charge_occurrence_created(event) {
    let due = event.data;
    if due.due_date != "2031-01-01" { return; }
    if due.amount == 711 { pay_occurrence(due, #{amount: "7.11 USD", name: "early"}); }
    if due.amount == 712 { ignore_occurrence(due, #{name: "skip"}); }
}
"#],
    ),
    (
        "patient",
        &[r#"
fn on_transaction_authorized(event) {
    if event.data.type != "CHARGE" || event.data.amount != 708 { return; }
    refund(event.data, #{amount: "1.08 USD", name: "late"});
    // fails
}
"#],
    ),
];

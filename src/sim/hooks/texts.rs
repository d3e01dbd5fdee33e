//! The scripts of simulated operators: each answers payments of an amount of its own.

/// All of it is given back, by a name of the script's choice.
pub(crate) const WHOLE: i64 = 701;
/// Two parts of it are given back, by names that are made of what is asked for.
pub(crate) const PARTS: i64 = 702;
/// The payer is given something.
pub(crate) const THANKS: i64 = 703;
/// It is taken back.
pub(crate) const VOID: i64 = 704;
/// As much is charged once more, until the chain of causes is too long.
pub(crate) const ECHO: i64 = 706;
/// People are told, twice; of [`LATE`], too.
pub(crate) const TOLD: i64 = 707;
/// A part of it is given back by a script that fails until it is mended.
pub(crate) const LATE: i64 = 708;
/// The first payment of a recurring charge of this amount is made early.
pub(crate) const EARLY: i64 = 711;
/// The first payment of a recurring charge of this amount is left out.
pub(crate) const SKIP: i64 = 712;
/// When recurring charges of these amounts begin.
pub(crate) const START: &str = "2031-01-01";
/// What [`PARTS`] gives back.
pub(crate) const PART: [i64; 2] = [50, 100];
/// What [`THANKS`] gives.
pub(crate) const GIVEN: i64 = 11;
/// What [`LATE`] gives back.
pub(crate) const GIVEN_LATE: i64 = 108;
/// What a script says that fails.
pub(crate) const BROKEN: &str = "not mended yet";

/// A script: the name of its file, and its functions.
pub(super) type Text = (&'static str, &'static [&'static str]);

/// Where something unrelated is put first.
pub(super) const FIRST: &str = "// first";
/// Something unrelated.
pub(super) const UNRELATED: &str = r#"notify("ops", "unrelated", #{name: "unrelated"});"#;
/// Where a script fails until it is mended.
pub(super) const FAILS: &str = "// fails";
/// What is wrong with a set that is refused.
pub(super) const WRONG: &str = "fn on_transaction_authorized(event) { refnd(event.data); }\n";

/// Every script. The last one is never renamed: what failed under a name is run again under it.
pub(super) const SCRIPTS: &[Text] = &[
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

//! Every rule of the two documents' tables about a field that a spec has: a value that breaks it, and the
//! diagnostic that `validate` prints, at its line and column.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a failure here is a failed test"
)]

#[path = "rules/application.rs"]
mod application;
#[path = "rules/application_parts.rs"]
mod application_parts;
#[path = "rules/application_types.rs"]
mod application_types;
#[path = "rules/application_whole.rs"]
mod application_whole;
#[path = "rules/complete.rs"]
mod complete;
#[path = "rules/contact.rs"]
mod contact;
#[path = "rig/covers.rs"]
mod covers;
#[path = "rules/invoice.rs"]
mod invoice;
#[path = "rules/merchant.rs"]
mod merchant;
#[path = "rules/method.rs"]
mod method;
#[path = "rules/recurring.rs"]
mod recurring;
#[path = "rules/recurring_now.rs"]
mod recurring_now;
#[path = "fields/schema.rs"]
mod schema;
#[path = "rules/second_owner.rs"]
mod second_owner;
#[path = "rules/table.rs"]
mod table;

/// The tables of each kind.
const TABLES: [(&str, &[&str]); 6] = [
    (
        "MerchantApplication",
        &[
            application::RULES,
            application_parts::OF_DBA,
            application_parts::OF_SIGN_UPS,
            application_parts::OF_TRUST,
            application_types::RULES,
            application_whole::RULES,
            second_owner::RULES,
        ],
    ),
    ("Merchant", &[merchant::RULES, merchant::OF_APPLICATIONS]),
    ("Contact", &[contact::RULES]),
    ("Invoice", &[invoice::RULES]),
    ("SavedMethod", &[method::OF_CARDS, method::OF_BANKS]),
    (
        "RecurringCharge",
        &[recurring::RULES, recurring_now::OF_CHARGES_NOW, recurring_now::OF_EARLIER_CHARGES],
    ),
];

#[test]
fn every_field_of_the_schema_has_a_rule_that_is_broken() {
    let mut missing = Vec::new();
    for (kind, tables) in TABLES {
        let leaves = schema::leaves(kind);
        assert!(!leaves.is_empty(), "{kind}");
        let edits = tables.iter().flat_map(|table| table.lines());
        let edits: Vec<&str> = edits.filter(|line| line.starts_with("    ")).collect();
        for leaf in leaves {
            let name = leaf.rsplit('.').next().unwrap_or_default().trim_end_matches("[]");
            if !edits.iter().any(|edit| edit.contains(&format!("{name}:"))) {
                missing.push(format!("{kind}.{leaf}"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

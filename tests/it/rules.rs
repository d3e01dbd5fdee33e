//! Every rule of the two interface documents about a field of a spec, with a value that breaks it. The tables also hold
//! the diagnostic that `validate` prints, with its line and column.

mod application;
mod application_parts;
mod application_types;
mod application_whole;
mod complete;
mod contact;
mod invoice;
mod merchant;
mod method;
mod recurring;
mod recurring_now;
mod second_owner;
mod table;

/// Tables of each kind.
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
        let leaves = crate::fields::schema::leaves(kind);
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

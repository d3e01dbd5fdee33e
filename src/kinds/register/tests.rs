pub(super) mod canaries;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::*;
use crate::base::id::Name;
use crate::kinds::contact::ContactKind;
use crate::kinds::invoice::InvoiceKind;
use crate::kinds::merchant::MerchantKind;
use crate::kinds::merchant_application::MerchantApplicationKind;
use crate::kinds::recurring_charge::RecurringChargeKind;
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::schema::kind::{SpecField, SpecSchema};
use crate::kinds::testing::{cx, document, good, problems, read_in};

const GOOD: [(&str, &str); 6] = [
    ("MerchantApplication", "submission: sign_up\nplan: basic\nemail: jo@roe.example"),
    ("Merchant", "mode: test\ntimezone: Hawaii\ncredentials: {access_token: {env: TOKEN}}"),
    (
        "Contact",
        "merchant: acme\nfirst_name: Jane\nlast_name: Doe\nemail_addresses: [{address: jane@example.com}]",
    ),
    (
        "Invoice",
        "merchant: acme\ncontact: x/jane\nbank_account: bank_1\ninvoice_date: 2026-11-30\nline_items: [{description: A, rate_per_quantity: 1.00 USD}]",
    ),
    (
        "SavedMethod",
        "merchant: acme\ntype: card\nsource: {card: {number: 4242424242424242, exp_month: 8, exp_year: 31, name: Jane}}",
    ),
    (
        "RecurringCharge",
        "merchant: acme\nmethod: card\namount: 500\nmax_amount: 5000\nschedule: {start: 2026-12-01, interval_unit: MONTH, interval_delay: 1}",
    ),
];

fn again<K: SpecSchema>(spec: &Value) -> Value {
    let typed = K::Spec::deserialize(spec).map_err(|error| error.to_string()).unwrap();
    assert_eq!(K::check(&typed, &cx()), Vec::new());
    serde_json::to_value(typed).unwrap()
}

#[test]
fn a_canonical_form_reads_back_as_itself() {
    for (kind, yaml) in GOOD {
        let spec = read_in(kind, yaml, &cx()).unwrap().spec;
        let again = match kind {
            "MerchantApplication" => again::<MerchantApplicationKind>(&spec),
            "Merchant" => again::<MerchantKind>(&spec),
            "Contact" => again::<ContactKind>(&spec),
            "Invoice" => again::<InvoiceKind>(&spec),
            "SavedMethod" => again::<SavedMethodKind>(&spec),
            _ => again::<RecurringChargeKind>(&spec),
        };
        assert_eq!(again, spec, "{kind}");
    }
}

#[test]
fn every_kind_is_found_by_its_name_and_has_its_line() {
    let names: Vec<&str> = KINDS.iter().map(|row| row.name).collect();
    assert_eq!(names, GOOD.map(|(kind, _)| kind));
    assert!(find("merchant").is_none());
}

#[test]
fn a_reference_without_a_namespace_stays_in_the_document_s_own() {
    let row = find("Invoice").unwrap();
    let own: Name = "billing".parse().unwrap();
    let read = (row.read)(&document("Invoice", GOOD[3].1), &own, &cx()).unwrap();
    let references: Vec<String> =
        read.references.iter().map(|one| format!("{} {}", one.path, one.key)).collect();
    assert_eq!(references, ["spec.merchant Merchant/billing/acme", "spec.contact Contact/x/jane"]);
}

#[test]
fn unknown_fields_are_told_with_the_nearest_name_and_refused_ones_are_never_suggested() {
    assert_eq!(
        problems("Contact", "merchant: acme\nfirstName: Jane"),
        "reckon::spec::unknown_field @ spec.firstName (key): there is no field `firstName` here | write `first_name`\n\
         reckon::spec::missing_field @ spec.last_name (key): the field `last_name` is missing | add `last_name`: Family name (partner-api, POST /contacts)\n\
         reckon::spec::missing_field @ spec.email_addresses (key): the field `email_addresses` is missing | add `email_addresses`: A list of at least one `{address: …}` (partner-api, POST /contacts)"
    );
    let first = |kind: &str, spec: &str| problems(kind, spec).lines().next().map(str::to_owned);
    let first = |kind: &str, spec: &str| first(kind, spec).unwrap_or_default();
    assert_eq!(
        first("Invoice", "merchant: acme\nzzzzzzzz: 1"),
        "reckon::spec::unknown_field @ spec.zzzzzzzz (key): there is no field `zzzzzzzz` here | write one of `merchant`, `contact`, `bank_account`, `invoice_date`, `currency`, `reference`, `line_items`, `invoice_messages`, `attachments`"
    );
    assert_eq!(
        first("Invoice", "line_items: [{descripton: A}]"),
        "reckon::spec::unknown_field @ spec.line_items[0].descripton (key): there is no field `descripton` here | write `description`"
    );
}

#[test]
fn a_misfit_knows_its_path_and_broken_yaml_its_byte() {
    let misfits = read_in("Contact", "merchant: é\nfirst_name: [x]", &cx()).unwrap_err();
    assert_eq!((misfits[0].path.as_str(), misfits[0].offset), ("spec.first_name", None));
    let broken = read_in("Contact", "merchant: é\nfirst_name: ]", &cx()).unwrap_err();
    let document = document("Contact", "merchant: é\nfirst_name: ]");
    assert_eq!((broken[0].path.as_str(), broken[0].offset), (".", document.find(']')));
}

#[test]
fn a_wrong_sort_of_value_is_told_in_words() {
    let wrong = |path: &str, expected: &str, found: &str| {
        format!(
            "reckon::spec::wrong_type @ {path}: expected {expected}, found {found} | write {expected}"
        )
    };
    let problems = |kind: &str, spec: &str| problems(kind, spec).lines().next().unwrap().to_owned();
    assert_eq!(
        problems("Invoice", "line_items: 5"),
        wrong("spec.line_items", "a list", "the number 5")
    );
    assert_eq!(
        problems("Invoice", "line_items: [x y]"),
        wrong("spec.line_items[0]", "a mapping of fields", "the text \"x y\"")
    );
    assert_eq!(
        problems("Invoice", "merchant: {a: b}"),
        wrong("spec.merchant", "a text", "a mapping")
    );
    assert_eq!(
        problems("Merchant", "credentials: true"),
        wrong("spec.credentials", "a mapping of fields", "`true` or `false`")
    );
    assert_eq!(
        problems("Contact", "first_name: [canary]"),
        wrong("spec.first_name", "a text", "a list")
    );
    assert_eq!(problems("Contact", "~"), wrong("spec", "a mapping of fields", "nothing"));
}

#[test]
fn a_document_without_a_spec_misses_it() {
    let row = find("Contact").unwrap();
    let misfits = (row.read)("kind: Contact\n", &Name::default_namespace(), &cx()).unwrap_err();
    let [misfit] = misfits.as_slice() else { panic!("{misfits:?}") };
    let issue = misfit.issue();
    assert_eq!(
        (issue.code, issue.path.to_string()),
        ("reckon::spec::missing_field", "spec".to_owned())
    );
}

const FULL: [(&str, &[&str]); 5] = [
    (
        "Merchant",
        &[
            "mode: live\ntimezone: UTC\nweb_url: https://web.example\ncredentials: {access_token: {env: A}}",
            "mode: test\ncredentials: {authorization_code: {env: A}}",
            "mode: test\ncredentials: {application: acme}",
            "mode: test\ncredentials: {keys: {public_key: m_0123456789012345678901, secret_key: {env: A}}}",
        ],
    ),
    ("Contact", &[GOOD[2].1]),
    (
        "Invoice",
        &[
            "merchant: a\ncontact: b\nbank_account: c\ninvoice_date: 2026-11-30\ncurrency: USD\nreference: R\n\
           line_items: [{description: A, rate_per_quantity: 1}]\nattachments: [{id: fref_1}, {file: letters/a}]\n\
           invoice_messages: [{email_addresses: [a@b.example], subject: S, message: M}]",
        ],
    ),
    (
        "SavedMethod",
        &[
            "merchant: a\ntype: card\ndescription: D\nsource: {card: {number: {env: C}, exp_month: 1, exp_year: 31, \
           name: N, address1: A, city: C, state: S, postal_code: 12345}}",
            "merchant: a\ntype: bank\nsource: {bank: {routing_number: '000000013', account_number: {env: A}, account_type: SAVINGS, \
           name: N, account_holder_type: business}}",
            "merchant: a\ntype: bank\nsource: {bank: {routing_number: '000000013', account_number: {env: A}, account_type: CHECKING, \
           given_name: G, surname: S}}",
        ],
    ),
    (
        "RecurringCharge",
        &[
            "merchant: a\nmethod: b\namount: 5\ndescription: D\naccount: O\nmax_occurrences: 2\nmax_amount: 9\n\
           schedule: {start: 2026-12-01, interval_unit: WEEK, interval_delay: 1, end: 2027-01-01, days: ['1']}",
            "merchant: a\nmethod: b\namount: 5\nfirst_amount: 6\nfirst_charge: now\nsurcharge: apply\n\
           schedule: {interval_unit: DAY, interval_delay: 1}",
            "merchant: a\namount: 5\nfrom_charge: AAAAAAAAAAAAAAAAAAAAAA\n\
           schedule: {start: 2026-12-01, interval_unit: DAY, interval_delay: 1}",
        ],
    ),
];

/// Collects the paths of a canonical spec as the tables write them, down to the last entry of a
/// table.
fn places(fields: &[SpecField], place: &str, value: &Value, out: &mut BTreeSet<String>) {
    let has_more = place.is_empty()
        || fields.iter().any(|field| {
            field.path.strip_prefix(place).is_some_and(|rest| rest.starts_with(['.', '[']))
        });
    match value {
        Value::Object(map) if has_more => {
            for (name, value) in map {
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                places(fields, &place, value, out);
                out.insert(place);
            }
        }
        Value::Array(items) if has_more => {
            for item in items {
                places(fields, &format!("{place}[]"), item, out);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)
        | Value::Array(_) => {}
    }
}

#[test]
fn the_table_of_a_kind_lists_each_of_its_fields_and_no_other() {
    for (kind, specs) in FULL {
        let fields = find(kind).unwrap().fields;
        let mut found = BTreeSet::new();
        for spec in specs {
            places(fields, "", &good(kind, spec), &mut found);
        }
        let listed: BTreeSet<String> = fields.iter().map(|field| field.path.to_owned()).collect();
        assert_eq!(found, listed, "{kind}");
    }
}

#[test]
fn broken_yaml_is_told_before_all_else_and_without_line_numbers_of_its_own() {
    let row = find("Contact").unwrap();
    for (yaml, message) in [
        ("spec: {a", "did not find expected ',' or '}'"),
        ("spec: ]", "did not find expected node content"),
    ] {
        let misfits = (row.read)(yaml, &Name::default_namespace(), &cx()).unwrap_err();
        let issue = misfits[0].issue();
        assert_eq!(issue.code, "reckon::spec::unreadable");
        assert_eq!(issue.message, message);
    }
}

//! Tests of the reports about the real kinds.

use insta::assert_snapshot;

use crate::base::money::Currency;
use crate::kinds::register::KINDS;
use crate::kinds::schema::kind::CheckCx;
use crate::model::manifest::TreeState;
use crate::render::diagnostic::{OutputStyle, text};
use crate::spec::document::ReadContext;
use crate::spec::testing::Tree;
use crate::spec::tree::loader::Loader;

fn load(files: &[(&str, &str)]) -> (Tree, Loader) {
    let tree = Tree::new(files);
    let check = CheckCx {
        decimal_amounts_only: false,
        web_urls: vec!["https://web.example".to_owned()],
        currency: Currency::USD,
        plans: std::collections::BTreeMap::new(),
        programs: None,
        variables: None,
        files: None,
    };
    let cx = ReadContext { kinds: KINDS, check };
    let mut loader = Loader::new(tree.root(), "specs", cx);
    loader.load_all();
    (tree, loader)
}

fn render_problems(files: &[(&str, &str)]) -> String {
    let (_tree, loader) = load(files);
    let problems = loader.problems().shown;
    let look = OutputStyle { color: false, unicode: true, width: 100 };
    text(&problems, &loader.sources(&problems), look)
}

const MERCHANT: &str = "apiVersion: reckon.dev/v1\nkind: Merchant\nmetadata: {name: acme}\nspec: {mode: test, \
    timezone: America/New_York, credentials: {authorization_code: {env: CODE_ACME}}}\n";
const CONTACT: &str = "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: jane}\nspec: {merchant: acme, \
    first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}\n";
const INVOICE: &str = "apiVersion: reckon.dev/v1\nkind: Invoice\nmetadata: {name: jane-2026-11}\nspec:\n  merchant: acme\n  \
    contact: jane\n  bank_account: Operating\n  invoice_date: 2026-11-30\n  line_items:\n  - {description: Retainer, rate_per_quantity: \"125.00 USD\"}\n";

#[test]
fn a_good_tree_is_whole() {
    let (_tree, loader) = load(&[("m.yaml", MERCHANT), ("c.yaml", CONTACT), ("i.yaml", INVOICE)]);
    assert_eq!(loader.problems().shown, []);
    assert_eq!(loader.desired().tree_state, TreeState::Complete);
    assert_eq!(loader.desired().manifests.len(), 3);
}

#[test]
fn each_mistake_is_told_once_and_shows_nothing_private() {
    let contact = CONTACT.replace("first_name", "frist_name");
    assert_snapshot!(render_problems(&[("m.yaml", MERCHANT), ("c.yaml", &contact)]), @r#"
    reckon::spec::unknown_field

      × there is no field `frist_name` here
       ╭─[specs/c.yaml:4:24]
     3 │ metadata: {name: jane}
     4 │ spec: {merchant: acme, frist_name: ••••, last_name: •••, email_addresses: [{address: ••••••••••••••••}]}
       ·                        ──────────
       ╰────
      help: write `first_name`
    "#);
    let contact = CONTACT.replace("jane@example.com", "jane.example.com");
    assert_snapshot!(render_problems(&[("m.yaml", MERCHANT), ("c.yaml", &contact)]), @r#"
    reckon::text::email

      × the text is not an e-mail address
       ╭─[specs/c.yaml:4:86]
     3 │ metadata: {name: jane}
     4 │ spec: {merchant: acme, first_name: ••••, last_name: •••, email_addresses: [{address: ••••••••••••••••}]}
       ·                                                                                      ────────────────
       ╰────
      help: write one, such as `jane@example.com`
    "#);
}

#[test]
fn every_mistake_of_several_documents_is_told_at_its_place() {
    let invoice =
        INVOICE.replace("125.00 USD", "125.00").replace("contact: jane", "contact: [jane]");
    assert_snapshot!(render_problems(&[("i.yaml", &invoice)]), @r#"
    reckon::spec::wrong_type

      × expected a text, found a list
       ╭─[specs/i.yaml:6:12]
     5 │   merchant: acme
     6 │   contact: [jane]
       ·            ──────
     7 │   bank_account: Operating
       ╰────
      help: write a text
    "#);
    let invoice = INVOICE.replace("125.00 USD", "125.00");
    let extra = format!("{invoice}status: x\n");
    assert_snapshot!(render_problems(&[("m.yaml", MERCHANT), ("c.yaml", CONTACT), ("i.yaml", &extra), ("j.yaml", &invoice.replace("2026-11", "x"))]), @r#"
    reckon::amount::no_currency

      × `125.00` has no currency
        ╭─[specs/i.yaml:10:48]
      9 │   line_items:
     10 │   - {description: Retainer, rate_per_quantity: "125.00"}
        ·                                                ────────
     11 │ status: x
        ╰────
      help: it could be 125.00 USD, or 1.25 USD (125 minor units): write `"125.00 USD"` or `"1.25
            USD"`

    reckon::header::unknown_field

      × unknown field `status`
        ╭─[specs/i.yaml:11:1]
     10 │   - {description: Retainer, rate_per_quantity: "125.00"}
     11 │ status: x
        · ──────
        ╰────
      help: write one of `apiVersion`, `kind`, `metadata` or `spec`

    reckon::invoice::date

      × `x-30` is neither a date nor a timestamp with its zone
       ╭─[specs/j.yaml:8:17]
     7 │   bank_account: Operating
     8 │   invoice_date: x-30
       ·                 ────
     9 │   line_items:
       ╰────
      help: write a date such as `2026-11-30`, or `2026-11-30T12:00:00-06:00`

    reckon::amount::no_currency

      × `125.00` has no currency
        ╭─[specs/j.yaml:10:48]
      9 │   line_items:
     10 │   - {description: Retainer, rate_per_quantity: "125.00"}
        ·                                                ────────
        ╰────
      help: it could be 125.00 USD, or 1.25 USD (125 minor units): write `"125.00 USD"` or `"1.25
            USD"`
    "#);
}

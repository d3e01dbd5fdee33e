//! Laws of `Defaults`: what they give, what wins, and what a doubt about them blocks.

use std::path::PathBuf;

use crate::base::id::Key;
use crate::spec::testing::{Tree, document};
use crate::spec::tree::loader::Loader;

fn defaults(fields: &str) -> String {
    format!("apiVersion: reckon.dev/v1\nkind: Defaults\nspec: {{{fields}}}\n")
}

/// Returns `NAME MERCHANT` of each valid contact; the test's kinds are in `spec::testing`.
fn contacts(loader: &Loader) -> Vec<String> {
    let contacts = loader.desired().manifests.values().map(|one| one.unpack());
    let contacts = contacts.filter(|one| one.key.kind.as_str() == "Contact");
    contacts
        .map(|one| format!("{} {}", one.key.name, one.spec["merchant"].as_str().unwrap_or("-")))
        .collect()
}

fn codes(loader: &Loader) -> Vec<String> {
    let problems = loader.problems().shown.into_iter();
    problems.map(|one| format!("{}:{} {}", one.file, one.line, one.code)).collect()
}

fn tree() -> Tree {
    Tree::new(&[
        ("m.yaml", &(document("Merchant", "a", "") + "---\n" + &*document("Merchant", "b", ""))),
        ("defaults.yaml", &defaults("merchant: a, labels: {team: x, zone: n}")),
        ("own.yaml", &document("Contact", "own", "merchant: b, first_name: x")),
        ("outer.yaml", &document("Contact", "outer", "first_name: x")),
        ("in/d.yaml", &defaults("merchant: b, labels: {team: y}")),
        (
            "in/deep/inner.yaml",
            "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata:\n  name: inner\n  labels: {own: z}\nspec:\n  first_name: x\n",
        ),
    ])
}

#[test]
fn the_nearest_value_is_given_and_a_document_keeps_its_own() {
    let loader = tree().load();
    assert_eq!(codes(&loader), [""; 0]);
    assert_eq!(contacts(&loader), ["inner b", "outer a", "own b"]);
    let inner = loader.desired().manifest(&"Contact/inner".parse().unwrap()).unwrap();
    assert_eq!(format!("{:?}", inner.labels), r#"{"own": "z", "team": "y", "zone": "n"}"#);
}

#[test]
fn a_document_that_is_given_a_value_is_the_same_as_one_that_has_it() {
    let tree = tree();
    let given = tree.load();
    let digest = |loader: &Loader, name: &str| {
        loader.desired().manifest(&name.parse().unwrap()).unwrap().digest
    };
    let written = document("Contact", "outer", "merchant: a, first_name: x");
    tree.write("outer.yaml", written);
    assert_eq!(digest(&tree.load(), "Contact/outer"), digest(&given, "Contact/outer"));
}

#[test]
fn a_change_of_defaults_changes_the_documents_below_and_no_other() {
    let tree = tree();
    let mut loader = tree.load();
    tree.write("in/d.yaml", defaults("merchant: a"));
    let touched = loader.reload(&[PathBuf::from("in/d.yaml")]).touched;
    assert_eq!(touched.iter().map(Key::short).collect::<Vec<_>>(), ["Contact/inner"]);
    assert_eq!(contacts(&loader), ["inner a", "outer a", "own b"]);
    tree.remove("in/d.yaml");
    tree.remove("defaults.yaml");
    loader.load_all();
    assert_eq!(contacts(&loader), ["inner -", "outer -", "own b"]);
    assert_eq!(contacts(&tree.load()), contacts(&loader));
}

#[test]
fn a_doubt_about_defaults_uses_no_document_that_leaves_a_value_out() {
    for doubt in [
        defaults("merchant: b, labels: {team: y}") + "---\n" + &*defaults("merchant: a"),
        defaults("merchant: b, mercant: a"),
        defaults("merchant: b") + "spec: {}\n",
        "kind: Defaults\nspec: {merchant: [".to_owned(),
    ] {
        let tree = tree();
        tree.write("in/d.yaml", &doubt);
        tree.write("in/own.yaml", document("Contact", "free", "merchant: a, first_name: x"));
        let loader = tree.load();
        assert_eq!(contacts(&loader), ["free a", "outer a", "own b"], "{doubt}");
        assert!(!loader.problems().shown.is_empty(), "{doubt}");
    }
}

#[test]
fn what_defaults_cannot_do_is_refused_with_its_place() {
    let tree = Tree::new(&[
        (
            "a/d.yaml",
            "apiVersion: reckon.dev/v1\nkind: Defaults\nmetadata: {name: x}\nspec:\n  amount: 1 USD\n  merchant: A B\n  timezone: Nowhere/At\n  labels: [x]\n",
        ),
        ("b/one.yaml", &defaults("merchant: a")),
        ("b/two.yaml", &defaults("merchant: a")),
    ]);
    assert_eq!(
        codes(&tree.load()),
        [
            "specs/a/d.yaml:3 reckon::header::unknown_field",
            "specs/a/d.yaml:5 reckon::header::unknown_field",
            "specs/a/d.yaml:6 reckon::defaults::value",
            "specs/a/d.yaml:7 reckon::merchant::timezone_unknown",
            "specs/a/d.yaml:8 reckon::defaults::value",
            "specs/b/two.yaml:1 reckon::defaults::duplicate",
        ]
    );
}

//! Laws of the loader.

use std::path::PathBuf;

use proptest::prelude::*;

use crate::model::issue::TreeProblems;
use crate::spec::lazy_source::PROBLEMS_OF_FILE_MAX;
use crate::spec::testing::{Tree, cx, document};
use crate::spec::tree::loader::*;

fn names(keys: impl IntoIterator<Item = Key>) -> Vec<String> {
    keys.into_iter().map(|key| key.short()).collect()
}

fn good(loader: &Loader) -> Vec<String> {
    names(loader.desired().manifests.keys().cloned())
}

fn broken(loader: &Loader) -> Vec<String> {
    names(loader.desired().broken.iter().cloned())
}

/// Formats `line:column+length code` of every problem of a tree with one file.
fn codes(text: impl AsRef<[u8]>) -> Vec<String> {
    let tree = Tree::new(&[]);
    tree.write("a.yaml", text);
    let problems = tree.load().problems().shown;
    let places = problems.iter().map(|problem| {
        assert_eq!(problem.file, "specs/a.yaml");
        let code = problem.code.trim_start_matches("reckon::");
        format!("{}:{}+{} {code}", problem.line, problem.column, problem.length)
    });
    places.collect()
}

const HEAD: &str = "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: jane}\n";

#[test]
fn bytes_that_are_no_text_are_told_by_place() {
    let check = |bytes: &[u8], expect: &str| assert_eq!(codes(bytes), [expect], "{bytes:?}");
    check(b"a: 1\nb: \xff\n", "2:4+1 yaml::not_utf8");
    check(b"a: \xc3\xa9\x00\n", "1:5+1 yaml::nul");
    check(b"\xff\xfea\0:\0", "1:1+1 yaml::utf16");
    check(b"a\0b\0c\0d\0:\0", "1:1+1 yaml::utf16");
    check(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0", "1:1+1 yaml::binary");
    check("a: \u{7}".as_bytes(), "1:4+1 yaml::control_character");
    check(&vec![b'#'; 17 << 20], "1:1+1 yaml::too_large");
}

#[test]
fn a_byte_order_mark_at_the_start_is_forgiven_and_moves_no_column() {
    let text = format!("\u{feff}{HEAD}spec: {{total: 0}}\n");
    assert_eq!(codes(&text), ["1:1+1 yaml::byte_order_mark", "4:15+1 invoice::total_zero"]);
    let tree = Tree::new(&[("a.yaml", &format!("\u{feff}{HEAD}spec: {{}}\n"))]);
    let loader = tree.load();
    assert_eq!(loader.desired().tree_state, TreeState::Complete);
    assert_eq!(loader.desired().manifests.values().next().unwrap().place.offset, 3);
    assert_eq!(codes("a: 1\n---\n\u{feff}b: 1\n"), ["3:1+1 yaml::byte_order_mark"]);
}

#[test]
fn a_header_is_checked_field_by_field() {
    let check = |text: &str, expect: &[&str]| assert_eq!(codes(text), expect, "{text}");
    check("- a\n", &["1:1+3 header::not_a_mapping"]);
    check(
        "apiVersion: reckon.dev/v1\nkind: Contcat\nmetadata: {name: a}\nspec: {}\n",
        &["2:7+7 header::unknown_kind"],
    );
    check(
        "apiVersion: v1\nkind: Contact\nmetadata: {name: Jane, namespace: -x}\nspec: {}\n",
        &["1:13+2 header::api_version", "3:18+4 header::name", "3:35+2 header::name"],
    );
    check(
        "kind: Contact\nmetadata: {nam: a}\nspecs: {}\n",
        &[
            "1:1+13 header::missing",
            "2:1+8 header::missing",
            "2:12+3 header::unknown_field",
            "3:1+5 header::unknown_field",
        ],
    );
    check(
        "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: a, labels: {x: [1]}}\nspec: {}\n",
        &["3:33+3 header::not_text"],
    );
}

#[test]
fn annotations_of_ours_are_checked_and_others_are_not() {
    let text = "apiVersion: reckon.dev/v1\nkind: Invoice\nmetadata:\n  name: a\n  annotations:\n    \
        example.com/x: y\n    reckon.dev/suspend: maybe\n    reckon.dev/deletion: delete\n    \
        reckon.dev/generation: -1\n    reckon.dev/depends-on: Contact\n    reckon.dev/on-doubt: hold\n    \
        reckon.dev/suspnd: 'true'\nspec: {}\n";
    assert_eq!(
        codes(text),
        [
            "7:25+5 header::annotation_value",
            "8:26+6 header::annotation_value",
            "9:28+2 header::annotation_value",
            "10:28+7 header::annotation_value",
            "11:5+19 header::annotation_kind",
            "12:5+17 header::unknown_annotation",
        ]
    );
}

#[test]
fn an_error_in_the_middle_document_leaves_the_others_good() {
    let jane = document("Contact", "jane", "");
    let john = document("Contact", "john", "");
    for middle in ["a: 'x\n", "{\n", "a: b: c\n", "- |\n x\n y\n\tz: [\n", "a: *b\n"] {
        let tree = Tree::new(&[("a.yaml", &format!("{jane}---\n{middle}---\n{john}"))]);
        let loader = tree.load();
        assert_eq!(good(&loader), ["Contact/jane", "Contact/john"], "{middle}");
        assert_eq!(loader.desired().tree_state, TreeState::Incomplete);
        assert_eq!(loader.documents(), 3);
        assert!(!loader.problems().shown.is_empty());
    }
}

#[test]
fn a_broken_document_blocks_itself_and_its_dependants_only() {
    let tree = Tree::new(&[
        ("m.yaml", &document("Merchant", "acme", "")),
        ("jane.yaml", &document("Contact", "jane", "merchant: acme, total: 0")),
        ("john.yaml", &document("Contact", "john", "merchant: acme")),
        ("i1.yaml", &document("Invoice", "i1", "merchant: acme, contact: jane")),
        ("i2.yaml", &document("Invoice", "i2", "merchant: acme, contact: john")),
    ]);
    let mut loader = tree.load();
    assert_eq!(good(&loader), ["Contact/john", "Invoice/i2", "Merchant/acme"]);
    assert_eq!(broken(&loader), ["Contact/jane", "Invoice/i1"]);
    assert_eq!(loader.problems().shown.len(), 1, "a dependant has no error of its own");
    assert_eq!(loader.desired().tree_state, TreeState::Incomplete);
    tree.write("jane.yaml", document("Contact", "jane", "merchant: acme, total: 1"));
    let change = loader.reload(&[tree.root().join("jane.yaml")]);
    assert_eq!(names(change.touched), ["Contact/jane", "Invoice/i1"]);
    assert_eq!(loader.problems().shown, []);
    assert_eq!(loader.desired().tree_state, TreeState::Complete);
}

#[test]
fn a_header_that_parses_names_a_broken_document() {
    let text =
        "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: jane}\nspec:\n  number: 'x\n";
    let tree =
        Tree::new(&[("a.yaml", text), ("i.yaml", &document("Invoice", "i", "contact: jane"))]);
    let loader = tree.load();
    assert_eq!(broken(&loader), ["Contact/jane", "Invoice/i"]);
    assert_eq!(loader.problems().shown.len(), 1);
}

#[test]
fn names_must_be_unique_and_references_must_lead_somewhere() {
    let tree = Tree::new(&[
        ("a.yaml", &document("Contact", "jane", "")),
        ("b.yaml", &document("Contact", "jane", "first_name: x")),
        ("c.yaml", &document("Invoice", "i", "contact: jnae")),
        ("d.yaml", &document("Invoice", "j", "contact: jane")),
    ]);
    let mut loader = tree.load();
    let problems = loader.problems().shown;
    let [second, missing] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!(
        (second.file.as_str(), second.code.as_str()),
        ("specs/b.yaml", "reckon::link::duplicate")
    );
    assert_eq!((second.related[0].file.as_str(), second.related[0].line), ("specs/a.yaml", 1));
    assert_eq!(
        (missing.code.as_str(), missing.help.as_str()),
        ("reckon::link::missing", "did you mean `jane`?")
    );
    assert_eq!((missing.column, missing.length), (81, 4));
    assert_eq!(broken(&loader), ["Contact/jane", "Invoice/i", "Invoice/j"]);
    tree.remove("a.yaml");
    let change = loader.reload(&[PathBuf::from("a.yaml")]);
    assert_eq!(names(change.touched), ["Contact/jane", "Invoice/j"]);
    assert_eq!(good(&loader), ["Contact/jane", "Invoice/j"]);
}

#[test]
fn every_member_of_a_cycle_is_told() {
    let with = |name: &str, needs: &str| {
        format!(
            "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata:\n  name: {name}\n  annotations: {{reckon.dev/depends-on: {needs}}}\nspec: {{}}\n"
        )
    };
    let tree = Tree::new(&[
        ("a.yaml", &with("a", "Contact/b")),
        ("b.yaml", &with("b", "'Contact/c, Contact/default/a'")),
        ("c.yaml", &with("c", "Contact/c")),
    ]);
    let mut loader = tree.load();
    let told: Vec<_> =
        loader.problems().shown.into_iter().map(|p| (p.file, p.line, p.message)).collect();
    let both = "these documents refer to each other: Contact/a, Contact/b";
    assert_eq!(
        told,
        [
            ("specs/a.yaml".to_owned(), 5, both.to_owned()),
            ("specs/b.yaml".to_owned(), 5, both.to_owned()),
            ("specs/c.yaml".to_owned(), 5, "the document refers to itself".to_owned()),
        ]
    );
    tree.write("c.yaml", document("Contact", "c", ""));
    tree.write("b.yaml", with("b", "Contact/c"));
    loader.load_all();
    assert_eq!(good(&loader), ["Contact/a", "Contact/b", "Contact/c"]);
}

#[test]
fn a_check_between_documents_names_both_places_and_follows_changes() {
    let tree = Tree::new(&[
        (
            "m.yaml",
            &format!("{}---\n{}", document("Merchant", "a", ""), document("Merchant", "b", "")),
        ),
        ("c.yaml", &document("Contact", "jane", "merchant: b")),
        ("i.yaml", &document("Invoice", "i", "merchant: a, contact: jane")),
    ]);
    let mut loader = tree.load();
    let problems = loader.problems().shown;
    assert_eq!(problems[0].related[0].file, "specs/c.yaml");
    assert_eq!(problems[0].related[0].column, 85);
    tree.write("c.yaml", document("Contact", "jane", "merchant: a"));
    assert_eq!(
        names(loader.reload(&[tree.root().join("c.yaml")]).touched),
        ["Contact/jane", "Invoice/i"]
    );
    assert_eq!(loader.problems().shown, []);
}

#[test]
fn what_cannot_be_seen_is_not_taken_as_removed() {
    let tree = Tree::new(&[("a.yaml", &document("Contact", "jane", ""))]);
    let mut loader = tree.load();
    assert_eq!(loader.desired().tree_state, TreeState::Complete);
    std::os::unix::fs::symlink("/etc", tree.root().join("x")).unwrap();
    loader.reload(&[tree.root().join("x")]);
    assert_eq!(loader.desired().tree_state, TreeState::Incomplete);
    std::fs::remove_file(tree.root().join("x")).unwrap();
    loader.reload(&[tree.root().join("x")]);
    assert_eq!(loader.desired().tree_state, TreeState::Complete);
    let fresh = Loader::new(tree.root().join("gone"), "specs", cx());
    assert_eq!(fresh.desired().tree_state, TreeState::Incomplete);
}

#[test]
fn a_reload_reads_only_the_paths_it_is_told() {
    let tree = Tree::new(&[
        ("a.yaml", &document("Contact", "a", "")),
        ("x/b.yaml", &document("Contact", "b", "")),
        ("x-y/c.yaml", &document("Contact", "c", "")),
    ]);
    let mut loader = tree.load();
    for path in ["a.yaml", "x/b.yaml", "x-y/c.yaml"] {
        tree.remove(path);
    }
    assert_eq!(names(loader.reload(&[PathBuf::from("x")]).touched), ["Contact/b"]);
    assert_eq!(good(&loader), ["Contact/a", "Contact/c"]);
    assert_eq!(
        loader.reload(&[PathBuf::from("../a.yaml"), PathBuf::from(".git/x.yaml")]),
        LoadChange::default()
    );
    assert_eq!(names(loader.load_all().touched), ["Contact/a", "Contact/c"]);
}

#[test]
fn a_message_shows_no_personal_value() {
    let tree =
        Tree::new(&[("a.yaml", &document("Contact", "jane", "first_name: Zorro, total: 0"))]);
    assert_eq!(tree.load().problems().shown[0].message, "the total of `•••` is 0");
}

#[test]
fn the_index_of_a_loaded_tree_says_whether_it_changed() {
    let tree = Tree::new(&[("a.yaml", &document("Contact", "jane", ""))]);
    let index = tree.load().index(i64::MAX);
    assert!(index.is_unchanged(&tree.root().into()));
    tree.write("a.yaml", "changed: 1\n");
    assert!(!index.is_unchanged(&tree.root().into()));
}

#[test]
fn verify_sees_a_change_that_size_and_time_hide() {
    let text = |name| document("Contact", name, "total: 1");
    let tree = Tree::new(&[("a.yaml", &text("jane"))]);
    let mut loader = tree.load();
    let path = tree.root().join("a.yaml");
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    tree.write("a.yaml", text("june"));
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(before).unwrap();
    assert!(loader.load_all().touched.is_empty());
    assert_eq!(good(&loader), ["Contact/jane"]);
    assert_eq!(loader.verify().touched.len(), 2);
    assert_eq!(good(&loader), ["Contact/june"]);
    assert_eq!(loader.desired().tree_state, TreeState::Complete);
    assert!(loader.verify().touched.is_empty(), "nothing changed since");
}

/// A step of a random history of a tree.
fn any_step() -> impl Strategy<Value = (u8, Option<String>)> {
    let spec = ("[a-d]", prop::option::of("[a-d]"), 0_i64..3).prop_map(|(name, contact, total)| {
        let contact = contact.map(|name| format!("contact: {name}, ")).unwrap_or_default();
        document("Contact", &name, &format!("{contact}total: {total}"))
    });
    let text = prop_oneof![4 => spec, 1 => Just("a: [\n".to_owned()), 1 => Just(String::new())];
    (0_u8..5, prop::option::of(text))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_history_of_reloads_ends_where_one_load_does(steps in prop::collection::vec(any_step(), 1..12)) {
        let tree = Tree::new(&[]);
        let mut loader = tree.load();
        for (file, text) in steps {
            let path = format!("f{file}.yaml");
            match text {
                Some(text) => tree.write(&path, format!("{text}# {}\n", "x".repeat(file.into()))),
                None => { let _gone = std::fs::remove_file(tree.root().join(&path)); }
            }
            loader.reload(&[tree.root().join(&path)]);
            let fresh = tree.load();
            prop_assert_eq!(good(&loader), good(&fresh));
            prop_assert_eq!(broken(&loader), broken(&fresh));
            prop_assert_eq!(loader.problems().shown, fresh.problems().shown);
            prop_assert_eq!(loader.desired().tree_state, fresh.desired().tree_state);
        }
    }
}

#[test]
fn a_kind_says_whether_its_object_can_go_with_its_document() {
    let check = |kind: &str, said: &str| {
        let text = format!(
            "apiVersion: reckon.dev/v1\nkind: {kind}\nmetadata:\n  name: a\n  annotations:\n    {said}\nspec: {{}}\n"
        );
        codes(&text).iter().filter(|code| code.starts_with("6:")).count()
    };
    for kind in ["SavedMethod", "Merchant"] {
        assert_eq!(check(kind, "reckon.dev/deletion: delete"), 0, "{kind}");
    }
    for kind in ["Contact", "Invoice"] {
        assert_eq!(check(kind, "reckon.dev/deletion: delete"), 1, "{kind}");
    }
    for good in ["b", "other/b"] {
        assert_eq!(check("Contact", &format!("reckon.dev/moved-from: {good}")), 0, "{good}");
    }
    for wrong in ["Contact/x/b", "B C", "''"] {
        assert_eq!(check("Contact", &format!("reckon.dev/moved-from: {wrong}")), 1, "{wrong}");
    }
}

/// Closes S6: work by the square of the problems, and output of any length.
#[test]
fn the_problems_of_a_file_and_of_a_tree_are_bounded_and_the_rest_is_counted() {
    let broken = |count: usize| "---\na: 1\n".repeat(count);
    let tree = Tree::new(&[("a.yaml", &broken(5000))]);
    let problems = tree.load().problems();
    assert_eq!(problems.shown.len(), PROBLEMS_OF_FILE_MAX);
    let one = Tree::new(&[("a.yaml", &broken(1))]).load().problems().total();
    assert_eq!(problems.total().errors, one.errors * 5000, "none is lost from the count");
    assert!(problems.has_errors());
    let files: Vec<_> = (0..9).map(|name| format!("{name}.yaml")).collect();
    let text = broken(300);
    let files: Vec<_> = files.iter().map(|name| (name.as_str(), text.as_str())).collect();
    let problems = Tree::new(&files).load().problems();
    assert_eq!(problems.shown.len(), crate::spec::tree::problems::PROBLEMS_MAX);
    assert_eq!(problems.total().errors, one.errors * 300 * 9);
}

/// Closes S6: the bound holds for problems between documents, too.
#[test]
fn problems_between_documents_are_bounded_and_counted() {
    let same = document("Contact", "jane", "").replace('\n', "\n---\n").repeat(500);
    let loader = Tree::new(&[("a.yaml", &same)]).load();
    let problems = loader.problems();
    assert_eq!(problems.shown.len(), PROBLEMS_OF_FILE_MAX);
    assert_eq!(problems.total().errors, 499);
    assert_eq!(loader.problems_where(|file| file == "specs/b.yaml"), TreeProblems::default());
}

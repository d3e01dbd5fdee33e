//! The example specs at the root of the repository, and the trees of `examples/generate.rs`, are valid.

use std::path::Path;

use crate::{settings, tree};
use reckon::config::settings::{Config, FILE_NAME};
use reckon::kinds::register::KINDS;
use reckon::spec::document::ReadContext;
use reckon::spec::tree::loader::Loader;

/// Loads the specs beside `folder`'s `reckon.yaml`, and expects `expect` documents without a problem.
fn check(folder: &Path, expect: usize) {
    let config = Config::load(&folder.join(FILE_NAME)).unwrap();
    let no_variable = |_: &str| None;
    let check = config.check_context(&no_variable).unwrap();
    let mut loader =
        Loader::new(folder.join("specs"), "specs", ReadContext { kinds: KINDS, check });
    loader.load_all();
    assert_eq!(loader.problems().shown, []);
    assert_eq!(loader.documents(), expect);
    assert_eq!(loader.desired().manifests.len(), expect);
}

fn check_generated(kinds: tree::Kinds, documents: usize, per_file: usize) {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings::Settings {
        base_url: "http://127.0.0.1:8700".to_owned(),
        ca_file: None,
        listen: "127.0.0.1:8780".to_owned(),
        state: ".reckon".to_owned(),
        timeout: "2s".to_owned(),
        grace: "1s".to_owned(),
        redirect_uri: "https://partner.example/callback".to_owned(),
    };
    settings::write(folder.path(), &settings).unwrap();
    let documents = tree::documents(kinds, documents, 7).unwrap();
    tree::write(folder.path(), documents.iter().enumerate(), per_file).unwrap();
    check(folder.path(), documents.len());
}

#[test]
fn the_example_specs_have_no_problem() {
    check(Path::new(env!("CARGO_MANIFEST_DIR")), 62);
}

#[test]
fn a_generated_tree_of_every_kind_has_no_problem() {
    check_generated(tree::Kinds::Mixed, 20, 1);
    check_generated(tree::Kinds::Mixed, 4_100, 9);
}

#[test]
fn a_generated_tree_of_contacts_has_no_problem() {
    check_generated(tree::Kinds::Contacts, 50, 1);
}

#[test]
fn the_same_seed_gives_the_same_tree() {
    let texts = |seed| {
        let documents = tree::documents(tree::Kinds::Mixed, 300, seed).unwrap();
        documents.into_iter().map(|document| document.text).collect::<Vec<_>>()
    };
    assert_eq!(texts(3), texts(3));
    assert_ne!(texts(3), texts(4));
}

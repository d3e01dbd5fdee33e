//! Laws of reading one document.

use std::fs;
use std::path::Path;

use super::*;
use crate::kinds::register::KINDS;
use crate::kinds::testing;
use crate::spec::text::decode::decode;
use crate::spec::text::lint::RUNS;
use crate::spec::text::source::split;

const CLEAN: &str = "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: jane}\nspec:\n  \
    merchant: acme\n  first_name: Jane\n  last_name: Doe\n  email_addresses:\n    - address: jane@example.com\n";

fn context() -> ReadContext {
    ReadContext { kinds: KINDS, check: testing::cx() }
}

/// Reads the only document of a text, with the number of lint passes.
fn read_counted(text: &str) -> (ParsedDocument, usize) {
    let before = RUNS.get();
    let source = LazySource::new(Arc::from("a.yaml"), text);
    let document = read(&context(), &source, &split(text).0[0], 0);
    (document, RUNS.get().saturating_sub(before))
}

#[test]
fn a_clean_document_is_parsed_once_and_a_wrong_one_has_its_places() {
    let (document, passes) = read_counted(CLEAN);
    assert!(document.is_good(), "{document:?}");
    assert_eq!(passes, 0);
    for (from, to, expect) in [
        ("last_name: Doe", "last_nam: Doe", (7, 3, "reckon::spec::unknown_field")),
        ("last_name: Doe", "first_name: Doe", (7, 3, "reckon::yaml::duplicate_key")),
        ("acme", "&a acme", (5, 13, "reckon::yaml::alias")),
        ("acme", "!a acme", (5, 13, "reckon::yaml::tag")),
        ("name: jane", "name: jane, 1: x", (3, 24, "reckon::yaml::key_not_text")),
        ("v1", "v2", (1, 13, "reckon::header::api_version")),
    ] {
        let (document, passes) = read_counted(&CLEAN.replacen(from, to, 1));
        let problem = &document.problems[0];
        assert_eq!((problem.line, problem.column, problem.code.as_str()), expect, "{problem:?}");
        assert!(passes > 0);
    }
}

/// Returns the shipped documents, and those of the fuzz corpus.
fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders =
        ["specs", "fuzz/corpus/documents"].map(|folder| walkdir::WalkDir::new(root.join(folder)));
    let files = folders.into_iter().flatten().map(Result::unwrap);
    let files = files.filter(|file| file.file_type().is_file());
    let files = files.filter(|file| file.path().extension().is_none_or(|word| word != "json"));
    files.map(|file| decode(fs::read(file.path()).unwrap()).text).collect()
}

#[test]
fn one_pass_reads_what_the_lint_pass_and_the_kind_read() {
    let (mut once, cx) = (0, context());
    for text in texts() {
        let source = LazySource::new(Arc::from("a.yaml"), &text);
        for slice in split(&text).0 {
            let place = DocumentPlace { file: Arc::from("a.yaml"), line: 1, offset: 0, length: 1 };
            if let Some((header, spec, _)) = read_once(&cx, &source, &slice) {
                let clean = checked(&cx, &source, &slice, header, Some(Ok(spec)), place.clone());
                let placed = read_with_places(&cx, &source, &slice, place);
                assert_eq!(format!("{clean:?}"), format!("{placed:?}"));
                once += 1;
            }
        }
    }
    assert!(once > 10, "{once}");
}

//! Parsed files as bytes: what a later start reads in place of YAML, for each file with the same metadata.
//!
//! Only a file without any problem is among them, whose documents depend on nothing but its text and
//! the context of the reading: no attached file, no `Defaults`, no property that is unique in a tree.
//! The caller seals the bytes, since specs hold personal values, and binds them to the context.
//!
//! Guarantees: a decoded file equals the one that was read; damaged bytes decode to nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::bulk::packed::Packed;
use crate::base::folder::Stat;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::model::manifest::{Annotations, DocumentPlace, Manifest, PackedManifest, Reference};
use crate::spec::document::ParsedDocument;
use crate::spec::tree::file::SpecFile;

/// The number of bytes from which a part is complete: parts are decoded several at once.
const PART_BYTES: usize = 1 << 20;

#[derive(Serialize, Deserialize)]
struct FileRow<'a> {
    path: &'a str,
    stat: Stat,
    hash: [u8; 32],
    documents: Vec<DocumentRow<'a>>,
}

#[derive(Serialize, Deserialize)]
struct DocumentRow<'a> {
    line: usize,
    offset: usize,
    length: usize,
    key: Key,
    labels: Vec<(&'a str, &'a str)>,
    /// As JSON; `None` for a document without any.
    annotations: Option<String>,
    /// The canonical spec as JSON.
    spec: &'a str,
    references: Vec<(&'a str, Key)>,
    digest: [u8; 32],
}

/// Returns the files of a tree that a later start may take from here, in parts. `racy_ns` is the time,
/// in nanoseconds since 1970, from which on a change of a file may not show in its metadata.
pub(crate) fn encode<'a>(
    files: impl Iterator<Item = (&'a Arc<str>, &'a SpecFile)>,
    racy_ns: i64,
) -> Vec<Vec<u8>> {
    let mut parts = vec![Vec::new()];
    for (path, file) in files.filter(|(_, file)| file.stat.mtime_ns < racy_ns) {
        let Some(row) = row_of(path, file) else { continue };
        let Some(part) = parts.last_mut() else { break };
        // Writing into memory cannot fail.
        let bytes = postcard::to_allocvec(&row).unwrap_or_default();
        part.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        part.extend(bytes);
        if part.len() >= PART_BYTES {
            parts.push(Vec::new());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the files of one part. `name_of` gives a file's name in reports. Damaged bytes end the list.
pub(crate) fn decode(
    mut part: &[u8],
    name_of: impl Fn(&str) -> Arc<str>,
) -> Vec<(Arc<str>, SpecFile)> {
    let mut files = Vec::new();
    while let Some((length, rest)) = part.split_first_chunk::<4>() {
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some((bytes, rest)) = rest.split_at_checked(length) else { break };
        let row = postcard::from_bytes::<FileRow<'_>>(bytes).ok();
        let Some(file) = row.and_then(|row| file_of(row, &name_of)) else { break };
        files.push(file);
        part = rest;
    }
    files
}

fn row_of<'a>(path: &'a str, file: &'a SpecFile) -> Option<FileRow<'a>> {
    if !file.depends_on_text_alone() {
        return None;
    }
    let documents = file.documents.iter().map(document_row).collect::<Option<_>>()?;
    Some(FileRow { path, stat: file.stat, hash: file.hash, documents })
}

fn document_row(document: &ParsedDocument) -> Option<DocumentRow<'_>> {
    let manifest = document.manifest.as_deref()?;
    let DocumentPlace { file: _, line, offset, length } = &document.place;
    let labels = manifest.labels.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let references = manifest.references.iter();
    Some(DocumentRow {
        line: *line,
        offset: *offset,
        length: *length,
        key: manifest.key.clone(),
        labels: labels.collect(),
        annotations: annotations_text(&manifest.annotations),
        spec: manifest.spec.json(),
        references: references.map(|one| (one.path.as_str(), one.key.clone())).collect(),
        digest: *manifest.digest.as_bytes(),
    })
}

/// Returns annotations as JSON; their fields have names, which this form has not.
fn annotations_text(annotations: &Annotations) -> Option<String> {
    // Writing JSON into memory cannot fail.
    let text = || serde_json::to_string(annotations).unwrap_or_default();
    (*annotations != Annotations::default()).then(text)
}

fn file_of(row: FileRow<'_>, name_of: impl Fn(&str) -> Arc<str>) -> Option<(Arc<str>, SpecFile)> {
    let name = name_of(row.path);
    let documents = row.documents.into_iter().map(|row| document_of(row, &name));
    let documents = documents.collect::<Option<_>>()?;
    Some((Arc::from(row.path), SpecFile::of_parsed(row.stat, row.hash, documents)))
}

fn document_of(row: DocumentRow<'_>, file: &Arc<str>) -> Option<ParsedDocument> {
    let DocumentRow { line, offset, length, key, labels, annotations, spec, references, digest } =
        row;
    let place = DocumentPlace { file: file.clone(), line, offset, length };
    let text = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
    let reference = |(path, key): (&str, Key)| Reference { path: path.to_owned(), key };
    let annotations = match annotations {
        Some(text) => serde_json::from_str(&text).ok()?,
        None => Annotations::default(),
    };
    let manifest: PackedManifest = Manifest {
        key: key.clone(),
        labels: labels.into_iter().map(text).collect::<BTreeMap<_, _>>(),
        annotations,
        spec: Packed::of_json(spec),
        references: references.into_iter().map(reference).collect(),
        files: Vec::new(),
        digest: Digest::from_bytes(digest),
        place: place.clone(),
    };
    Some(ParsedDocument::of_manifest(place, key, Arc::new(manifest)))
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::time::SystemTime;

    use crate::spec::testing::{Tree, cx, document};
    use crate::spec::tree::loader::Loader;

    /// Later than every change of a test's files.
    const LATER_NS: i64 = i64::MAX;

    fn tree() -> Tree {
        let annotated = "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata:\n  name: joe\n  labels: {team: books}\n  \
                         annotations: {reckon.dev/suspend: \"true\", reckon.dev/generation: \"2\", \
                         reckon.dev/depends-on: Contact/jane}\nspec: {merchant: a}\n";
        let both = [document("Merchant", "a", "first_name: x"), annotated.to_owned()].join("---\n");
        let jane = document("Contact", "jane", "merchant: a");
        let wrong = document("Contact", "wrong", "first_nmae: x");
        Tree::new(&[("both.yaml", &both), ("deep/jane.yaml", &jane), ("wrong.yaml", &wrong)])
    }

    fn preloaded(tree: &Tree, parts: &[Vec<u8>]) -> Loader {
        let mut loader = Loader::new(tree.root(), "specs", cx());
        loader.preload(parts);
        loader
    }

    fn assert_same(one: &Loader, other: &Loader) {
        assert_eq!(one.desired().manifests, other.desired().manifests);
        assert_eq!(one.desired().broken, other.desired().broken);
        assert_eq!(one.digest(), other.digest());
        assert_eq!(one.problems(), other.problems());
    }

    #[test]
    fn preloaded_files_give_the_same_tree_and_a_wrong_one_is_read_again() {
        let tree = tree();
        let before = tree.load();
        let mut again = preloaded(&tree, &before.parsed_files(LATER_NS));
        assert_eq!(again.documents(), 3, "{:?}", before.problems());
        again.load_all();
        assert_same(&again, &before);
        assert!(!again.is_as_preloaded());
        tree.remove("wrong.yaml");
        let before = tree.load();
        let mut again = preloaded(&tree, &before.parsed_files(LATER_NS));
        again.load_all();
        assert_same(&again, &before);
        assert!(again.is_as_preloaded());
    }

    #[test]
    fn what_changed_appeared_or_went_since_is_read() {
        let tree = tree();
        let parts = tree.load().parsed_files(LATER_NS);
        tree.write("deep/jane.yaml", document("Contact", "jane", "merchant: a\nfirst_name: Jane"));
        tree.write("new.yaml", document("Contact", "new", "merchant: a"));
        tree.remove("wrong.yaml");
        tree.remove("both.yaml");
        let mut again = preloaded(&tree, &parts);
        again.load_all();
        assert_same(&again, &tree.load());
        assert!(!again.is_as_preloaded());
    }

    #[test]
    fn a_file_without_a_sign_of_a_change_is_not_read() {
        let tree = tree();
        let parts = tree.load().parsed_files(LATER_NS);
        let path = tree.root().join("deep/jane.yaml");
        let (text, time) =
            (std::fs::read_to_string(&path).unwrap(), path.metadata().unwrap().modified().unwrap());
        std::fs::write(&path, text.replace("jane", "june")).unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_times(FileTimes::new().set_modified(time))
            .unwrap();
        let mut again = preloaded(&tree, &parts);
        again.load_all();
        assert!(again.desired().manifests.contains_key(&"Contact/jane".parse().unwrap()));
        again.verify();
        assert!(again.desired().manifests.contains_key(&"Contact/june".parse().unwrap()));
    }

    #[test]
    fn a_file_that_may_still_change_unseen_is_left_out() {
        let tree = tree();
        let changed = tree.root().join("both.yaml").metadata().unwrap().modified().unwrap();
        let changed = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        let just_before = i64::try_from(changed).unwrap() - 1_000_000;
        assert!(tree.load().parsed_files(just_before).is_empty());
    }

    #[test]
    fn damaged_bytes_are_no_files_and_do_no_harm() {
        let tree = tree();
        let before = tree.load();
        let parts = before.parsed_files(LATER_NS);
        let [part] = parts.as_slice() else { panic!("{} parts", parts.len()) };
        for length in 0..part.len() {
            let mut again = preloaded(&tree, &[part[..length].to_vec()]);
            again.load_all();
            assert_same(&again, &before);
        }
        let mut again = preloaded(&tree, &[vec![0xff; 300]]);
        again.load_all();
        assert_same(&again, &before);
    }
}

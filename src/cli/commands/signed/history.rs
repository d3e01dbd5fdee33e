//! Finds the commits that changed documents: in the complete history, whatever the files were
//! called.
//!
//! A document that only moves from one file to another is not changed. Where the history has
//! `Defaults` documents, it is, if its folder changes; and a change of `Defaults` changes every
//! document. An unclear change (a merge
//! that does more than merging, a link, a file that does not parse) counts as a change of every
//! document.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::hash::{Digest, sha256};
use crate::base::id::Key;
use crate::cli::context::git::program::{self, Git, GitError, is_absent_id};
use crate::spec::default_fields::DEFAULTS;
use crate::spec::document::{ReadContext, read};
use crate::spec::lazy_source::LazySource;
use crate::spec::text::decode::decode;
use crate::spec::text::lint::{Keep, lint};
use crate::spec::text::node::Node;
use crate::spec::text::source::split;

/// Prefix of git's modes of plain files; links and submodules have others.
const FILE: &str = "100";
/// Git's mode of an absent file.
const NOTHING: &str = "000000";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentChange {
    pub commit: String,
    /// The documents, each with the digest of its content from then on, where that is known.
    pub documents: BTreeMap<Key, Option<Digest>>,
}

#[derive(Debug)]
pub(crate) struct SoughtDocuments {
    pub keys: BTreeSet<Key>,
    pub cx: ReadContext,
}

/// Returns every change of these documents up to `head`, newest first. `specs` are the
/// folders, from the top of the repository.
pub(crate) fn changes(
    git: &Git,
    head: &str,
    specs: &[String],
    sought: &SoughtDocuments,
) -> Result<Vec<DocumentChange>, GitError> {
    let mut arguments = vec!["log", "--topo-order", "--full-history", "--sparse"];
    arguments.extend(["--diff-merges=remerge", "--raw", "-z", "--no-renames", "--no-abbrev"]);
    arguments.extend(["--no-ext-diff", "--no-textconv", "--ignore-submodules=none"]);
    arguments.extend(["--format=%H %P", head, "--"]);
    arguments.extend(specs.iter().map(String::as_str));
    let touches = touches(&git.output(&arguments, &[])?);
    let blobs = Blobs::read(git, &touches, sought)?;
    let changes = touches.into_iter().map(|touch| DocumentChange {
        documents: if touch.is_unclear() {
            sought.all()
        } else {
            blobs.changed_documents(&touch, sought)
        },
        commit: touch.commit,
    });
    Ok(changes.filter(|change| !change.documents.is_empty()).collect())
}

impl SoughtDocuments {
    /// Returns all of them, with unknown content.
    fn all(&self) -> BTreeMap<Key, Option<Digest>> {
        self.keys.iter().map(|key| (key.clone(), None)).collect()
    }
}

/// A commit, and the files beneath the specs that it changed.
#[derive(Debug, Default, PartialEq, Eq)]
struct TouchedFiles {
    commit: String,
    parents: usize,
    files: Vec<ChangedFile>,
}

/// One changed file: modes and blobs before and after.
#[derive(Debug, PartialEq, Eq)]
struct ChangedFile {
    path: String,
    modes: [String; 2],
    blobs: [String; 2],
}

impl TouchedFiles {
    /// Returns true if the commit's files do not show which documents it changed.
    fn is_unclear(&self) -> bool {
        let plain = |mode: &String| mode.starts_with(FILE) || mode == NOTHING;
        let odd = self.files.iter().any(|file| !file.modes.iter().all(plain));
        // A difference from git's own merge is the work of the person who merged. For more than two
        // parents git shows no difference.
        odd || self.parents > 2 || (self.parents > 1 && !self.files.is_empty())
    }
}

/// Parses `COMMIT PARENTS`, and `:MODE MODE BLOB BLOB WORD` with a path after each.
fn touches(said: &[u8]) -> Vec<TouchedFiles> {
    let mut touches: Vec<TouchedFiles> = Vec::new();
    let mut words = said.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    while let Some(word) = words.next() {
        let word = word.trim();
        if let Some(file) = word.strip_prefix(':') {
            let path = words.next().unwrap_or_default().into_owned();
            let mut parts = file.split(' ').map(str::to_owned);
            let mut part = || parts.next().unwrap_or_default();
            let file = ChangedFile { path, modes: [part(), part()], blobs: [part(), part()] };
            if let Some(touch) = touches.last_mut() {
                touch.files.push(file);
            }
        } else if let Some(commit) = word.split(' ').next().filter(|commit| !commit.is_empty()) {
            let parents = word.split(' ').count().saturating_sub(1);
            touches.push(TouchedFiles { commit: commit.to_owned(), parents, files: Vec::new() });
        }
    }
    touches
}

/// The documents of one file; `None` where they are unclear.
type FileDocuments = Option<BTreeMap<Key, Vec<DocumentDigests>>>;

/// One document: digests of its text, and of its content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct DocumentDigests {
    text: Digest,
    content: Option<Digest>,
}

/// The documents of every file that some commit changed.
struct Blobs {
    files: BTreeMap<String, FileDocuments>,
    /// The files that may hold `Defaults`: they change documents of other files.
    defaults: BTreeSet<String>,
}

/// A document as one version of the tree has it, with its folder where `Defaults` give it values.
type PlacedDigests<'a> = (&'a str, &'a DocumentDigests);

impl Blobs {
    fn read(
        git: &Git,
        touches: &[TouchedFiles],
        sought: &SoughtDocuments,
    ) -> Result<Self, GitError> {
        let blobs = touches.iter().flat_map(|touch| &touch.files).flat_map(|file| &file.blobs);
        let blobs: BTreeSet<&str> =
            blobs.map(String::as_str).filter(|id| !is_absent_id(id)).collect();
        let blobs: Vec<&str> = blobs.into_iter().collect();
        let (mut files, mut defaults) = (BTreeMap::new(), BTreeSet::new());
        program::for_each(git, &blobs, &mut |id, bytes| {
            if bytes.is_some_and(|bytes| String::from_utf8_lossy(bytes).contains(DEFAULTS)) {
                defaults.insert(id.to_owned());
            }
            files.insert(id.to_owned(), bytes.and_then(|bytes| documents(bytes, sought)));
        })?;
        Ok(Self { files, defaults })
    }

    /// Returns the documents that differ after a commit from before it.
    fn changed_documents(
        &self,
        touch: &TouchedFiles,
        sought: &SoughtDocuments,
    ) -> BTreeMap<Key, Option<Digest>> {
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        for file in &touch.files {
            let [old, new] = &file.blobs;
            if file.blobs.iter().any(|id| self.defaults.contains(id)) {
                return sought.all();
            }
            let folder = self.folder(file);
            if !(self.gather(old, folder, &mut before) && self.gather(new, folder, &mut after)) {
                return sought.all();
            }
        }
        for texts in before.values_mut().chain(after.values_mut()) {
            texts.sort_unstable();
        }
        let changed = sought.keys.iter().filter(|key| before.get(key) != after.get(key));
        let asks = |key: &Key| match after.get(key).map(Vec::as_slice) {
            // The commit does not show the values that a document got from elsewhere.
            Some([(_, only)]) if self.defaults.is_empty() => only.content,
            Some(_) | None => None,
        };
        changed.map(|key| (key.clone(), asks(key))).collect()
    }

    /// Returns the folder of a file, if its documents may get values there.
    fn folder<'f>(&self, file: &'f ChangedFile) -> &'f str {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if self.defaults.is_empty() { "" } else { folder }
    }

    /// Adds the documents of a file; returns false if they are unclear.
    fn gather<'a>(
        &'a self,
        id: &str,
        folder: &'a str,
        to: &mut BTreeMap<&'a Key, Vec<PlacedDigests<'a>>>,
    ) -> bool {
        if is_absent_id(id) {
            return true;
        }
        let Some(Some(documents)) = self.files.get(id) else { return false };
        for (key, texts) in documents {
            to.entry(key).or_default().extend(texts.iter().map(|text| (folder, text)));
        }
        true
    }
}

/// Returns the documents of a file that have one of these names; `None` if one of those is unclear,
/// or has another name for the loader than in its text.
fn documents(bytes: &[u8], SoughtDocuments { keys, cx }: &SoughtDocuments) -> FileDocuments {
    let text = String::from_utf8_lossy(bytes);
    let mut found = BTreeMap::<Key, Vec<DocumentDigests>>::new();
    if !keys.iter().any(|key| may_name(&text, key)) {
        return Some(found);
    }
    let decoded = decode(bytes.to_vec());
    if !decoded.is_good() {
        return None;
    }
    let source = LazySource::new(Arc::from(""), &decoded.text);
    for slice in split(&decoded.text).0 {
        let part = decoded.text.get(slice.range.clone()).unwrap_or_default();
        if !keys.iter().any(|key| may_name(part, key)) {
            continue;
        }
        let linted = lint(&decoded.text, &slice, Keep::Head);
        let name = linted.root.as_ref().filter(|_| linted.complete).map(own_name)?;
        let parsed = read(cx, &source, &slice, 0);
        let key = parsed.key.map(|key| key.to_string());
        if key.is_some() && key != name {
            return None;
        }
        if let Some(key) = keys.iter().find(|one| name.as_deref() == Some(&*one.to_string())) {
            let asks = parsed.manifest.map(|manifest| manifest.digest);
            let text = sha256(part.trim().as_bytes());
            found.entry(key.clone()).or_default().push(DocumentDigests { text, content: asks });
        }
    }
    Some(found)
}

/// Returns true if a text holds the name of a resource, or escapes, in which a name can hide.
fn may_name(text: &str, key: &Key) -> bool {
    text.contains(&*key.name.to_string()) || text.contains('\\')
}

/// Returns the name that a document has in its own text; `None` for a document of no resource.
fn own_name(root: &Node) -> Option<String> {
    let kind = root.get("kind").and_then(Node::text)?;
    let metadata = root.get("metadata")?;
    let name = metadata.get("name").and_then(Node::text)?;
    let namespace = metadata.get("namespace").and_then(Node::text);
    let key: Key = match namespace {
        Some(namespace) => format!("{kind}/{namespace}/{name}").parse().ok()?,
        None => format!("{kind}/{name}").parse().ok()?,
    };
    Some(key.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::settings::Config;
    use crate::kinds::register::KINDS;

    fn sought() -> SoughtDocuments {
        let config =
            Config::parse("f", Path::new("."), b"apiVersion: reckon.dev/v1\nkind: Config".to_vec());
        let check = config.unwrap().check_context(&|_: &str| None).unwrap();
        let keys = ["Invoice/a", "Invoice/books/b"].iter().map(|key| key.parse().unwrap());
        SoughtDocuments { keys: keys.collect(), cx: ReadContext { kinds: KINDS, check } }
    }

    fn told(text: &str) -> Option<Vec<(String, usize)>> {
        let found = documents(text.as_bytes(), &sought())?;
        Some(found.iter().map(|(key, texts)| (key.short(), texts.len())).collect())
    }

    #[test]
    fn documents_are_known_by_what_they_call_themselves() {
        let one = "kind: Invoice\nmetadata: {name: a}\nspec: {x: 1}\n";
        let two = "kind: Invoice\nmetadata:\n  name: b\n  namespace: books\n";
        let found = told(&format!("{one}---\n{two}---\nkind: Contact\nmetadata: {{name: a}}\n"));
        let expect = [("Invoice/books/b".to_owned(), 1), ("Invoice/a".to_owned(), 1)];
        assert_eq!(found, Some(expect.to_vec()));
        let escaped = "kind: Invoice\nmetadata: {name: \"\\x61\"}\n";
        assert_eq!(told(escaped), Some(vec![("Invoice/a".to_owned(), 1)]));
        assert_eq!(told("metadata: {name: zzz}"), Some(Vec::new()));
        assert_eq!(told("metadata: {name: a"), None, "undecided");
    }

    #[test]
    fn what_git_says_is_taken_apart() {
        let zero = "0".repeat(40);
        let said = format!("c1 c0\0\n:100644 000000 aa {zero} D\0specs/a b\0c0 p q\0c9\0");
        let touches = touches(said.as_bytes());
        let names: Vec<&str> = touches.iter().map(|touch| touch.commit.as_str()).collect();
        assert_eq!(names, ["c1", "c0", "c9"]);
        assert_eq!(touches[0].files[0].blobs, ["aa".to_owned(), zero]);
        assert_eq!(touches[0].files[0].path, "specs/a b");
        assert_eq!((touches[0].parents, touches[1].parents, touches[2].parents), (1, 2, 0));
        assert!(touches.iter().all(|touch| !touch.is_unclear()));
    }
}

//! Reads single scalars, lists and mappings of the file, independent of their meaning.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::wording;
use crate::config::setting::{FromText, InvalidValue, Placed, Setting, Variable};
use crate::config::value::is_variable_name;
use crate::model::issue::{PlacedIssue, Severity};
use crate::spec::text::decode::{DecodedText, Finding};
use crate::spec::text::lint::{Keep, lint};
use crate::spec::text::node::{Node, NodeEntry, NodeValue};
use crate::spec::text::source::{Slice, SourceText};

/// Walks the file's tree; problems gather in `findings`.
pub(crate) struct ConfigReader<'a> {
    pub(crate) source: &'a SourceText,
    pub(crate) dir: Arc<Path>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) variables: BTreeSet<String>,
}

/// Sorts problems, and returns whether none of them is an error.
pub(crate) fn sorted(mut problems: Vec<PlacedIssue>) -> (Vec<PlacedIssue>, bool) {
    problems.sort();
    let good = problems.iter().all(|problem| problem.severity == Severity::Warning);
    (problems, good)
}

impl<'a> ConfigReader<'a> {
    /// Returns a reader of a file; relative paths start from `dir`.
    pub(crate) fn new(source: &'a SourceText, dir: &Path, decoded: &DecodedText) -> Self {
        let findings = decoded.findings.clone();
        Self { source, dir: Arc::from(dir), findings, variables: BTreeSet::new() }
    }

    /// Returns the root of a document without findings. Reports one that is not a mapping.
    pub(crate) fn root(
        &mut self,
        document: &Slice,
        code: &'static str,
        message: &str,
        help: &str,
    ) -> Option<Node> {
        let linted = lint(&self.source.text, document, Keep::All);
        let clean = linted.findings.is_empty();
        self.findings.extend(linted.findings);
        let root = linted.root.filter(|_| clean)?;
        if !matches!(root.value, NodeValue::Map(_)) {
            self.report(code, root.span, message, help);
            return None;
        }
        Some(root)
    }

    pub(crate) fn expect_constant(&mut self, root: &Node, key: &str, expect: &str) {
        let help = format!("write `{key}: {expect}`");
        match root.entry(key) {
            None => {
                let first = root.span.start..root.span.start.saturating_add(1);
                self.missing(first, &format!("`{key}` is missing"), &help);
            }
            Some(entry) if entry.value.text() == Some(expect) => {}
            Some(entry) => {
                self.invalid(value_span(entry), &format!("`{key}` must be `{expect}`"), &help);
            }
        }
    }

    pub(crate) fn folder(&mut self, root: &Node, key: &str, default: &str) -> Setting<PathBuf> {
        self.setting(root, key).unwrap_or_else(|| Setting::Literal(self.dir.join(default)))
    }

    /// Reads one folder, or a list of folders.
    pub(crate) fn folders(
        &mut self,
        root: &Node,
        key: &str,
        default: &str,
    ) -> Vec<Setting<PathBuf>> {
        let listed = root.present(key).map(|entry| (&entry.value.value, value_span(entry)));
        match listed {
            Some((NodeValue::Seq(items), span)) if items.is_empty() => {
                let help = format!("name a folder, such as `{key}: [{default}]`");
                self.invalid(span, &format!("`{key}` names no folder"), &help);
                Vec::new()
            }
            Some((NodeValue::Seq(items), _)) => self.scalars(items),
            Some(_) | None => vec![self.folder(root, key, default)],
        }
    }

    /// Returns a mapping and reports its unknown keys; `None` where the key is missing or null.
    pub(crate) fn section<'n>(
        &mut self,
        parent: &'n Node,
        key: &str,
        known: &[&str],
    ) -> Option<&'n Node> {
        let entry = parent.present(key)?;
        if matches!(entry.value.value, NodeValue::Map(_)) {
            self.report_unknown_keys(&entry.value, known);
            return Some(&entry.value);
        }
        let message = format!("`{key}` must be a mapping");
        self.invalid(value_span(entry), &message, "write the fields under it");
        None
    }

    pub(crate) fn items<'n>(&mut self, parent: &'n Node, key: &str) -> &'n [Node] {
        let Some(entry) = parent.present(key) else { return &[] };
        if !matches!(entry.value.value, NodeValue::Seq(_)) {
            self.invalid(value_span(entry), &format!("`{key}` must be a list"), "write `[…]`");
        }
        entry.value.items()
    }

    pub(crate) fn list<T: FromText>(&mut self, parent: &Node, key: &str) -> Vec<Setting<T>> {
        let items = self.items(parent, key);
        self.scalars(items)
    }

    pub(crate) fn scalars<T: FromText>(&mut self, items: &[Node]) -> Vec<Setting<T>> {
        items.iter().filter_map(|item| self.scalar(item, item.span.clone())).collect()
    }

    pub(crate) fn setting<T: FromText>(&mut self, parent: &Node, key: &str) -> Option<Setting<T>> {
        let entry = parent.present(key)?;
        self.scalar(&entry.value, value_span(entry))
    }

    pub(crate) fn scalar<T: FromText>(
        &mut self,
        node: &Node,
        at: Range<usize>,
    ) -> Option<Setting<T>> {
        let read = match &node.value {
            NodeValue::Scalar { text, .. } => T::from_text(text, &self.dir).map(Setting::Literal),
            NodeValue::Map(entries) => self.read_variable(entries).map(Setting::Env),
            NodeValue::Seq(_) | NodeValue::Skipped => Err(not_a_scalar()),
        };
        read.map_err(|InvalidValue { message, help }| self.invalid(at, &message, &help)).ok()
    }

    fn read_variable(&mut self, entries: &[NodeEntry]) -> Result<Variable, InvalidValue> {
        let [NodeEntry { key, key_span, value }] = entries else { return Err(not_a_scalar()) };
        let name = value.text().filter(|_| key == "env").ok_or_else(not_a_scalar)?;
        if !is_variable_name(name) {
            let help = "write letters, digits and `_`, such as `RECKON_KEY`";
            let message = format!("`{name}` cannot be the name of a variable");
            return Err(InvalidValue::new(message, help));
        }
        self.variables.insert(name.to_owned());
        let (line, _) = self.source.position(key_span.start);
        let (file, dir) = (self.source.file.clone(), self.dir.clone());
        Ok(Variable { name: name.to_owned(), file, line, dir })
    }

    /// Returns the place of a key that has a value.
    pub(crate) fn place_of_key(&self, node: &Node, key: &str) -> Option<Arc<str>> {
        Some(self.place(node.present(key)?.key_span.start))
    }

    /// Returns the place of a byte, as `FILE:LINE`.
    pub(crate) fn place(&self, byte: usize) -> Arc<str> {
        let (line, _) = self.source.position(byte);
        Arc::from(format!("{}:{line}", self.source.file))
    }

    pub(crate) fn report_unknown_keys(&mut self, node: &Node, known: &[&str]) {
        for entry in node.entries().iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let message = format!("unknown key `{}`", entry.key);
            let help = wording::suggestion_help(&entry.key, known.iter().copied());
            self.report("reckon::config::unknown_key", entry.key_span.clone(), &message, &help);
        }
    }

    /// Reports a value that does not fit.
    pub(crate) fn invalid(&mut self, span: Range<usize>, message: &str, help: &str) {
        self.report("reckon::config::value", span, message, help);
    }

    /// Reports a field that the file lacks.
    pub(crate) fn missing(&mut self, span: Range<usize>, message: &str, help: &str) {
        self.report("reckon::config::missing", span, message, help);
    }

    pub(crate) fn report(
        &mut self,
        code: &'static str,
        span: Range<usize>,
        message: &str,
        help: &str,
    ) {
        self.findings.push(Finding::error(code, span, message, help));
    }
}

/// A field of the file, read by its type.
pub(crate) trait ReadField: Sized {
    /// Reads the value of `key`; `default` where a required one is missing or wrong.
    fn read_field(reader: &mut ConfigReader<'_>, parent: &Node, key: &str, default: Self) -> Self;
}

impl<T: FromText> ReadField for Setting<T> {
    fn read_field(reader: &mut ConfigReader<'_>, parent: &Node, key: &str, default: Self) -> Self {
        reader.setting(parent, key).unwrap_or(default)
    }
}

impl<T: FromText> ReadField for Option<Setting<T>> {
    fn read_field(reader: &mut ConfigReader<'_>, parent: &Node, key: &str, _: Self) -> Self {
        reader.setting(parent, key)
    }
}

impl<T: FromText> ReadField for Vec<Setting<T>> {
    fn read_field(reader: &mut ConfigReader<'_>, parent: &Node, key: &str, _: Self) -> Self {
        reader.list(parent, key)
    }
}

impl<T: FromText> ReadField for Option<Placed<Setting<T>>> {
    fn read_field(reader: &mut ConfigReader<'_>, parent: &Node, key: &str, _: Self) -> Self {
        let place = reader.place_of_key(parent, key)?;
        Some(Placed { value: reader.setting(parent, key)?, place })
    }
}

impl<T: Section> ReadField for T {
    fn read_field(reader: &mut ConfigReader<'_>, parent: &Node, key: &str, default: Self) -> Self {
        match reader.section(parent, key, Self::KEYS) {
            Some(node) => Self::read_keys(reader, node, default),
            None => default,
        }
    }
}

/// A mapping whose keys are the fields of a type.
pub(crate) trait Section: Sized {
    const KEYS: &'static [&'static str];

    /// Reads the fields; missing ones have the values of `default`.
    fn read_keys(reader: &mut ConfigReader<'_>, node: &Node, default: Self) -> Self;
}

/// Declares a [`Section`] by its keys. A key that its type does not read names the function of
/// [`ConfigReader`] that reads it from the section.
macro_rules! section {
    ($type:ident: $($key:ident $(($read:ident))?),+) => {
        impl $crate::config::reader::Section for $type {
            const KEYS: &'static [&'static str] = &[$(stringify!($key)),+];

            fn read_keys(
                reader: &mut $crate::config::reader::ConfigReader<'_>,
                node: &$crate::spec::text::node::Node,
                default: Self,
            ) -> Self {
                Self { $($key: $crate::config::reader::section!(@read reader, node, default, $key $($read)?)),+ }
            }
        }
    };
    (@read $reader:ident, $node:ident, $default:ident, $key:ident) => {
        $crate::config::reader::ReadField::read_field(
            $reader,
            $node,
            stringify!($key),
            $default.$key,
        )
    };
    (@read $reader:ident, $node:ident, $default:ident, $key:ident $read:ident) => {
        $reader.$read($node)
    };
}

pub(crate) use section;

/// Returns the range to underline for an entry's value: the key for a block beneath its key.
fn value_span(entry: &NodeEntry) -> Range<usize> {
    let block = entry.value.span.start > entry.key_span.end.saturating_add(2)
        && !matches!(entry.value.value, NodeValue::Scalar { .. });
    if entry.value.span.is_empty() || block {
        entry.key_span.clone()
    } else {
        entry.value.span.clone()
    }
}

fn not_a_scalar() -> InvalidValue {
    InvalidValue::new("expected one value", "write the value, or name its variable: `{env: NAME}`")
}

//! Reads single scalars, lists and mappings of the file, independent of their meaning.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::nearest;
use crate::config::open::is_variable;
use crate::config::setting::{FromText, Setting, Variable, Wrong};
use crate::spec::finding::Finding;
use crate::spec::lines::Source;
use crate::spec::node::{Entry, Node, NodeValue};

/// Walks the file's tree; problems gather in `findings`.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) dir: Arc<Path>,
    pub(super) findings: Vec<Finding>,
    pub(super) variables: BTreeSet<String>,
}

impl Reader<'_> {
    pub(super) fn constant(&mut self, root: &Node, key: &str, expect: &str) {
        let help = format!("write `{key}: {expect}`");
        match root.entry(key) {
            None => {
                let first = root.span.start..root.span.start.saturating_add(1);
                self.find("reckon::config::missing", first, &format!("`{key}` is missing"), &help);
            }
            Some(entry) if entry.value.text() == Some(expect) => {}
            Some(entry) => {
                let message = format!("`{key}` of this file is `{expect}`");
                self.find("reckon::config::value", shown(entry), &message, &help);
            }
        }
    }

    pub(super) fn folder(&mut self, root: &Node, key: &str, default: &str) -> Setting<PathBuf> {
        self.setting(root, key).unwrap_or_else(|| Setting::Literal(self.dir.join(default)))
    }

    /// Returns a mapping and reports its unknown keys; `None` where the key is missing or null.
    pub(super) fn section<'n>(
        &mut self,
        parent: &'n Node,
        key: &str,
        known: &[&'static str],
    ) -> Option<&'n Node> {
        let entry = parent.entry(key).filter(|entry| !entry.value.is_null())?;
        if matches!(entry.value.value, NodeValue::Map(_)) {
            self.unknown(&entry.value, known);
            return Some(&entry.value);
        }
        let message = format!("`{key}` is a mapping");
        self.find("reckon::config::value", shown(entry), &message, "write its fields beneath it");
        None
    }

    pub(super) fn items<'n>(&mut self, parent: &'n Node, key: &str) -> &'n [Node] {
        let Some(entry) = parent.entry(key).filter(|entry| !entry.value.is_null()) else {
            return &[];
        };
        if !matches!(entry.value.value, NodeValue::Seq(_)) {
            let message = format!("`{key}` is a list");
            self.find("reckon::config::value", shown(entry), &message, "write `[…]`");
        }
        entry.value.items()
    }

    pub(super) fn setting<T: FromText>(&mut self, parent: &Node, key: &str) -> Option<Setting<T>> {
        let entry = parent.entry(key).filter(|entry| !entry.value.is_null())?;
        self.scalar(&entry.value, shown(entry))
    }

    pub(super) fn scalar<T: FromText>(
        &mut self,
        node: &Node,
        at: Range<usize>,
    ) -> Option<Setting<T>> {
        let read = match &node.value {
            NodeValue::Scalar { text, .. } => T::from_text(text, &self.dir).map(Setting::Literal),
            NodeValue::Map(entries) => self.variable(entries).map(Setting::Env),
            NodeValue::Seq(_) | NodeValue::Skipped => Err(no_scalar()),
        };
        match read {
            Ok(setting) => Some(setting),
            Err(Wrong { message, help }) => {
                self.find("reckon::config::value", at, &message, &help);
                None
            }
        }
    }

    fn variable(&mut self, entries: &[Entry]) -> Result<Variable, Wrong> {
        let [Entry { key, key_span, value }] = entries else {
            return Err(no_scalar());
        };
        let name = value.text().filter(|_| key == "env").ok_or_else(no_scalar)?;
        if !is_variable(name) {
            let help = "write letters, digits and `_`, such as `RECKON_KEY`";
            return Err(Wrong::new(format!("`{name}` cannot be the name of a variable"), help));
        }
        self.variables.insert(name.to_owned());
        let (line, _) = self.source.position(key_span.start);
        let (file, dir) = (self.source.file.clone(), self.dir.clone());
        Ok(Variable { name: name.to_owned(), file, line, dir })
    }

    pub(super) fn unknown(&mut self, node: &Node, known: &[&'static str]) {
        for entry in node.entries().iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let message = format!("the key `{}` is unknown", entry.key);
            let help = nearest::help(&entry.key, known.iter().copied());
            self.find("reckon::config::unknown_key", entry.key_span.clone(), &message, &help);
        }
    }

    pub(super) fn find(
        &mut self,
        code: &'static str,
        span: Range<usize>,
        message: &str,
        help: &str,
    ) {
        self.findings.push(Finding::error(code, span, message, help));
    }
}

/// Returns the range to underline for an entry's value: the key for a block beneath its key.
fn shown(entry: &Entry) -> Range<usize> {
    let block = entry.value.span.start > entry.key_span.end.saturating_add(2)
        && !matches!(entry.value.value, NodeValue::Scalar { .. });
    if entry.value.span.is_empty() || block {
        entry.key_span.clone()
    } else {
        entry.value.span.clone()
    }
}

fn no_scalar() -> Wrong {
    Wrong::new("one value belongs here", "write it, or name its variable: `{env: NAME}`")
}

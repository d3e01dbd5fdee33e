//! Reads single scalars, lists and mappings of the file, independent of their meaning.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::wording;
use crate::config::setting::{FromText, InvalidValue, Setting, Variable};
use crate::config::value::is_variable_name;
use crate::spec::text::decode::Finding;
use crate::spec::text::node::{Node, NodeEntry, NodeValue};
use crate::spec::text::source::SourceText;

/// Walks the file's tree; problems gather in `findings`.
pub(crate) struct ConfigReader<'a> {
    pub(crate) source: &'a SourceText,
    pub(crate) dir: Arc<Path>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) variables: BTreeSet<String>,
}

impl ConfigReader<'_> {
    pub(crate) fn expect_constant(&mut self, root: &Node, key: &str, expect: &str) {
        let help = format!("write `{key}: {expect}`");
        match root.entry(key) {
            None => {
                let first = root.span.start..root.span.start.saturating_add(1);
                self.report(
                    "reckon::config::missing",
                    first,
                    &format!("`{key}` is missing"),
                    &help,
                );
            }
            Some(entry) if entry.value.text() == Some(expect) => {}
            Some(entry) => {
                let message = format!("`{key}` must be `{expect}`");
                self.report("reckon::config::value", value_span(entry), &message, &help);
            }
        }
    }

    pub(crate) fn folder(&mut self, root: &Node, key: &str, default: &str) -> Setting<PathBuf> {
        self.setting(root, key).unwrap_or_else(|| Setting::Literal(self.dir.join(default)))
    }

    /// Returns a mapping and reports its unknown keys; `None` where the key is missing or null.
    pub(crate) fn section<'n>(
        &mut self,
        parent: &'n Node,
        key: &str,
        known: &[&'static str],
    ) -> Option<&'n Node> {
        let entry = parent.entry(key).filter(|entry| !entry.value.is_null())?;
        if matches!(entry.value.value, NodeValue::Map(_)) {
            self.report_unknown_keys(&entry.value, known);
            return Some(&entry.value);
        }
        let message = format!("`{key}` must be a mapping");
        self.report(
            "reckon::config::value",
            value_span(entry),
            &message,
            "write the fields under it",
        );
        None
    }

    pub(crate) fn items<'n>(&mut self, parent: &'n Node, key: &str) -> &'n [Node] {
        let Some(entry) = parent.entry(key).filter(|entry| !entry.value.is_null()) else {
            return &[];
        };
        if !matches!(entry.value.value, NodeValue::Seq(_)) {
            let message = format!("`{key}` must be a list");
            self.report("reckon::config::value", value_span(entry), &message, "write `[…]`");
        }
        entry.value.items()
    }

    pub(crate) fn setting<T: FromText>(&mut self, parent: &Node, key: &str) -> Option<Setting<T>> {
        let entry = parent.entry(key).filter(|entry| !entry.value.is_null())?;
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
        match read {
            Ok(setting) => Some(setting),
            Err(InvalidValue { message, help }) => {
                self.report("reckon::config::value", at, &message, &help);
                None
            }
        }
    }

    fn read_variable(&mut self, entries: &[NodeEntry]) -> Result<Variable, InvalidValue> {
        let [NodeEntry { key, key_span, value }] = entries else {
            return Err(not_a_scalar());
        };
        let name = value.text().filter(|_| key == "env").ok_or_else(not_a_scalar)?;
        if !is_variable_name(name) {
            let help = "write letters, digits and `_`, such as `RECKON_KEY`";
            return Err(InvalidValue::new(
                format!("`{name}` cannot be the name of a variable"),
                help,
            ));
        }
        self.variables.insert(name.to_owned());
        let (line, _) = self.source.position(key_span.start);
        let (file, dir) = (self.source.file.clone(), self.dir.clone());
        Ok(Variable { name: name.to_owned(), file, line, dir })
    }

    pub(crate) fn report_unknown_keys(&mut self, node: &Node, known: &[&'static str]) {
        for entry in node.entries().iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let message = format!("unknown key `{}`", entry.key);
            let help = wording::suggestion_help(&entry.key, known.iter().copied());
            self.report("reckon::config::unknown_key", entry.key_span.clone(), &message, &help);
        }
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

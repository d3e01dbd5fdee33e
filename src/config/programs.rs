//! `secrets.exec` and `secrets.age`: the programs that provide secrets, and the identity that opens
//! sealed ones.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::config::reader::ConfigReader;
use crate::config::setting::Setting;
use crate::kinds::secrets::secret_source::is_program;
use crate::spec::text::node::{Node, NodeEntry, NodeValue};

const AGE: [&str; 1] = ["file"];

/// The programs of `secrets.exec` by name, each a program and its arguments; no shell splits them.
pub type Programs = BTreeMap<String, Vec<Setting<String>>>;

impl ConfigReader<'_> {
    /// Reads `secrets.exec`.
    pub(crate) fn read_programs(&mut self, secrets: &Node) -> Programs {
        let Some(entry) = secrets.entry("exec").filter(|entry| !entry.value.is_null()) else {
            return Programs::new();
        };
        if !matches!(entry.value.value, NodeValue::Map(_)) {
            let help = "write `{card-of-jane: [/usr/bin/vault, kv, get, jane]}`";
            let message = "`exec` must be a mapping of names to programs";
            self.report("reckon::config::value", entry.value.span.clone(), message, help);
        }
        let programs = entry.value.entries().iter();
        programs.map(|entry| (entry.key.clone(), self.read_program(entry))).collect()
    }

    /// Reads one program: `[PROGRAM, ARGUMENT …]`.
    fn read_program(&mut self, entry: &NodeEntry) -> Vec<Setting<String>> {
        if !is_program(&entry.key) {
            let message = format!("`{}` cannot be the name of a program", entry.key);
            let help = "write letters, digits, `-`, `_` and `.`, such as `card-of-jane`";
            self.report("reckon::config::value", entry.key_span.clone(), &message, help);
        }
        let items = entry.value.items();
        if items.is_empty() {
            let help = "write a list, such as `[/usr/bin/vault, kv, get, jane]`; no shell reads it";
            let message = "a program must be a list: the program itself, then its arguments";
            self.report("reckon::config::value", entry.key_span.clone(), message, help);
        }
        items.iter().filter_map(|item| self.scalar(item, item.span.clone())).collect()
    }

    /// Reads `secrets.age`: the file of the identity.
    pub(crate) fn read_identity(&mut self, secrets: &Node) -> Option<Setting<PathBuf>> {
        let node = self.section(secrets, "age", &AGE)?;
        if node.entry("file").is_none_or(|entry| entry.value.is_null()) {
            let (message, help) = ("`age` names no file", "write `age: {file: NAME}`");
            self.report("reckon::config::missing", node.span.clone(), message, help);
        }
        self.setting(node, "file")
    }
}

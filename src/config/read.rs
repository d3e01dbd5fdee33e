//! A tree of nodes → [`Config`], every mistake told at its place.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::open::is_variable;
use crate::config::setting::{FromText, Setting, Variable, Wrong};
use crate::config::{
    Broken, Config, Doubt, Partner, Plan, Policy, Secrets, Service, listen_default,
};
use crate::kinds::{Change, Field, Privacy};
use crate::model::issue::{Problem, Severity};
use crate::spec::decode::decode;
use crate::spec::document::{API_VERSION, cleaned};
use crate::spec::finding::Finding;
use crate::spec::lines::Source;
use crate::spec::lint::{Keep, lint};
use crate::spec::mask::{MaskedSource, Rules, private_lines};
use crate::spec::nearest;
use crate::spec::node::{Entry, Node, NodeValue};
use crate::spec::split::split;

const TOP: [&str; 12] = [
    "apiVersion", "kind", "partner", "service", "secrets", "specs", "scripts", "state", "listen",
    "policy", "notify", "doubt",
];
const PARTNER: [&str; 5] = ["name", "client_id", "client_secret", "redirect_uri", "plans"];
const PLAN: [&str; 2] = ["id", "trust"];
const SERVICE: [&str; 6] = ["base_url", "web_url", "portal_url", "brands", "ca_file", "timeout"];
const SECRETS: [&str; 3] = ["key", "env", "files"];
const POLICY: [&str; 1] = ["amounts"];
const DOUBT: [&str; 2] = ["grace", "contact"];

const fn secret(path: &'static str, doc: &'static str) -> Field {
    Field { path, privacy: Privacy::Secret, change: Change::Local, doc }
}

const PRIVATE: &[Field] = &[
    secret("partner.client_secret", "The partner's client secret."),
    secret("secrets.key", "The key of the vault."),
];

pub(super) fn parse(name: &str, dir: &Path, bytes: Vec<u8>) -> Result<Config, Broken> {
    let decoded = decode(bytes);
    let source = Source::new(Arc::from(name), Arc::from(decoded.text.as_str()));
    let mut reader = Reader {
        source: &source,
        dir: Arc::from(dir),
        findings: decoded.findings.clone(),
        variables: BTreeSet::new(),
    };
    let config = if decoded.is_good() { reader.file() } else { None };
    let Reader { findings, variables, .. } = reader;
    let (hidden, words) = private(&source);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut problems: Vec<Problem> =
        findings.iter().map(|finding| cleaned(source.problem(finding), &words)).collect();
    problems.sort();
    let good = problems.iter().all(|problem| problem.severity == Severity::Warning);
    match config {
        Some(config) if good => Ok(Config { warnings: problems, variables, ..config }),
        _ => {
            let source = MaskedSource::new(&source, &hidden);
            Err(Broken { file: Arc::from(name), problems, source })
        }
    }
}

/// The bytes that must not show, and their texts.
fn private(source: &Source) -> (Vec<std::ops::Range<usize>>, Vec<String>) {
    let rules = Rules::flat(PRIVATE);
    let (mut hidden, mut words) = (Vec::new(), Vec::new());
    for slice in split(&source.text).0 {
        let linted = lint(&source.text, &slice, Keep::All);
        match &linted.root {
            Some(root) if linted.complete => {
                for (range, word) in rules.private(root) {
                    hidden.push(range);
                    words.push(word.to_owned());
                }
            }
            _ => hidden.extend(private_lines(&source.text, &slice.range, rules.names(), &(0..0))),
        }
    }
    (hidden, words)
}

struct Reader<'a> {
    source: &'a Source,
    dir: Arc<Path>,
    findings: Vec<Finding>,
    variables: BTreeSet<String>,
}

impl Reader<'_> {
    fn file(&mut self) -> Option<Config> {
        let (slices, findings) = split(&self.source.text);
        self.findings.extend(findings);
        let [first, others @ ..] = slices.as_slice() else {
            self.find("reckon::config::empty", 0..0, "the file is empty", EMPTY_HELP);
            return None;
        };
        for other in others {
            let start = other.range.start;
            let (message, help) = ("the file has a second document", "keep everything in one");
            self.find("reckon::config::second_document", start..start.saturating_add(1), message, help);
        }
        let linted = lint(&self.source.text, first, Keep::All);
        let clean = linted.findings.is_empty();
        self.findings.extend(linted.findings);
        let root = linted.root.filter(|_| clean)?;
        if !matches!(root.value, NodeValue::Map(_)) {
            self.find("reckon::config::not_a_mapping", root.span, "the file is no mapping", EMPTY_HELP);
            return None;
        }
        Some(self.config(&root))
    }

    fn config(&mut self, root: &Node) -> Config {
        self.unknown(root, &TOP);
        self.constant(root, "apiVersion", API_VERSION);
        self.constant(root, "kind", "Config");
        self.section(root, "notify", &[]);
        Config {
            file: self.source.file.clone(),
            dir: self.dir.clone(),
            partner: self.partner(root),
            service: self.service(root),
            secrets: self.secrets(root),
            specs: self.folder(root, "specs", "specs"),
            scripts: self.folder(root, "scripts", "scripts"),
            state: self.folder(root, "state", ".reckon"),
            listen: self.setting::<SocketAddr>(root, "listen").unwrap_or(Setting::Literal(listen_default())),
            policy: self.policy(root),
            doubt: self.doubt(root),
            warnings: Vec::new(),
            variables: BTreeSet::new(),
        }
    }

    fn constant(&mut self, root: &Node, key: &str, expect: &str) {
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

    fn partner(&mut self, root: &Node) -> Partner {
        let Some(node) = self.section(root, "partner", &PARTNER) else {
            return Partner::default();
        };
        let plans = self.items(node, "plans");
        Partner {
            name: self.setting(node, "name"),
            client_id: self.setting(node, "client_id"),
            client_secret: self.setting(node, "client_secret"),
            redirect_uri: self.setting(node, "redirect_uri"),
            plans: plans.iter().filter_map(|plan| self.plan(plan)).collect(),
        }
    }

    fn plan(&mut self, node: &Node) -> Option<Plan> {
        if !matches!(node.value, NodeValue::Map(_)) {
            let help = "write `{id: basic, trust: false}`";
            self.find("reckon::config::value", node.span.clone(), "a plan is a mapping", help);
            return None;
        }
        self.unknown(node, &PLAN);
        let trust = self.setting(node, "trust").unwrap_or(Setting::Literal(false));
        let id = self.setting(node, "id");
        if id.is_none() && node.entry("id").is_none() {
            let help = "write the service's id of the plan: `id: …`";
            self.find("reckon::config::missing", node.span.clone(), "the plan has no `id`", help);
        }
        Some(Plan { id: id?, trust })
    }

    fn service(&mut self, root: &Node) -> Service {
        let default = Service::default();
        let Some(node) = self.section(root, "service", &SERVICE) else {
            return default;
        };
        let brands = self.items(node, "brands");
        Service {
            base_url: self.setting(node, "base_url"),
            web_url: self.setting(node, "web_url"),
            portal_url: self.setting(node, "portal_url"),
            brands: brands.iter().filter_map(|brand| self.scalar(brand, brand.span.clone())).collect(),
            ca_file: self.setting(node, "ca_file"),
            timeout: self.setting(node, "timeout").unwrap_or(default.timeout),
        }
    }

    fn secrets(&mut self, root: &Node) -> Secrets {
        let Some(node) = self.section(root, "secrets", &SECRETS) else {
            return Secrets::default();
        };
        let env = self.items(node, "env");
        Secrets {
            key: self.setting(node, "key"),
            env: env.iter().filter_map(|one| self.scalar(one, one.span.clone())).collect(),
            files: self.setting(node, "files"),
        }
    }

    fn policy(&mut self, root: &Node) -> Policy {
        let default = Policy::default();
        match self.section(root, "policy", &POLICY) {
            None => default,
            Some(node) => Policy { amounts: self.setting(node, "amounts").unwrap_or(default.amounts) },
        }
    }

    fn doubt(&mut self, root: &Node) -> Doubt {
        let default = Doubt::default();
        match self.section(root, "doubt", &DOUBT) {
            None => default,
            Some(node) => Doubt {
                grace: self.setting(node, "grace").unwrap_or(default.grace),
                contact: self.setting(node, "contact").unwrap_or(default.contact),
            },
        }
    }

    fn folder(&mut self, root: &Node, key: &str, default: &str) -> Setting<PathBuf> {
        self.setting(root, key).unwrap_or_else(|| Setting::Literal(self.dir.join(default)))
    }

    /// A mapping of the file with its known keys; left out or nothing is `None`.
    fn section<'n>(&mut self, parent: &'n Node, key: &str, known: &[&'static str]) -> Option<&'n Node> {
        let entry = parent.entry(key).filter(|entry| !entry.value.is_null())?;
        if matches!(entry.value.value, NodeValue::Map(_)) {
            self.unknown(&entry.value, known);
            return Some(&entry.value);
        }
        let message = format!("`{key}` is a mapping");
        self.find("reckon::config::value", shown(entry), &message, "write its fields beneath it");
        None
    }

    fn items<'n>(&mut self, parent: &'n Node, key: &str) -> &'n [Node] {
        let Some(entry) = parent.entry(key).filter(|entry| !entry.value.is_null()) else {
            return &[];
        };
        if !matches!(entry.value.value, NodeValue::Seq(_)) {
            let message = format!("`{key}` is a list");
            self.find("reckon::config::value", shown(entry), &message, "write `[…]`");
        }
        entry.value.items()
    }

    fn setting<T: FromText>(&mut self, parent: &Node, key: &str) -> Option<Setting<T>> {
        let entry = parent.entry(key).filter(|entry| !entry.value.is_null())?;
        self.scalar(&entry.value, shown(entry))
    }

    fn scalar<T: FromText>(&mut self, node: &Node, at: std::ops::Range<usize>) -> Option<Setting<T>> {
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

    fn unknown(&mut self, node: &Node, known: &[&'static str]) {
        for entry in node.entries().iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let message = format!("the key `{}` is unknown", entry.key);
            let help = nearest::help(&entry.key, known.iter().copied());
            self.find("reckon::config::unknown_key", entry.key_span.clone(), &message, &help);
        }
    }

    fn find(&mut self, code: &'static str, span: std::ops::Range<usize>, message: &str, help: &str) {
        self.findings.push(Finding::error(code, span, message, help));
    }
}

const EMPTY_HELP: &str = "start it with `apiVersion: reckon.dev/v1` and `kind: Config`";

/// What is underlined for an entry's value: a block beneath its key is named by the key.
fn shown(entry: &Entry) -> std::ops::Range<usize> {
    let block = entry.value.span.start > entry.key_span.end.saturating_add(2)
        && !matches!(entry.value.value, NodeValue::Scalar { .. });
    if entry.value.span.is_empty() || block { entry.key_span.clone() } else { entry.value.span.clone() }
}

fn no_scalar() -> Wrong {
    Wrong::new("one value belongs here", "write it, or name its variable: `{env: NAME}`")
}

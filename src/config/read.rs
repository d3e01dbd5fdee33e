//! Turns the bytes of the file into [`Config`], section by section, or into its problems.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use crate::config::events::EventSettings;
use crate::config::reader::ConfigReader;
use crate::config::setting::Setting;
use crate::config::settings::{
    Config, DoubtSettings, FILE_NAME, PartnerPlan, PartnerSettings, PolicySettings, Programs,
    SecretSettings, ServiceSettings, listen_default,
};
use crate::kinds::schema::kind::{Mutability, Privacy, SpecField};
use crate::kinds::secrets::secret_source::is_program;
use crate::model::issue::{PlacedIssue, Severity};
use crate::spec::document::without_private_words;
use crate::spec::header::API_VERSION;
use crate::spec::text::decode::decode;
use crate::spec::text::lint::{Keep, lint};
use crate::spec::text::mask::{MaskedSource, PrivacyRules, private_lines};
use crate::spec::text::node::{Node, NodeEntry, NodeValue};
use crate::spec::text::source::{SourceText, split};

const fn secret(path: &'static str, doc: &'static str) -> SpecField {
    SpecField { path, privacy: Privacy::Secret, mutability: Mutability::LocalOnly, doc }
}

const PRIVATE: &[SpecField] = &[
    secret("partner.client_secret", "The partner's client secret."),
    secret("secrets.key", "The key of the vault."),
    secret(
        "notify.url",
        "The address of a chat or program; the address alone is enough to write there.",
    ),
    secret("notify.password", "The password of a mail server."),
];

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is missing, or may not be read.
    #[error("failed to read {}: {source}", .file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    #[error("{} is invalid (problems: {})", .0.file, .0.problems.len())]
    Invalid(Box<InvalidConfig>),
}

/// The problems of a file, and its text for the snippets.
#[derive(Debug)]
pub struct InvalidConfig {
    /// The file's name in the problems.
    pub file: Arc<str>,
    pub problems: Vec<PlacedIssue>,
    /// The text with private values masked.
    pub source: MaskedSource,
}

impl Config {
    /// Reads the file.
    ///
    /// # Errors
    /// The file is missing, or has a mistake.
    pub fn load(file: &Path) -> Result<Self, LoadError> {
        let bytes = fs::read(file)
            .map_err(|source| LoadError::Unreadable { file: file.to_owned(), source })?;
        let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty());
        let name = file.file_name().map_or_else(|| FILE_NAME.into(), |name| name.to_string_lossy());
        Self::parse(&name, dir.unwrap_or(Path::new(".")), bytes)
            .map_err(|broken| LoadError::Invalid(Box::new(broken)))
    }

    /// Parses the file's bytes. `name` is the file's name in problems; paths start from `dir`.
    pub fn parse(name: &str, dir: &Path, bytes: Vec<u8>) -> Result<Self, InvalidConfig> {
        parse(name, dir, bytes)
    }
}

fn parse(name: &str, dir: &Path, bytes: Vec<u8>) -> Result<Config, InvalidConfig> {
    let decoded = decode(bytes);
    let source = SourceText::new(Arc::from(name), Arc::from(decoded.text.as_str()));
    let mut reader = ConfigReader {
        source: &source,
        dir: Arc::from(dir),
        findings: decoded.findings.clone(),
        variables: BTreeSet::new(),
    };
    let config = if decoded.is_good() { reader.file() } else { None };
    let ConfigReader { findings, variables, .. } = reader;
    let (hidden, words) = private_ranges(&source);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut problems: Vec<PlacedIssue> = findings
        .iter()
        .map(|finding| without_private_words(source.problem(finding), &words))
        .collect();
    problems.sort();
    let good = problems.iter().all(|problem| problem.severity == Severity::Warning);
    match config {
        Some(config) if good => Ok(Config { warnings: problems, variables, ..config }),
        _ => {
            let source = MaskedSource::new(&source, &hidden);
            Err(InvalidConfig { file: Arc::from(name), problems, source })
        }
    }
}

/// Returns the ranges to mask, and their texts.
fn private_ranges(source: &SourceText) -> (Vec<Range<usize>>, Vec<String>) {
    let rules = PrivacyRules::flat(PRIVATE);
    let (mut hidden, mut words) = (Vec::new(), Vec::new());
    for slice in split(&source.text).0 {
        let linted = lint(&source.text, &slice, Keep::All);
        match &linted.root {
            Some(root) if linted.complete => {
                for (range, word) in rules.private_leaves(root) {
                    hidden.push(range);
                    words.push(word.to_owned());
                }
            }
            _ => hidden.extend(private_lines(&source.text, &slice.range, rules.names(), &(0..0))),
        }
    }
    (hidden, words)
}

const EMPTY_HELP: &str = "start it with `apiVersion: reckon.dev/v1` and `kind: Config`";

impl ConfigReader<'_> {
    fn file(&mut self) -> Option<Config> {
        let (slices, findings) = split(&self.source.text);
        self.findings.extend(findings);
        let [first, others @ ..] = slices.as_slice() else {
            self.report("reckon::config::empty", 0..0, "the file is empty", EMPTY_HELP);
            return None;
        };
        for other in others {
            let start = other.range.start;
            let (message, help) = ("the file has a second document", "keep one document");
            self.report(
                "reckon::config::second_document",
                start..start.saturating_add(1),
                message,
                help,
            );
        }
        let linted = lint(&self.source.text, first, Keep::All);
        let clean = linted.findings.is_empty();
        self.findings.extend(linted.findings);
        let root = linted.root.filter(|_| clean)?;
        if !matches!(root.value, NodeValue::Map(_)) {
            self.report(
                "reckon::config::not_a_mapping",
                root.span,
                "the file is not a mapping",
                EMPTY_HELP,
            );
            return None;
        }
        Some(self.config(&root))
    }
}

const TOP: [&str; 19] = [
    "apiVersion",
    "kind",
    "partner",
    "service",
    "secrets",
    "specs",
    "scripts",
    "state",
    "state_mark",
    "listen",
    "public_listen",
    "public_url",
    "trusted_proxies",
    "webhooks",
    "policy",
    "notify",
    "events",
    "store",
    "doubt",
];
const PARTNER: [&str; 5] = ["name", "client_id", "client_secret", "redirect_uri", "plans"];
const PLAN: [&str; 2] = ["id", "trust"];
const SERVICE: [&str; 6] = ["base_url", "web_url", "portal_url", "brands", "ca_file", "timeout"];
const SECRETS: [&str; 6] = ["key", "env", "files", "attachments", "exec", "age"];
const AGE: [&str; 1] = ["file"];
const POLICY: [&str; 5] = ["amounts", "limits", "approvals", "prune", "scripts"];
const EVENTS: [&str; 1] = ["keep"];
const DOUBT: [&str; 2] = ["grace", "contact"];

impl ConfigReader<'_> {
    pub(crate) fn config(&mut self, root: &Node) -> Config {
        self.report_unknown_keys(root, &TOP);
        self.expect_constant(root, "apiVersion", API_VERSION);
        self.expect_constant(root, "kind", "Config");
        Config {
            file: self.source.file.clone(),
            dir: self.dir.clone(),
            partner: self.partner(root),
            service: self.service(root),
            secrets: self.secrets(root),
            specs: self.folder(root, "specs", "specs"),
            scripts: self.folder(root, "scripts", "scripts"),
            state: self.folder(root, "state", ".reckon"),
            state_mark: self.setting(root, "state_mark"),
            listen: self
                .setting::<SocketAddr>(root, "listen")
                .unwrap_or(Setting::Literal(listen_default())),
            public_listen: self.setting(root, "public_listen"),
            public_url: self.setting(root, "public_url"),
            trusted_proxies: self.read_networks(root, "trusted_proxies"),
            webhooks: self.read_webhooks(root),
            policy: self.policy(root),
            notify: self.read_notify(root),
            events: self.events(root),
            store: self.read_store(root),
            doubt: self.doubt(root),
            warnings: Vec::new(),
            variables: BTreeSet::new(),
        }
    }

    fn events(&mut self, root: &Node) -> EventSettings {
        let default = EventSettings::default();
        let Some(node) = self.section(root, "events", &EVENTS) else { return default };
        EventSettings { keep: self.setting(node, "keep").unwrap_or(default.keep) }
    }

    fn partner(&mut self, root: &Node) -> PartnerSettings {
        let Some(node) = self.section(root, "partner", &PARTNER) else {
            return PartnerSettings::default();
        };
        let plans = self.items(node, "plans");
        PartnerSettings {
            name: self.setting(node, "name"),
            client_id: self.setting(node, "client_id"),
            client_secret: self.setting(node, "client_secret"),
            redirect_uri: self.setting(node, "redirect_uri"),
            plans: plans.iter().filter_map(|plan| self.plan(plan)).collect(),
        }
    }

    fn plan(&mut self, node: &Node) -> Option<PartnerPlan> {
        if !matches!(node.value, NodeValue::Map(_)) {
            let help = "write `{id: basic, trust: false}`";
            self.report(
                "reckon::config::value",
                node.span.clone(),
                "a plan must be a mapping",
                help,
            );
            return None;
        }
        self.report_unknown_keys(node, &PLAN);
        let trust = self.setting(node, "trust").unwrap_or(Setting::Literal(false));
        let id = self.setting(node, "id");
        if id.is_none() && node.entry("id").is_none() {
            let help = "write the service's id of the plan: `id: …`";
            self.report("reckon::config::missing", node.span.clone(), "the plan has no `id`", help);
        }
        Some(PartnerPlan { id: id?, trust })
    }

    fn service(&mut self, root: &Node) -> ServiceSettings {
        let default = ServiceSettings::default();
        let Some(node) = self.section(root, "service", &SERVICE) else {
            return default;
        };
        let brands = self.items(node, "brands");
        ServiceSettings {
            base_url: self.setting(node, "base_url"),
            web_url: self.setting(node, "web_url"),
            portal_url: self.setting(node, "portal_url"),
            brands: brands
                .iter()
                .filter_map(|brand| self.scalar(brand, brand.span.clone()))
                .collect(),
            ca_file: self.setting(node, "ca_file"),
            timeout: self.setting(node, "timeout").unwrap_or(default.timeout),
        }
    }

    fn secrets(&mut self, root: &Node) -> SecretSettings {
        let Some(node) = self.section(root, "secrets", &SECRETS) else {
            return SecretSettings::default();
        };
        let env = self.items(node, "env");
        SecretSettings {
            key: self.setting(node, "key"),
            env: env.iter().filter_map(|one| self.scalar(one, one.span.clone())).collect(),
            files: self.setting(node, "files"),
            attachments: self.setting(node, "attachments"),
            exec: self.read_programs(node),
            age: self.read_identity(node),
        }
    }

    fn policy(&mut self, root: &Node) -> PolicySettings {
        let default = PolicySettings::default();
        match self.section(root, "policy", &POLICY) {
            None => default,
            Some(node) => PolicySettings {
                amounts: self.setting(node, "amounts").unwrap_or(default.amounts),
                limits: self.read_limits(node),
                approvals: self.read_approvals(node),
                prune: self.read_prune(node),
                scripts: self.script_rights(node),
            },
        }
    }

    fn doubt(&mut self, root: &Node) -> DoubtSettings {
        let default = DoubtSettings::default();
        match self.section(root, "doubt", &DOUBT) {
            None => default,
            Some(node) => DoubtSettings {
                grace: self.setting(node, "grace").unwrap_or(default.grace),
                contact: self.setting(node, "contact").unwrap_or(default.contact),
            },
        }
    }

    /// Reads `secrets.exec`.
    fn read_programs(&mut self, secrets: &Node) -> Programs {
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
    fn read_identity(&mut self, secrets: &Node) -> Option<Setting<PathBuf>> {
        let node = self.section(secrets, "age", &AGE)?;
        if node.entry("file").is_none_or(|entry| entry.value.is_null()) {
            let (message, help) = ("`age` names no file", "write `age: {file: NAME}`");
            self.report("reckon::config::missing", node.span.clone(), message, help);
        }
        self.setting(node, "file")
    }
}

//! Turns the bytes of the file into [`Config`], section by section, or into its problems.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use crate::config::events::{EventSettings, StoreSettings, WebhookSettings};
use crate::config::policy::PolicySettings;
use crate::config::reader::{ConfigReader, ReadField, Section, section, sorted};
use crate::config::setting::Setting;
use crate::config::settings::{
    Config, DoubtSettings, FILE_NAME, PartnerPlan, PartnerSettings, Programs, SecretSettings,
    ServiceSettings, listen_default,
};
use crate::kinds::schema::kind::{Mutability, Privacy, SpecField};
use crate::kinds::secrets::secret_source::is_program;
use crate::model::issue::PlacedIssue;
use crate::spec::header::API_VERSION;
use crate::spec::text::decode::decode;
use crate::spec::text::lint::{Keep, lint};
use crate::spec::text::mask::{MaskedSource, PrivacyRules, private_lines, without_private_words};
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
        let decoded = decode(bytes);
        let source = SourceText::new(Arc::from(name), Arc::from(decoded.text.as_str()));
        let mut reader = ConfigReader::new(&source, dir, &decoded);
        let config = if decoded.is_good() { reader.file() } else { None };
        let ConfigReader { findings, variables, .. } = reader;
        let (hidden, words) = private_ranges(&source);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let problems = findings.iter().map(|finding| source.problem(finding));
        let (problems, good) =
            sorted(problems.map(|problem| without_private_words(problem, &words)).collect());
        match config {
            Some(config) if good => Ok(Config { variables, ..config }),
            _ => {
                let source = MaskedSource::new(&source, &hidden);
                Err(InvalidConfig { file: Arc::from(name), problems, source })
            }
        }
    }
}

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

const TOP: &str = "apiVersion kind partner service secrets specs render scripts state state_mark listen \
    public_listen public_url trusted_proxies webhooks policy notify events store doubt";

section!(PartnerSettings: name, client_id, client_secret, redirect_uri, plans(read_plans));
section!(ServiceSettings: base_url, web_url, portal_url, brands, ca_file, timeout);
section!(SecretSettings: key, env, files, attachments, exec(read_programs), age(read_identity));
section!(PolicySettings:
    amounts, limits(read_limits), approvals(read_approvals), prune, scripts(script_rights), sync,
    zone(read_policy_zone), windows(read_windows), freezes(read_freezes));
section!(WebhookSettings: gateway, partner, rate, burst);
section!(EventSettings: keep);
section!(StoreSettings: compact, archive);
section!(DoubtSettings: grace, contact);

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
            let span = start..start.saturating_add(1);
            self.report("reckon::config::second_document", span, message, help);
        }
        let (code, message) = ("reckon::config::not_a_mapping", "the file is not a mapping");
        let root = self.root(first, code, message, EMPTY_HELP)?;
        Some(self.config(&root))
    }

    pub(crate) fn config(&mut self, root: &Node) -> Config {
        self.report_unknown_keys(root, &TOP.split(' ').collect::<Vec<_>>());
        self.expect_constant(root, "apiVersion", API_VERSION);
        self.expect_constant(root, "kind", "Config");
        Config {
            file: self.source.file.clone(),
            dir: self.dir.clone(),
            partner: self.top_section(root, "partner"),
            service: self.top_section(root, "service"),
            secrets: self.top_section(root, "secrets"),
            specs: self.folders(root, "specs", "specs"),
            render: self.list(root, "render"),
            scripts: self.folder(root, "scripts", "scripts"),
            state: self.folder(root, "state", ".reckon"),
            state_mark: self.setting(root, "state_mark"),
            listen: self.setting(root, "listen").unwrap_or(Setting::Literal(listen_default())),
            public_listen: self.setting(root, "public_listen"),
            public_url: self.setting(root, "public_url"),
            trusted_proxies: self.list(root, "trusted_proxies"),
            webhooks: self.top_section(root, "webhooks"),
            policy: self.top_section(root, "policy"),
            notify: self.read_notify(root),
            events: self.top_section(root, "events"),
            store: self.top_section(root, "store"),
            doubt: self.top_section(root, "doubt"),
            variables: BTreeSet::new(),
        }
    }

    fn top_section<T: Section + Default>(&mut self, root: &Node, key: &str) -> T {
        T::read_field(self, root, key, T::default())
    }

    fn read_plans(&mut self, partner: &Node) -> Vec<PartnerPlan> {
        self.items(partner, "plans").iter().filter_map(|plan| self.plan(plan)).collect()
    }

    fn plan(&mut self, node: &Node) -> Option<PartnerPlan> {
        if !matches!(node.value, NodeValue::Map(_)) {
            let help = "write `{id: basic, trust: false}`";
            self.invalid(node.span.clone(), "a plan must be a mapping", help);
            return None;
        }
        self.report_unknown_keys(node, &["id", "trust"]);
        let trust = self.setting(node, "trust").unwrap_or(Setting::Literal(false));
        let id = self.setting(node, "id");
        if id.is_none() && node.entry("id").is_none() {
            let help = "write the service's id of the plan: `id: …`";
            self.missing(node.span.clone(), "the plan has no `id`", help);
        }
        Some(PartnerPlan { id: id?, trust })
    }

    fn read_programs(&mut self, secrets: &Node) -> Programs {
        let Some(entry) = secrets.present("exec") else { return Programs::new() };
        if !matches!(entry.value.value, NodeValue::Map(_)) {
            let help = "write `{card-of-jane: [/usr/bin/vault, kv, get, jane]}`";
            let message = "`exec` must be a mapping of names to programs";
            self.invalid(entry.value.span.clone(), message, help);
        }
        let programs = entry.value.entries().iter();
        programs.map(|entry| (entry.key.clone(), self.read_program(entry))).collect()
    }

    /// Reads one program: `[PROGRAM, ARGUMENT …]`.
    fn read_program(&mut self, entry: &NodeEntry) -> Vec<Setting<String>> {
        if !is_program(&entry.key) {
            let message = format!("`{}` cannot be the name of a program", entry.key);
            let help = "write letters, digits, `-`, `_` and `.`, such as `card-of-jane`";
            self.invalid(entry.key_span.clone(), &message, help);
        }
        let items = entry.value.items();
        if items.is_empty() {
            let help = "write a list, such as `[/usr/bin/vault, kv, get, jane]`; no shell reads it";
            let message = "a program must be a list: the program itself, then its arguments";
            self.invalid(entry.key_span.clone(), message, help);
        }
        self.scalars(items)
    }

    fn read_identity(&mut self, secrets: &Node) -> Option<Setting<PathBuf>> {
        let node = self.section(secrets, "age", &["file"])?;
        if node.present("file").is_none() {
            let (message, help) = ("`age` names no file", "write `age: {file: NAME}`");
            self.missing(node.span.clone(), message, help);
        }
        self.setting(node, "file")
    }
}

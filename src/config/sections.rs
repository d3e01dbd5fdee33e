//! Lists the keys of the file and reads each section.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use super::settings::{
    Config, DoubtSettings, EventSettings, PartnerPlan, PartnerSettings, PolicySettings,
    SecretSettings, ServiceSettings, listen_default,
};
use crate::config::reader::ConfigReader;
use crate::config::setting::Setting;
use crate::spec::documents::header::API_VERSION;
use crate::spec::text::node::{Node, NodeValue};

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
}

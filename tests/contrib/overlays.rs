//! A repository with overlays for test and live, rendered by a program of the operators: `reckon-ci` leads from a pull
//! request to the invoice that its payer paid, in both modes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Method, Request, header};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::connection::Connection;
use crate::control;
use crate::forge::Forge;
use crate::pipeline::{ci, needs_programs, text};
use crate::support::running::{self, Running};

/// Prints the documents of the base and of one overlay, with the overlay's replacements.
const RENDER: &str = "#!/bin/sh\nset -eu\nfor file in base/*.yaml \"$1\"/*.yaml; do printf -- '---\\n'; \
    sed -f \"$1/replacements.sed\" \"$file\"; done\n";

const JANE: &str = "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: jane}\n\
    spec: {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}\n";

/// The invoice of the pull request; each overlay has an amount of its own.
const RETAINER: &str = "apiVersion: reckon.dev/v1\nkind: Invoice\nmetadata: {name: retainer}\nspec:\n  merchant: acme\n  \
    contact: jane\n  bank_account: Operating\n  invoice_date: 2030-01-15\n  \
    line_items: [{description: Retainer, rate_per_quantity: \"RETAINER\"}]\n";

/// Each mode with its amount, and the amount in minor units.
const MODES: [(&str, &str, u64); 2] = [("test", "12.00 USD", 1200), ("live", "125.00 USD", 12_500)];

/// A sandbox, the machines of two daemons, a runner, and the repository that all of them clone.
struct Site {
    root: tempfile::TempDir,
    sandbox: Running,
    environment: Vec<(String, String)>,
    daemons: BTreeMap<&'static str, Running>,
}

pub(crate) fn from_request_to_paid() -> Result<(), String> {
    needs_programs()?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(request_to_paid());
    Ok(())
}

async fn request_to_paid() {
    let mut site = Site::set().await;
    site.start_daemons();
    let forge = Forge::start("hello");

    site.git("author", &["switch", "-q", "-c", "retainer"]);
    site.write("author/base/retainer.yaml", RETAINER);
    site.commit("retainer");
    site.check_out("runner", "origin/retainer");
    for (mode, amount, _) in MODES {
        site.succeeds(mode, "validate", &forge);
        site.succeeds(mode, "plan", &forge);
        let (_, comment) = forge.comments().pop().unwrap();
        assert!(comment.starts_with(&format!("<!-- reckon plan {mode} -->\n**{mode}**\n")));
        assert!(comment.contains("Invoice/retainer") && comment.contains(amount), "{comment}");
    }
    site.succeeds("test", "plan", &forge);
    assert_eq!(forge.comments().len(), 3, "a person's comment, and one for each overlay");
    let early = site.ci("test", "apply", &forge, &[]);
    assert_eq!(early.status.code(), Some(1), "{}", text(&early.stderr));
    assert!(text(&early.stderr).contains("rendered output"), "{}", text(&early.stderr));

    site.git("author", &["switch", "-q", "main"]);
    site.git("author", &["merge", "-q", "--ff-only", "retainer"]);
    site.check_out("runner", "origin/main");
    for (mode, ..) in MODES {
        site.check_out(mode, "origin/main");
        site.there(mode, &["reconcile"]);
    }
    site.succeeds("test", "apply", &forge);
    assert_eq!(site.amounts().await, [1200]);
    let blocked = site.ci("live", "apply", &forge, &[]);
    assert_eq!(blocked.status.code(), Some(3), "{}", text(&blocked.stderr));
    assert_eq!(site.amounts().await, [1200], "a limit holds live money back");
    let approved = site.ci("live", "apply", &forge, &[("RECKON_APPROVE", "yes")]);
    assert!(approved.status.success(), "{}{}", text(&approved.stdout), text(&approved.stderr));
    assert_eq!(site.amounts().await, [1200, 12_500]);

    for (mode, _, amount) in MODES {
        site.pay(mode, amount).await;
        site.there(mode, &["events", "resync", "--since", "1h"]);
        let shown: Value =
            serde_json::from_str(&site.there(mode, &["events", "list", "-o", "json"])).unwrap();
        let is_payment = |event: &Value| {
            event["type"].as_str().unwrap().starts_with("transaction.")
                && event["object"]["amount"] == json!(amount)
        };
        assert!(shown["items"].as_array().unwrap().iter().any(is_payment), "{shown}");
        let plan = site.there(mode, &["plan", "--refresh"]);
        assert!(plan.contains("Nothing to do"), "{plan}");
    }
}

impl Site {
    async fn set() -> Self {
        let root = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
        command.env_clear().args(["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state"]);
        command.arg(root.path().join("sandbox")).stderr(Stdio::null());
        let sandbox = Running::start(command);
        let known = running::credentials(sandbox.address).await;
        let partner = |field: &str| known["partner"][field].as_str().unwrap().to_owned();
        let environment = vec![
            ("CLIENT_ID".to_owned(), partner("client_id")),
            ("CLIENT_SECRET".to_owned(), partner("client_secret")),
            ("CODE_TEST".to_owned(), running::code(sandbox.address, "acme").await),
            ("CODE_LIVE".to_owned(), running::code(sandbox.address, "acme").await),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ];
        let site = Self { root, sandbox, environment, daemons: BTreeMap::new() };
        site.write_repository();
        for (mode, ..) in MODES {
            site.write_machine(mode, &partner("redirect_uri"));
            let runner = format!(
                "apiVersion: reckon.dev/v1\nkind: Config\npartner: {{name: acme-{mode}}}\n\
                 specs: {{env: RECKON_SPECS}}\nsecrets: {{env: [CODE_*]}}\nrender: [./render, overlays/{mode}]\npolicy: {{amounts: decimal}}\n"
            );
            site.write(&format!("runner/{mode}.yaml"), &runner);
        }
        site
    }

    fn write_repository(&self) {
        self.write("author/base/jane.yaml", JANE);
        for (mode, amount, _) in MODES {
            let merchant = format!(
                "apiVersion: reckon.dev/v1\nkind: Merchant\nmetadata: {{name: acme}}\nspec: {{mode: {mode}, \
                 timezone: America/Chicago, credentials: {{authorization_code: {{env: CODE_{}}}}}}}\n",
                mode.to_uppercase()
            );
            self.write(&format!("author/overlays/{mode}/acme.yaml"), &merchant);
            let replaced = format!("s/RETAINER/{amount}/\n");
            self.write(&format!("author/overlays/{mode}/replacements.sed"), &replaced);
        }
        self.git("author", &["init", "-q", "-b", "main"]);
        self.commit("the tree");
        for clone in ["test", "live", "runner"] {
            self.write(&format!("{clone}/render"), RENDER);
            let program = self.path(&format!("{clone}/render"));
            fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
            self.git(clone, &["clone", "-q", "../author", "documents"]);
        }
    }

    /// Writes the configuration of a daemon, outside its checkout.
    fn write_machine(&self, mode: &str, redirect: &str) {
        let service = self.sandbox.address;
        let config = format!(
            "apiVersion: reckon.dev/v1\nkind: Config\n\
             partner:\n  name: acme-{mode}\n  client_id: {{env: CLIENT_ID}}\n  client_secret: {{env: CLIENT_SECRET}}\n  \
             redirect_uri: {redirect}\n\
             service: {{base_url: 'http://{service}', web_url: 'http://{service}', timeout: 5s}}\n\
             secrets: {{env: [CODE_*]}}\nspecs: documents\nrender: [./render, overlays/{mode}]\nstate: state\n\
             policy: {{amounts: decimal, limits: {{live: {{per_object: ['100.00 USD']}}}}}}\n\
             doubt: {{grace: 1s}}\nlisten: 127.0.0.1:0\n"
        );
        self.write(&format!("{mode}/reckon.yaml"), &config);
    }

    /// Starts both daemons, and waits for what the repository has before the pull request.
    fn start_daemons(&mut self) {
        for (mode, ..) in MODES {
            let mut command = self.on(mode, &["run"]);
            command.stderr(Stdio::null());
            self.daemons.insert(mode, Running::start(command));
            self.there(mode, &["reconcile"]);
            self.there(mode, &["wait", "--for", "ready", "Contact/jane", "--timeout", "1m"]);
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, folder: &str, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.current_dir(self.path(folder));
        command.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        assert!(command.args(arguments).stdout(Stdio::null()).status().unwrap().success());
    }

    fn commit(&self, message: &str) {
        self.git("author", &["add", "-A"]);
        self.git("author", &["commit", "-q", "-m", message]);
    }

    fn check_out(&self, machine: &str, revision: &str) {
        let folder = format!("{machine}/documents");
        self.git(&folder, &["fetch", "-q"]);
        self.git(&folder, &["checkout", "-q", "--detach", revision]);
    }

    /// Returns a command on the machine of a daemon.
    fn on(&self, mode: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
        command.current_dir(self.path(mode)).env_clear().args(["--config", "reckon.yaml"]);
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command there, which may end with something that waits for a person, and returns its output.
    fn there(&self, mode: &str, arguments: &[&str]) -> String {
        let output = self.on(mode, arguments).stdin(Stdio::null()).output().unwrap();
        let said = [output.stdout.as_slice(), &output.stderr].concat();
        assert!(
            matches!(output.status.code(), Some(0 | 3)),
            "{mode} {arguments:?}: {}",
            text(&said)
        );
        text(&output.stdout)
    }

    /// Runs a step of the pipeline on the runner, for one overlay.
    fn ci(&self, mode: &str, step: &str, forge: &Forge, extra: &[(&str, &str)]) -> Output {
        let token = fs::read_to_string(self.path(&format!("{mode}/state/api.token"))).unwrap();
        let token = token.split_whitespace().last().unwrap().to_owned();
        let server = format!("http://{}", self.daemons[mode].address);
        let config = self.path(&format!("runner/{mode}.yaml"));
        let checkout = self.path("runner/documents");
        let own = [
            ("RECKON_CONFIG", config.to_str().unwrap()),
            ("RECKON_SPECS", checkout.to_str().unwrap()),
            ("RECKON_OVERLAY", mode),
            ("RECKON_SERVER", &server),
            ("RECKON_TOKEN", &token),
        ];
        ci(&checkout, step, forge, &[&own[..], extra].concat())
    }

    fn succeeds(&self, mode: &str, step: &str, forge: &Forge) {
        let ended = self.ci(mode, step, forge, &[]);
        let said = [ended.stdout.as_slice(), &ended.stderr].concat();
        assert!(ended.status.success(), "{mode} {step}: {}", text(&said));
    }

    async fn invoices(&self) -> Vec<Value> {
        let path = "/_sandbox/objects/invoices";
        let all = control::ask(self.sandbox.address, Method::GET, path, None).await.unwrap();
        let lines = all.lines().filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the amounts of all invoices at the service, smallest first.
    async fn amounts(&self) -> Vec<u64> {
        let invoices = self.invoices().await;
        let mut amounts: Vec<u64> =
            invoices.iter().map(|one| one["total_amount_due"].as_u64().unwrap()).collect();
        amounts.sort_unstable();
        amounts
    }

    /// Pays the invoice of this amount in the portal, as its payer does.
    async fn pay(&self, mode: &str, amount: u64) {
        let known = running::credentials(self.sandbox.address).await;
        let merchants = known["merchants"].as_array().unwrap();
        let acme = merchants.iter().find(|one| one["name"] == "acme").unwrap();
        let key = STANDARD.encode(format!("{}:", acme[mode]["public_key"].as_str().unwrap()));
        let card =
            json!({"type": "card", "number": "4242424242424242", "exp_month": 1, "exp_year": 2039});
        let post = |path: String, kind: &str, body: String| {
            Request::post(path)
                .header(header::HOST, self.sandbox.address.to_string())
                .header(header::AUTHORIZATION, format!("Basic {key}"))
                .header(header::CONTENT_TYPE, kind)
                .body(Full::new(Bytes::from(body)))
                .unwrap()
        };
        let mut service = Connection::new(self.sandbox.address);
        let asked = post("/v1/tokens".to_owned(), "application/json", card.to_string());
        let token = service.send(asked).await.unwrap();
        let token: Value = serde_json::from_slice(token.body()).unwrap();
        let invoices = self.invoices().await;
        let due = invoices.iter().find(|one| one["total_amount_due"] == json!(amount)).unwrap();
        let path = format!("/invoices/{}/payments", due["id"].as_str().unwrap());
        let form = format!("token_id={}", token["id"].as_str().unwrap());
        let paid =
            service.send(post(path, "application/x-www-form-urlencoded", form)).await.unwrap();
        assert_eq!(paid.status(), 303, "{token}");
        let invoices = self.invoices().await;
        let paid = invoices.iter().find(|one| one["id"] == due["id"]).unwrap();
        assert_eq!((&paid["status"], &paid["test_mode"]), (&json!("paid"), &json!(mode == "test")));
    }
}

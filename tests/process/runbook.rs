//! Each quote of the runbook is provoked in a sandbox.

use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};

use crate::control;
use crate::server::TREE;
use crate::server::stage::Stage;
use crate::support::pages::{Reader, words};

/// Longer than any step takes on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);
const CHARGE: &str = "apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: NAME-card}
spec:
  merchant: acme
  type: card
  source:
    card: {number: 'NUMBER', exp_month: 9, exp_year: 2034, name: Payer, postal_code: '60302'}
---
apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: NAME-lessons}
spec:
  merchant: acme
  method: NAME-card
  amount: 45.00 USD
  FIRST
";
const INVOICE: &str = "apiVersion: reckon.dev/v1
kind: Invoice
metadata: {name: NAME}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2030-02-15
  line_items: [{description: Retainer, rate_per_quantity: AMOUNT}]
";
const HELD: &str = "apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: cy, annotations: {reckon.dev/on-doubt: hold}}
spec: {merchant: acme, first_name: Cy, last_name: Roy, email_addresses: [{address: cy@example.com}]}
";
const FAILING: &str = "fn on_recurring_charge_occurrence_failed(event) {
    let code = event.data.transactions[7].failure_code;
    log(code);
}
";

/// A daemon in trouble, and the quotes that nobody has seen yet.
struct Trouble {
    reader: Reader,
    quotes: Vec<String>,
}

/// Returns the quotes of the runbook as words; a quote ends at `…`.
fn quotes() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operations/runbook.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    let quoted = blocks.filter_map(|block| block.split('…').next());
    quoted.map(|quote| words(quote).join(" ")).collect()
}

impl Trouble {
    /// Starts a daemon in a new tree with a healthy charge.
    fn start() -> Self {
        let reader = Reader::new();
        reader.run("reckon init");
        let plain = fs::read_to_string(reader.path("reckon.yaml")).unwrap();
        let plain = plain.replace("https://127", "http://127").replace("  ca_file", "  # ca_file");
        reader.write("reckon.yaml", &plain.replace("timeout: 30s", "timeout: 3s"));
        let first = "schedule: {start: 2030-01-07, interval_unit: MONTH, interval_delay: 1}";
        let mut trouble = Self { reader, quotes: quotes() };
        trouble.charge("ana", "4242424242424242", first);
        trouble.begin();
        trouble.shows("reckon get", "5 resources: 5 ready");
        trouble
    }

    /// Starts the daemon and waits until it listens. A command that reads the state before would hold its lock.
    fn begin(&mut self) {
        self.reader.start("reckon run --sandbox");
        let until = Instant::now().checked_add(PATIENCE).unwrap();
        while !fs::read_to_string(self.reader.path("output")).unwrap().contains("listening") {
            assert!(Instant::now() < until, "the daemon did not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn charge(&self, name: &str, number: &str, first: &str) {
        let text = CHARGE.replace("NAME", name).replace("NUMBER", number);
        self.reader.write(&format!("specs/{name}.yaml"), &text.replace("FIRST", first));
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.reader.path(file)).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        self.reader.write(file, &text.replace(from, to));
    }

    /// Returns the address of the sandbox.
    fn sandbox(&self) -> SocketAddr {
        let text = fs::read_to_string(self.reader.path(".reckon/addresses.json")).unwrap();
        let addresses: Value = serde_json::from_str(&text).unwrap();
        addresses["sandbox"].as_str().unwrap().trim_start_matches("http://").parse().unwrap()
    }

    async fn fault(&self, fault: &Value) {
        let path = "/_sandbox/faults";
        let made = control::json(self.sandbox(), Method::POST, path, Some(fault)).await;
        made.expect("the fault is set");
    }

    async fn no_faults(&self) {
        let path = "/_sandbox/faults";
        let ended = control::json(self.sandbox(), Method::DELETE, path, None).await;
        ended.expect("the faults end");
    }

    /// Runs a command until its output or the daemon's has a text.
    fn shows(&mut self, command: &str, text: &str) {
        let expect = words(text).join(" ");
        let until = Instant::now().checked_add(PATIENCE).unwrap();
        loop {
            let output = fs::read_to_string(self.reader.path("output")).unwrap_or_default();
            let real = words(&format!("{} {output}", self.reader.run(command))).join(" ");
            self.quotes.retain(|quote| !real.contains(quote));
            if real.contains(&expect) {
                return;
            }
            assert!(Instant::now() < until, "`{command}` shows\n{real}\nand not\n{expect}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Provokes the quotes of payers, scripts, limits and the configuration.
    fn provoke_people(&mut self) {
        let first = "first_charge: now\n  schedule: {interval_unit: MONTH, interval_delay: 1}";
        self.charge("omar", "4000000000000002", first);
        self.shows("reckon status", "RecurringCharge/omar-lessons Refused specs/omar.yaml:10");
        self.reader.write("scripts/bad.rhai", FAILING);
        self.shows("reckon hooks list", "bad in use since");
        self.reader.run("reckon events trigger recurring_charge.occurrence.failed");
        self.shows("reckon status", "RecurringCharge/ana-lessons PaymentFailed");
        self.shows("reckon events failed", "Failed, will be retried:");
        self.reader.write("scripts/broken.rhai", "fn on_x(event) { }\n");
        self.shows("reckon status", "the last valid ones stay in use");
        fs::remove_file(self.reader.path("scripts/broken.rhai")).unwrap();
        self.edit("reckon.yaml", "policy:\n", "policy:\n  limits: {per_object: [200.00 USD]}\n");
        self.write_invoice("big", "jane-big", "900.00 USD");
        self.shows("reckon status", "Invoice/jane-big OverLimit");
        self.edit("reckon.yaml", "\nlisten:", "\nlisen:");
        self.shows("reckon status", "reckon.yaml is not reloaded");
        self.edit("reckon.yaml", "\nlisen:", "\nlisten:");
    }

    fn write_invoice(&self, file: &str, name: &str, amount: &str) {
        let text = INVOICE.replace("NAME", name).replace("AMOUNT", amount);
        self.reader.write(&format!("specs/{file}.yaml"), &text);
    }

    /// Provokes the quotes of a service that loses answers, refuses credentials, and is silent.
    async fn provoke_service(&mut self) {
        let lost =
            json!({"fault": "drop_after", "times": 1, "method": "POST", "path": "/contacts"});
        self.fault(&lost).await;
        self.reader.write("specs/cy.yaml", HELD);
        self.shows("reckon status", "Contact/cy Held");
        self.shows("reckon intents", "Needs attention: nothing is sent until you resolve it.");
        self.fault(&json!({"fault": "error_before", "status": 401})).await;
        self.edit("specs/ana.yaml", "45.00 USD", "46.00 USD");
        self.shows("reckon status", "Merchant/acme AwaitsAuthorization");
        self.no_faults().await;
        self.reader.run("reckon reconcile Merchant/acme");
        self.fault(&json!({"fault": "error_before", "status": 503})).await;
        let lena =
            |at| INVOICE.replace("NAME", &format!("lena-{at}")).replace("AMOUNT", "80.00 USD");
        let many: Vec<String> = (1..15).map(lena).collect();
        let tree = |some: &[String]| format!("---\n{}", some.join("---\n"));
        self.reader.write("specs/lena.yaml", &tree(&many[..1]));
        self.shows("reckon status", "Invoice/lena-1 InDoubt");
        self.reader.write("specs/lena.yaml", &tree(&many[..]));
        self.shows("reckon status", "next try in");
        self.shows("reckon intents", "the same bytes are sent again");
        self.no_faults().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_quote_of_the_runbook_is_what_an_operator_sees() {
    let mut trouble = Trouble::start();
    assert!(trouble.quotes.len() > 12, "{} quotes", trouble.quotes.len());
    trouble.provoke_people();
    trouble.provoke_service().await;
    trouble.reader.kill();
    trouble.shows("reckon status", "no daemon runs");
    for part in ["journal", "vault", "sled"] {
        fs::remove_dir_all(trouble.reader.path(".reckon").join(part)).unwrap();
    }
    fs::remove_file(trouble.reader.path(".reckon/id")).unwrap();
    trouble.begin();
    trouble.shows("reckon status", "Merchant/acme UnknownMarks");
    assert_eq!(trouble.quotes, Vec::<String>::new(), "nobody has seen these quotes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_differs_from_the_service_s_is_told() {
    let mut stage = Stage::set(TREE, "").await;
    let turned = json!({"advance": "PT3H5M"});
    let path = "/_sandbox/clock";
    let turned = control::json(stage.sandbox(), Method::POST, path, Some(&turned)).await;
    assert!(turned.is_ok(), "{turned:?}");
    stage.start();
    stage.there(&["wait", "--for", "ready", "Contact/jane", "--timeout", "1m"]);
    let (_, status) = stage.there(&["status"]);
    let words: Vec<&str> = status.split_whitespace().collect();
    let told = "Clock 3h behind the service's: correct it";
    assert!(words.join(" ").contains(told), "{status}");
}

//! Text from outside: a service that repeats every request leaks no value of it into files or output.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::canaries::mirror::{Manner, Mirror};
use crate::canaries::{config, merchant};
use crate::control;
use crate::support::canaries::Canaries;
use crate::support::running;
use crate::support::running::{Running, Stand};
use reckon::api::call::{Auth, Call, Host};
use reckon::base::clock::SystemClock;
use reckon::client::request::{Access, ServiceConfig};
use reckon::client::service_client::Client;
use reckon::client::transport::{FaultlessWire, Transport};

/// Values of documents. The test searches all files and outputs for each.
const PLANTED: [(&str, &str); 9] = [
    ("the card", "4012000010000"),
    ("the account", "9988776655"),
    ("the name on the card", "Quirinalda"),
    ("the name on the account", "Theodoranna"),
    ("the street", "Elderberry"),
    ("the contact's first name", "Ermintrudis"),
    ("the contact's last name", "Featherstone"),
    ("the address of the contact", "ermintrudis@payer.example"),
    ("the tax id", "123456780"),
];

fn specs() -> String {
    let head = "---\napiVersion: reckon.dev/v1\n";
    let method = |name: &str, kind: &str, source: &str| {
        format!(
            "{head}kind: SavedMethod\nmetadata: {{name: {name}}}\nspec: {{merchant: env, type: {kind}, source: {{{kind}: {source}}}}}\n"
        )
    };
    let card = "{number: {env: OPEN_NUMBER}, exp_month: 11, exp_year: 2032, name: Quirinalda Moss, address1: 12 Elderberry Road, \
                city: Elmhurst, state: IL, postal_code: '60126'}";
    let bank = "{account_number: {env: OPEN_ACCOUNT}, routing_number: '000000013', account_type: CHECKING, \
                given_name: Theodoranna, surname: Moss}";
    let contact = format!(
        "{head}kind: Contact\nmetadata: {{name: payer}}\nspec:\n  merchant: env\n  first_name: Ermintrudis\n  last_name: Featherstone\n  \
         email_addresses: [{{address: ermintrudis@payer.example}}]\n"
    );
    [
        merchant("env", "authorization_code: {env: OPEN_CODE}"),
        method("card", "card", card),
        method("bank", "bank", bank),
        contact,
    ]
    .concat()
}

/// Runs every command that shows known data to a person or a program.
fn look(stand: &mut Stand<'_>) {
    for form in ["text", "json", "yaml", "markdown"] {
        stand.run(&["-vvv", "plan", "-o", form], "");
        stand.run(&["validate", "-o", form], "");
    }
    for form in ["text", "json", "yaml"] {
        stand.run(&["get", "-o", form], "");
        stand.run(&["intents", "-o", form], "");
        for key in ["SavedMethod/card", "SavedMethod/bank", "Contact/payer", "Merchant/env"] {
            stand.run(&["describe", key, "-o", form], "");
            stand.run(&["why", key, "-o", form], "");
        }
    }
}

/// Runs effects and all sorts of reads against a service that repeats every request.
fn ask(stand: &mut Stand<'_>) {
    let merchant = ["--merchant", "env"];
    // A person types the card's number in the place of the card's name, with and without blanks.
    let (method, apart) = ("4012000010000", "4012 0000 10000");
    // The card's document is not saved, so the service's answer takes the place of an id.
    let saved = "card_of_the_payer_000001";
    let acts: [&[&str]; 8] = [
        &["charge", "--amount", "1.00 USD", "--method", method, "--reference", "for Ermintrudis"],
        &["credit", "--amount", "1.00 USD", "--method", method],
        &["charge", "--amount", "1.00 USD", "--method", apart],
        &["refund", "tx_quoted_1", "--amount", "1.00 USD", "--method", method],
        &["charge", "--amount", "1.00 USD", "--method", saved],
        &["refund", "tx_quoted_1"],
        &["void", "tx_quoted_1"],
        &["sign", "tx_quoted_1", "--data", "-"],
    ];
    for (number, act) in acts.iter().enumerate() {
        let name = format!("act-{number}-{}", stand.said.len());
        let rest = ["--yes", "--name", &name];
        stand.run(&[&["-vvv", "gateway"], *act, &merchant, &rest].concat(), "[[1,2]]");
    }
    for read in ["card.list", "transaction.list", "event.list", "merchant.read"] {
        stand.run(&[&["-vvv", "gateway", "get", read, "-o", "json"], &merchant[..]].concat(), "");
    }
}

async fn set_up(
    stand: &mut Stand<'_>,
    sandbox: SocketAddr,
    mirror: &Mirror,
    canaries: &mut Canaries,
) {
    crate::canaries::set_up(stand, sandbox, canaries).await;
    let redirect = std::fs::read_to_string(stand.folder.join("reckon.yaml")).unwrap();
    let redirect = redirect.lines().find(|line| line.contains("redirect_uri")).unwrap().trim();
    let config =
        config(mirror.address).replace("redirect_uri: https://partner.example/callback", redirect);
    stand.write("reckon.yaml", &config);
    let code = running::code(sandbox, "env").await;
    canaries.plant("the code", &code);
    stand.environment.extend([
        ("OPEN_CODE".to_owned(), code),
        ("OPEN_NUMBER".to_owned(), "4012000010000".to_owned()),
        ("OPEN_ACCOUNT".to_owned(), "9988776655".to_owned()),
    ]);
    stand.write("specs/all.yaml", &specs());
    for (name, value) in PLANTED {
        canaries.plant(name, value);
    }
}

/// Returns every canary in the files and outputs.
fn found(stand: &Stand<'_>, canaries: &Canaries, folder: &Path) -> Vec<String> {
    let mut found = canaries.in_folder(&folder.join(".reckon"));
    for (what, printed) in &stand.said {
        found.extend(canaries.in_bytes(&format!("`{what}`"), printed));
    }
    found
}

/// Closes S2: a service that repeats its requests leaks nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_repeats_its_requests_carries_nothing_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (mut canaries, mut stand) =
        (Canaries::default(), Stand { folder, environment: Vec::new(), said: Vec::new() });
    let kept = folder.join("sandbox").display().to_string();
    let sandbox =
        stand.command(&["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state", &kept]);
    let sandbox = Running::start(sandbox);
    let mirror = Mirror::before(sandbox.address).await;
    set_up(&mut stand, sandbox.address, &mirror, &mut canaries).await;

    // The first call to be refused and repeated is the exchange of the code, which carries the client secret.
    for manner in [Manner::Page, Manner::Refuses(503), Manner::Refuses(429)] {
        mirror.answers(manner);
        stand.run(&["-vvv", "apply", "--yes"], "");
        look(&mut stand);
    }
    let repeated = mirror.repeated();
    let said = stand.said.iter().find(|(what, _)| what.contains("apply"));
    let said = said.map(|(_, said)| String::from_utf8_lossy(said).into_owned());
    assert!(repeated.iter().any(|asked| asked.ends_with("/oauth/token")), "{repeated:?} {said:?}");
    mirror.answers(Manner::Honest);
    let code = running::code(sandbox.address, "env").await;
    stand.environment.retain(|(name, _)| name != "OPEN_CODE");
    canaries.plant("the second code", &code);
    stand.environment.push(("OPEN_CODE".to_owned(), code));
    stand.write(
        "specs/all.yaml",
        &specs().replace("{name: env}", "{name: env, annotations: {reckon.dev/generation: '2'}}"),
    );
    let printed = stand.ends(&["-vvv", "apply", "--yes", "--target", "Merchant/env"], 0);
    assert!(printed.contains("  trace  "), "{printed}");
    let known = running::credentials(sandbox.address).await;
    for merchant in known["merchants"].as_array().unwrap() {
        let key = merchant["test"]["secret_key"].as_str().unwrap();
        canaries.plant(&format!("the secret key of {}", merchant["name"]), key);
    }

    for manner in [
        Manner::Refuses(422),
        Manner::Refuses(404),
        Manner::Refuses(409),
        Manner::RefusesChanges(422),
        Manner::Page,
        Manner::Repeats,
        Manner::Refuses(500),
    ] {
        mirror.answers(manner);
        let (code, _) = stand.run(&["-vvv", "apply", "--yes"], "");
        let printed =
            stand.said.last().map(|(_, printed)| String::from_utf8_lossy(printed).into_owned());
        assert!(code != 0 && code != 5, "{manner:?}: {code} {printed:?}");
        ask(&mut stand);
        look(&mut stand);
    }
    let repeated = mirror.repeated();
    let posts = ["v1/cards", "v1/banks", "contacts", "v1/charges", "v1/transactions"];
    for asked in posts.map(|path| format!("POST /{path}")) {
        assert!(repeated.iter().any(|one| one.starts_with(&asked)), "{asked}: {repeated:?}");
    }
    daemon(&mut stand).await;
    let backup = folder.join("backup").display().to_string();
    stand.run(&["store", "backup", &backup], "");
    let mut found = found(&stand, &canaries, folder);
    found.extend(canaries.in_folder(&folder.join("backup")));
    assert_eq!(found, Vec::<String>::new());
    let long =
        stand.said.iter().find(|(what, text)| what.contains("plan -o") && text.len() > 30_000);
    let long = long.map(|(what, text)| (what, text.len()));
    assert!(long.is_none(), "no plan exceeds 30,000 bytes: {long:?}");
}

/// Keeps the daemon's answers and its log.
async fn daemon(stand: &mut Stand<'_>) {
    let log = stand.folder.join("daemon.log");
    let mut command = stand.command(&["-vvv", "run"]);
    command.stderr(std::fs::File::create(&log).unwrap());
    let daemon = Running::start(command);
    let paths =
        ["status", "resources", "resources/SavedMethod/default/card", "plan", "events", "intents"];
    for path in
        paths.map(|path| format!("/api/v1/{path}")).into_iter().chain(["/metrics".to_owned()])
    {
        let answer = control::ask(daemon.address, Method::GET, &path, None).await.unwrap();
        stand.said.push((path, answer.into_bytes()));
    }
    drop(daemon);
    stand.said.push(("the daemon's log".to_owned(), std::fs::read(&log).unwrap()));
}

/// Fields whose values a refusal may repeat: words of the service, money, dates, marks, and ids of objects.
const REPEATABLE: &str = "account_holder_type account_id account_type accepted_card_types amount authorized_uses \
     auto_capture avs_policy bank_account_id business_type card_type charge_id contact_id currency cvv_policy days due_date end \
     first_amount grant_type gratuity host industry_code interval_delay interval_unit invoice_date job_title max_amount max_occurrences mime_type \
     owner_id owner_title payment_type plan quantity rate_per_quantity rate_type recurring_charge_id reference \
     required_payment_fields scope source_id start state status structure surcharge_amount test_mode timezone total_amount \
     transaction_allowed_countries type";

/// Returns every name of a field in the requests of the service's contract.
fn fields(document: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let paths = document["paths"].as_object().unwrap().values();
    for operation in paths.flat_map(|path| path.as_object().unwrap().values()) {
        gather(document, &operation["requestBody"], 0, &mut names);
    }
    names
}

fn gather(document: &Value, schema: &Value, depth: u32, names: &mut BTreeSet<String>) {
    let deeper = |inner: &Value, names: &mut _| gather(document, inner, depth + 1, names);
    match schema {
        _ if depth > 16 => {}
        Value::Object(parts) => {
            if let Some(properties) = parts.get("properties").and_then(Value::as_object) {
                names.extend(properties.keys().cloned());
            }
            if let Some(named) = parts.get("$ref").and_then(Value::as_str) {
                deeper(document.pointer(named.trim_start_matches('#')).unwrap(), names);
            }
            for inner in parts.values() {
                deeper(inner, names);
            }
        }
        Value::Array(items) => {
            for inner in items {
                deeper(inner, names);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns a client of a service that refuses every request and repeats its body as the message.
fn parrot() -> Client {
    let router = Router::new().fallback(async |body: String| {
        (
            StatusCode::UNPROCESSABLE_ENTITY,
            json!({"messages": [{"message": body, "context": body}]}).to_string(),
        )
    });
    let service = ServiceConfig {
        base_url: "https://base.test".to_owned(),
        web_url: "https://web.test".to_owned(),
        timeout: Duration::from_secs(5),
        ca_file: None,
        partner: None,
        jitter_seed: 0,
    };
    let transport = Transport::InProcess { router, wire: Arc::new(FaultlessWire) };
    Client::new(service, transport, Arc::new(SystemClock)).unwrap()
}

/// Closes S2: the test sends every field of every request of the service's contract, and searches the refusals for it.
#[tokio::test]
async fn no_field_of_any_request_comes_back_in_a_refusal() {
    let folder = tempfile::tempdir().unwrap();
    let stand = Stand { folder: folder.path(), environment: Vec::new(), said: Vec::new() };
    let sandbox = Running::start(stand.command(&[
        "sandbox",
        "--plain-http",
        "--listen",
        "127.0.0.1:0",
        "--state",
        "kept",
    ]));
    let document =
        control::json(sandbox.address, Method::GET, "/openapi.json", None).await.unwrap();
    let (client, fields) = (parrot(), fields(&document));
    assert!(fields.len() > 150 && fields.contains("account_number"), "{fields:?}");
    let mut repeated = BTreeSet::new();
    for field in &fields {
        let body = json!({"outer": {field: ["Wq7-Planted"]}}).to_string();
        let call = Call {
            endpoint: "any".to_owned(),
            method: reckon::api::call::Method::Post,
            host: Host::Base,
            path: "/any".to_owned(),
            query: vec![(field.clone(), "Wq7-Planted".to_owned())],
            auth: Auth::None,
            body: Some(body.into_bytes()),
        };
        let outcome = client.send(&call, &Access::None).await;
        let printed = serde_json::to_string(&outcome).unwrap();
        assert!(printed.starts_with("{\"refused\""), "{printed}");
        if printed.to_lowercase().contains("planted") {
            repeated.insert(field.as_str());
        }
    }
    let more: Vec<&&str> =
        repeated.iter().filter(|field| !REPEATABLE.split(' ').any(|one| one == **field)).collect();
    assert!(more.is_empty(), "{more:?}");
    assert!(repeated.contains("currency"), "{repeated:?}");
}

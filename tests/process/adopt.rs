//! Importing and forgetting objects that the service already has, and reports of objects with an unknown mark.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::support::shell::{Shell, code, stderr, stdout};

const MERCHANT: &str = "apiVersion: reckon.dev/v1\nkind: Merchant\nmetadata: {name: acme}\nspec:\n  mode: test\n  \
                        timezone: America/Chicago\n  credentials: {authorization_code: {env: CODE_ACME}}\n";

/// Returns a document of the one merchant.
fn document(kind: &str, name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: reckon.dev/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  merchant: acme\n  {spec}\n"
    )
}

fn card(name: &str, number: &str, more: &str) -> String {
    let source = format!("{{card: {{number: \"{number}\", exp_month: 12, exp_year: 2031}}}}");
    document("SavedMethod", name, &format!("type: card\n  source: {source}\n  {more}"))
}

fn rent(method: &str, amount: &str) -> String {
    let spec = format!(
        "method: {method}\n  amount: \"{amount} USD\"\n  description: Rent\n  \
         schedule: {{start: 2031-02-01, interval_unit: MONTH, interval_delay: 1}}"
    );
    document("RecurringCharge", "rent", &spec)
}

/// Starts a sandbox whose one merchant is connected.
fn connected() -> Shell {
    let shell = Shell::start();
    shell.write("specs/acme.yaml", MERCHANT);
    let applied = shell.reckon(&["apply", "--yes"]);
    assert_eq!(code(&applied), 0, "{}", stderr(&applied));
    shell
}

/// Sends a request to the service without `reckon`, as a person does in the service's portal.
fn elsewhere(shell: &Shell, method: &str, path: &str, body: &Value) -> Value {
    let all: Value = serde_json::from_str(&shell.ask("GET", "credentials", "")).unwrap();
    let merchants = all["merchants"].as_array().unwrap();
    let acme = merchants.iter().find(|one| one["name"] == "acme").unwrap();
    let key = acme["test"]["secret_key"].as_str().unwrap();
    let basic = data_encoding::BASE64.encode(format!("{key}:").as_bytes());
    let config = fs::read_to_string(shell.path("reckon.yaml")).unwrap();
    let address = config.split("base_url: http://").nth(1).unwrap().lines().next().unwrap();
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "{method} {path} HTTP/1.0\r\nhost: {address}\r\nauthorization: Basic {basic}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 20"), "{path}: {answer}");
    serde_json::from_str(body).unwrap_or_default()
}

fn id(object: &Value) -> String {
    object["id"].as_str().unwrap().to_owned()
}

/// Saves a card without `reckon`; returns its id.
fn saved(shell: &Shell, number: &str, more: &Value) -> String {
    let mut body =
        json!({"type": "card", "number": number, "exp_month": 12, "exp_year": 2031, "cvv": "999"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    id(&elsewhere(shell, "POST", "/v1/cards", &body))
}

/// Makes a recurring charge without `reckon`; returns its id.
fn recurring(shell: &Shell, method: &str) -> String {
    let body = json!({
        "method": method, "amount": 2000, "currency": "USD", "description": "Rent",
        "schedule": {"start": "2031-02-01", "interval_unit": "MONTH", "interval_delay": 1},
    });
    id(&elsewhere(shell, "POST", "/v1/recurring/charges", &body))
}

fn plan(shell: &Shell) -> Value {
    let planned = shell.reckon(&["plan", "-o", "json"]);
    serde_json::from_str(&stdout(&planned)).unwrap_or_else(|_| panic!("{}", stderr(&planned)))
}

fn steps(shell: &Shell) -> Vec<String> {
    let plan = plan(shell);
    let steps = plan["steps"].as_array().unwrap().iter();
    steps
        .map(|step| {
            let text = |name: &str| step[name].as_str().unwrap().to_owned();
            format!("{} {}/{} {}", text("verdict"), text("kind"), text("name"), text("reason"))
        })
        .collect()
}

/// Runs the program; returns the exit code and the output of both streams.
fn says(shell: &Shell, arguments: &[&str]) -> (i32, String) {
    let output = shell.reckon(arguments);
    (code(&output), format!("{}{}", stdout(&output), stderr(&output)))
}

#[test]
fn what_was_made_elsewhere_is_taken_over_and_never_made_again() {
    let shell = connected();
    let card_id = saved(&shell, "4242424242424242", &json!({"description": "Old"}));
    let charge = recurring(&shell, &card_id);
    let tree = [card("jane", "4242424242424242", "description: New"), rent("jane", "25.00")];
    shell.write("specs/jane.yaml", &tree.concat());
    assert_eq!(steps(&shell).len(), 2, "the plan makes both");
    let (exit, printed) = says(&shell, &["import", "SavedMethod/jane", &card_id]);
    assert_eq!(exit, 1, "without a terminal, import asks for --yes: {printed}");
    assert!(printed.contains("description: Old → New") && printed.contains("--yes"), "{printed}");
    assert_eq!(steps(&shell).len(), 2, "import without --yes writes nothing");
    let (exit, printed) = says(&shell, &["import", "SavedMethod/jane", &card_id, "--yes"]);
    assert_eq!(exit, 0, "{printed}");
    let (exit, printed) = says(&shell, &["import", "RecurringCharge/rent", &charge, "--yes"]);
    assert_eq!(exit, 0, "{printed}");
    assert!(printed.contains("amount: 20.00 USD → 25.00 USD"), "{printed}");
    let wanted = ["update SavedMethod/jane Changed", "update RecurringCharge/rent WaitsFor"];
    assert_eq!(steps(&shell), wanted);
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    assert_eq!(steps(&shell), Vec::<String>::new());
    assert_eq!((shell.count("cards"), shell.count("recurring_charges")), (1, 1));
    let (exit, printed) = says(&shell, &["import", "SavedMethod/jane", &card_id, "--yes"]);
    assert!(exit == 0 && printed.contains("already managed by this document"), "{printed}");
    let (exit, printed) = says(&shell, &["why", &charge]);
    assert!(
        exit == 0 && printed.contains("taken over") && printed.contains("jane.yaml:"),
        "{printed}"
    );
    assert_eq!(says(&shell, &["store", "check"]).0, 0);
    assert_eq!(says(&shell, &["store", "rebuild"]).0, 0);
    assert_eq!(steps(&shell), Vec::<String>::new());
}

#[test]
fn another_object_than_the_document_says_is_refused() {
    let shell = connected();
    let jane = saved(&shell, "4242424242424242", &json!({}));
    let joan = saved(&shell, "4111111111111111", &json!({}));
    let over = recurring(&shell, &jane);
    elsewhere(&shell, "POST", &format!("/v1/recurring/charges/{over}/cancel"), &json!({}));
    let tree = [
        card("jane", "4242424242424242", ""),
        card("june", "4242424242424242", ""),
        rent("jane", "20.00"),
    ];
    shell.write("specs/jane.yaml", &tree.concat());
    let import = |what: &str, id: &str| says(&shell, &["import", what, id, "--yes"]);
    let (exit, printed) = import("SavedMethod/jane", &joan);
    assert!(
        exit == 3 && printed.contains("source.card.number"),
        "the card has another number: {printed}"
    );
    let (exit, printed) = import("SavedMethod/jame", &joan);
    assert!(exit == 1 && printed.contains("did you mean SavedMethod/jane?"), "{printed}");
    let (exit, printed) = import("SavedMethod/jane", "card_no_such_object_anywhere");
    assert!(exit == 1 && printed.contains("no such object"), "{printed}");
    assert_eq!(import("SavedMethod/jane", &jane).0, 0);
    let (exit, printed) = import("SavedMethod/june", &jane);
    assert!(exit == 3 && printed.contains("is already SavedMethod/jane"), "{printed}");
    let (exit, printed) = import("SavedMethod/jane", &joan);
    assert!(exit == 3 && printed.contains("already manages"), "{printed}");
    let (exit, printed) = import("RecurringCharge/rent", &over);
    assert!(exit == 3 && printed.contains("cancelled on the service"), "{printed}");
    let (exit, printed) = import("Merchant/acme", &jane);
    assert!(exit == 3 && printed.contains("its credentials open it"), "{printed}");
    let (exit, printed) = says(&shell, &["import", "SavedMethod/jane"]);
    assert!(exit == 1, "import needs an id: {printed}");
    assert_eq!(steps(&shell).len(), 2, "the plan still makes june and rent");
}

#[test]
fn what_the_service_never_shows_is_taken_over_on_a_person_s_word_alone() {
    let shell = connected();
    let spec =
        "first_name: Jane\n  last_name: Doe\n  email_addresses: [{address: jane@example.com}]";
    shell.write("specs/jane.yaml", &document("Contact", "jane", spec));
    let import = ["import", "Contact/jane", "contact_made_in_the_portal", "--yes"];
    let (exit, printed) = says(&shell, &import);
    assert!(exit == 1 && printed.contains("reckon::import::unverified"), "{printed}");
    assert!(printed.contains("--unverified"), "{printed}");
    let (exit, printed) = says(&shell, &[&import[..], &["--unverified"]].concat());
    assert!(exit == 0 && printed.contains("assumed to match the document"), "{printed}");
    assert_eq!(steps(&shell), Vec::<String>::new());
    let (_, printed) = says(&shell, &["why", "Contact/jane"]);
    assert!(printed.contains("unverified"), "{printed}");
}

#[test]
fn what_is_forgotten_stays_at_the_service_and_is_nobody_s() {
    let shell = connected();
    let tree = [card("jane", "4242424242424242", ""), rent("jane", "20.00")];
    shell.write("specs/jane.yaml", &tree.concat());
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    let forget = |what: &str| says(&shell, &["forget", what, "--yes"]);
    let (exit, printed) = forget("RecurringCharge/rent");
    assert!(
        exit == 3 && printed.contains("specs/jane.yaml:"),
        "the document still exists: {printed}"
    );
    let (exit, printed) = forget("RecurringCharge/rend");
    assert!(exit == 1 && printed.contains("did you mean RecurringCharge/rent?"), "{printed}");
    shell.write("specs/jane.yaml", "nonsense: [");
    let (exit, printed) = forget("RecurringCharge/rent");
    assert!(exit == 3 && printed.contains("some files are invalid"), "{printed}");
    shell.write("specs/jane.yaml", &card("jane", "4242424242424242", ""));
    let (exit, printed) = forget("Merchant/acme");
    assert!(exit == 3 && printed.contains(" is at "), "{printed}");
    let (exit, printed) = says(&shell, &["forget", "RecurringCharge/rent"]);
    assert!(exit == 1 && printed.contains("stays unchanged at the service"), "{printed}");
    assert_eq!(forget("RecurringCharge/rent").0, 0);
    assert_eq!(steps(&shell), Vec::<String>::new());
    assert_eq!(shell.count("recurring_charges"), 1, "forget changes nothing at the service");
    let refreshed = shell.reckon(&["plan", "--refresh", "--detailed-exitcode"]);
    assert_eq!(
        code(&refreshed),
        0,
        "a forgotten object with our mark is no drift: {}",
        stdout(&refreshed)
    );
    let (exit, printed) = forget("RecurringCharge/rent");
    assert!(exit == 1 && printed.contains("no such resource"), "{printed}");
    let charges = shell.ask("GET", "objects/recurring_charges", "");
    let charge: Value = serde_json::from_str(charges.lines().next().unwrap()).unwrap();
    shell.write("specs/jane.yaml", &tree.concat());
    assert_eq!(says(&shell, &["import", "RecurringCharge/rent", &id(&charge), "--yes"]).0, 0);
    assert_eq!(steps(&shell), Vec::<String>::new());
    assert_eq!(says(&shell, &["store", "rebuild"]).0, 0);
    assert_eq!(steps(&shell), Vec::<String>::new());
}

#[test]
fn a_lost_state_is_told_and_everything_is_taken_over_again_without_a_second_object() {
    let shell = connected();
    let tree = [card("jane", "4242424242424242", ""), rent("jane", "20.00")];
    shell.write("specs/jane.yaml", &tree.concat());
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    fs::remove_dir_all(shell.path(".reckon")).unwrap();
    let fresh: Value =
        serde_json::from_str(&shell.ask("POST", "credentials", r#"{"merchant": "acme"}"#)).unwrap();
    let fresh = [("CODE_ACME", fresh["authorization_code"].as_str())];
    let applied = shell.reckon_with(&["apply", "--yes"], &fresh);
    assert_eq!(code(&applied), 3, "{}{}", stdout(&applied), stderr(&applied));
    assert!(steps(&shell).contains(&"blocked Merchant/acme UnknownMarks".to_owned()));
    let (exit, printed) = says(&shell, &["intents"]);
    assert_eq!(exit, 3, "{printed}");
    let ways = printed.lines().filter_map(|line| Some(line.split_once("way out")?.1.trim()));
    let ways: Vec<String> = ways.map(str::to_owned).collect();
    assert_eq!(ways.len(), 2, "{printed}");
    disowning_is_the_last_resort(&shell, &printed);
    for way in &ways {
        let mut words: Vec<&str> = way.split(' ').skip(1).collect();
        words.push("--yes");
        let (exit, printed) = says(&shell, &words);
        assert_eq!(exit, 0, "{way}: {printed}");
    }
    assert_eq!(says(&shell, &["intents"]).0, 0);
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    assert_eq!(steps(&shell), Vec::<String>::new());
    assert_eq!((shell.count("cards"), shell.count("recurring_charges")), (1, 1));
}

/// Copies a state as `cp -a` does.
fn copied(shell: &Shell, from: &str, to: &str) {
    let done = std::process::Command::new("cp")
        .arg("-a")
        .args([shell.path(from), shell.path(to)])
        .status();
    assert!(done.unwrap().success());
}

/// Closes S10: `reckon` notices a copy of the state that was put back, and makes nothing a second time.
#[test]
fn a_state_that_was_put_back_by_a_copy_begins_an_epoch_and_doubles_no_charge() {
    let shell = connected();
    shell.write("specs/jane.yaml", &card("jane", "4242424242424242", ""));
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    copied(&shell, ".reckon", "copy");
    shell.write("specs/rent.yaml", &rent("jane", "20.00"));
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    fs::rename(shell.path(".reckon"), shell.path("lost")).unwrap();
    copied(&shell, "copy", ".reckon");
    let (_, printed) = says(&shell, &["plan"]);
    assert!(
        printed.contains("this state was put back") && printed.contains("Epoch 1"),
        "{printed}"
    );
    let (exit, printed) = says(&shell, &["apply", "--yes"]);
    assert_eq!(exit, 3, "{printed}");
    assert_eq!(shell.count("recurring_charges"), 1, "nothing is doubled");
    let (_, printed) = says(&shell, &["store", "check"]);
    assert!(
        printed.contains("epoch         1") && !printed.contains("was put back:"),
        "the plan shows it once: {printed}"
    );
}

/// Closes M7: an object keeps its mark when its document is renamed.
#[test]
fn what_took_another_name_is_its_own_object_when_the_lists_are_looked_at() {
    let shell = connected();
    let (jane, charge) = (card("jane", "4242424242424242", ""), rent("jane", "20.00"));
    shell.write("specs/jane.yaml", &[jane.clone(), charge].concat());
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    let moved = |text: &str, from: &str, to: &str| {
        let name = format!("{{name: {to}, annotations: {{reckon.dev/moved-from: {from}}}}}");
        text.replace(&format!("{{name: {from}}}"), &name)
    };
    let tree = [moved(&jane, "jane", "june"), moved(&rent("june", "20.00"), "rent", "lease")];
    shell.write("specs/jane.yaml", &tree.concat());
    let (exit, printed) = says(&shell, &["apply", "--yes"]);
    assert_eq!(exit, 0, "{printed}");
    shell.reckon(&["plan", "--refresh"]);
    assert_eq!(steps(&shell), Vec::<String>::new());
    assert_eq!(says(&shell, &["intents"]).0, 0);
}

/// Closes M1: `intents` offers `init --empty-remote` once, after the safe ways and marked as dangerous. The command
/// lists the objects that it would disown, with sums. Without a person's confirmation it writes nothing.
fn disowning_is_the_last_resort(shell: &Shell, intents: &str) {
    assert_eq!(intents.matches("--empty-remote").count(), 1, "{intents}");
    let (safe, dangerous) = intents.split_once("DANGEROUS").unwrap();
    assert!(safe.contains("reckon import") && safe.contains("reckon forget"), "{intents}");
    let dangerous = dangerous.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "disowns 2 objects",
        "1 active recurring charge, 20.00 USD collected per occurrence (test)",
    ] {
        assert!(dangerous.contains(part), "{dangerous}");
    }
    let (exit, printed) = says(shell, &["init", "--empty-remote"]);
    assert_eq!(exit, 1, "{printed}");
    for part in [
        "reckon::init::unconfirmed",
        "20.00 USD per occurrence (test)",
        "ACTIVE",
        "total: 20.00 USD",
        "reckon import",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert!(
        steps(shell).contains(&"blocked Merchant/acme UnknownMarks".to_owned()),
        "init without confirmation writes nothing"
    );
}

#[test]
fn a_mark_that_nobody_knows_stops_its_merchant_and_a_second_object_its_resource() {
    let shell = connected();
    shell.write("specs/jane.yaml", &card("jane", "4242424242424242", ""));
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    let jane: Value = serde_json::from_str(shell.ask("GET", "objects/cards", "").trim()).unwrap();
    let second = saved(&shell, "4242424242424242", &json!({"reference": jane["reference"]}));
    assert_eq!(steps(&shell), Vec::<String>::new(), "no refresh has read the service yet");
    shell.reckon(&["plan", "--refresh"]);
    assert_eq!(steps(&shell), ["blocked SavedMethod/jane UnknownMarks"]);
    let (exit, printed) = says(&shell, &["describe", "SavedMethod/jane"]);
    assert!(exit == 0 && printed.contains(&second), "{printed}");
    elsewhere(&shell, "DELETE", &format!("/v1/cards/{second}"), &json!({}));
    shell.reckon(&["plan", "--refresh"]);
    assert_eq!(
        steps(&shell),
        Vec::<String>::new(),
        "without the second object, its resource is no longer blocked"
    );
    let foreign = json!({"reference": "rkabcdefghijklmnopqrstuvwxya"});
    let foreign = saved(&shell, "4111111111111111", &foreign);
    shell.reckon(&["plan", "--refresh"]);
    assert_eq!(steps(&shell), ["blocked Merchant/acme UnknownMarks"]);
    shell.write("specs/june.yaml", &card("june", "4111111111111111", ""));
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 3);
    assert_eq!(shell.count("cards"), 2, "nothing is made for the blocked merchant");
    let (exit, printed) = says(&shell, &["why", "Merchant/acme"]);
    assert!(exit == 0 && printed.contains(&foreign), "{printed}");
    let (exit, printed) = says(&shell, &["forget", "card_nobody_has_ever_seen_it", "--yes"]);
    assert_eq!(exit, 1, "{printed}");
    let (exit, printed) = says(&shell, &["forget", &foreign, "--yes"]);
    assert_eq!(exit, 0, "{printed}");
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    shell.reckon(&["plan", "--refresh"]);
    assert_eq!(steps(&shell), Vec::<String>::new());
    assert_eq!(shell.count("cards"), 3);
}

#[test]
fn all_of_a_merchant_is_taken_over_with_documents_that_never_make_anything() {
    let shell = connected();
    shell.write("specs/jane.yaml", &card("jane", "4242424242424242", ""));
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    let first = saved(&shell, "4111111111111111", &json!({"description": "A: \"quoted\" # text"}));
    saved(&shell, "4111111111111111", &json!({"exp_year": 2033}));
    let charge = recurring(&shell, &first);
    let all = |sort: &str, more: &[&str]| {
        says(&shell, &[&["import", "--all", sort, "--merchant", "acme"], more].concat())
    };
    let (exit, printed) = all("cards", &[]);
    assert!(
        exit == 1 && printed.contains("SavedMethod/visa-1111-2"),
        "import without --yes asks first: {printed}"
    );
    assert!(!shell.path("specs/imported").exists(), "import without --yes writes nothing");
    let (exit, printed) = all("cards", &["--into", "elsewhere", "--yes"]);
    assert!(exit == 1 && printed.contains("reckon::import::into"), "{printed}");
    let (exit, printed) = all("recurring", &["--yes"]);
    assert!(
        exit == 0 && printed.contains("import the merchant's cards and banks first"),
        "{printed}"
    );
    fs::create_dir(shell.path("specs/imported")).unwrap();
    let kept = shell.path("specs/imported/savedmethod-visa-1111.yaml");
    fs::write(&kept, "# mine\n").unwrap();
    let (exit, printed) = all("cards", &["--yes"]);
    assert!(exit == 0 && printed.contains("2 taken over, 1 known before"), "{printed}");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "# mine\n", "import overwrites no file");
    let (exit, printed) = all("recurring", &["--yes"]);
    assert!(exit == 0 && printed.contains("1 taken over"), "{printed}");
    assert!(printed.contains("RecurringCharge/rent"), "{printed}");
    let (exit, printed) = says(&shell, &["validate"]);
    assert_eq!(exit, 0, "{printed}");
    assert_eq!(steps(&shell), Vec::<String>::new());
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    assert_eq!((shell.count("cards"), shell.count("recurring_charges")), (3, 1));
    let (exit, printed) = all("cards", &["--yes"]);
    assert!(exit == 0 && printed.contains("0 taken over, 3 known before"), "{printed}");
    let text = fs::read_to_string(shell.path("specs/imported/recurringcharge-rent.yaml")).unwrap();
    assert!(text.contains(&format!("reckon.dev/adopts: {charge}")), "{text}");
    fs::write(
        shell.path("specs/imported/recurringcharge-rent.yaml"),
        text.replace("20.00 USD", "30.00 USD"),
    )
    .unwrap();
    assert_eq!(steps(&shell), ["update RecurringCharge/rent Changed"]);
    assert_eq!(says(&shell, &["apply", "--yes"]).0, 0);
    assert_eq!(shell.count("recurring_charges"), 1);
}

#[test]
fn a_document_whose_object_is_there_already_makes_nothing_in_an_empty_state() {
    let shell = connected();
    let method = saved(&shell, "4242424242424242", &json!({}));
    let charge = recurring(&shell, &method);
    let adopts = |text: String, id: &str| {
        text.replace("}\nspec:", &format!(", annotations: {{reckon.dev/adopts: {id}}}}}\nspec:"))
    };
    let saved_as = document("SavedMethod", "jane", "type: card\n  source: {}");
    shell.write("specs/bare.yaml", &saved_as);
    let (exit, printed) = says(&shell, &["validate"]);
    assert!(
        exit == 1 && printed.contains("the source has no `card`"),
        "the document has no card to save: {printed}"
    );
    shell.write("specs/bare.yaml", &adopts(saved_as, &method));
    shell.write("specs/rent.yaml", &adopts(rent("jane", "20.00"), &charge));
    assert_eq!(says(&shell, &["validate"]).0, 0);
    let (exit, printed) = says(&shell, &["apply", "--yes"]);
    assert_eq!(exit, 3, "{printed}");
    assert!(printed.contains(&format!("reckon import SavedMethod/jane {method}")), "{printed}");
    assert_eq!((shell.count("cards"), shell.count("recurring_charges")), (1, 1));
    let (exit, printed) = says(&shell, &["import", "SavedMethod/jane", &charge, "--yes"]);
    assert!(exit == 3 && printed.contains("reckon.dev/adopts"), "{printed}");
    for sort in ["cards", "recurring"] {
        let (exit, printed) =
            says(&shell, &["import", "--all", sort, "--merchant", "acme", "--yes"]);
        assert!(exit == 0 && printed.contains("1 taken over"), "{printed}");
    }
    assert!(!shell.path("specs/imported").exists(), "the documents exist already");
    assert_eq!(steps(&shell), Vec::<String>::new());
}

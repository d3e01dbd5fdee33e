//! Secrets never show. A test plants one value through each source of a spec and runs every command over it. Then it
//! searches all files and outputs for the value, in every form.

use std::net::SocketAddr;
use std::path::Path;

use age::secrecy::ExposeSecret;
use http::{Method, Request, header};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::connection::Connection;
use crate::control;
use crate::support::canaries::Canaries;
use crate::support::running::{Running, Stand};
use crate::support::{covers, running};
use reckon::config::settings::Config;
use reckon::kinds::register::KINDS;
use reckon::spec::document::ReadContext;
use reckon::spec::tree::loader::Loader;

mod mirror;
mod repeated;

/// The sources of secrets; each has a merchant and a card.
const SOURCES: [&str; 4] = ["env", "file", "exec", "age"];
/// Unpublished card numbers with a valid check digit, one for each source.
const NUMBERS: [&str; 4] =
    ["4539578763621486", "4916338506082832", "5425233430109903", "4024007198964305"];

/// Returns the text of `reckon.yaml`. Each run of a declared program appends a line to `calls`.
fn config(service: SocketAddr) -> String {
    let program = |name: &str| {
        format!("    {name}: [/bin/sh, -c, 'echo called >> calls; /bin/cat vault/{name}']\n")
    };
    format!(
        "apiVersion: reckon.dev/v1\nkind: Config\n\
         partner:\n  name: acme\n  client_id: {{env: CLIENT_ID}}\n  client_secret: {{env: CLIENT_SECRET}}\n  \
         redirect_uri: https://partner.example/callback\n\
         service:\n  base_url: http://{service}\n  web_url: http://{service}\n  timeout: 20s\n\
         secrets:\n  key: {{env: VAULT_KEY}}\n  env: [OPEN_*]\n  files: secrets\n  age: {{file: age.key}}\n  exec:\n{}{}    \
         failing: [/bin/sh, -c, '/bin/cat vault/card; /bin/cat vault/card >&2; exit 3']\n\
         listen: 127.0.0.1:0\n",
        program("code"),
        program("card"),
    )
}

fn merchant(name: &str, credentials: &str) -> String {
    format!(
        "apiVersion: reckon.dev/v1\nkind: Merchant\nmetadata: {{name: {name}}}\nspec:\n  mode: test\n  credentials: {{{credentials}}}\n"
    )
}

fn card(name: &str, merchant: &str, number: &str) -> String {
    format!(
        "apiVersion: reckon.dev/v1\nkind: SavedMethod\nmetadata: {{name: {name}}}\nspec:\n  merchant: {merchant}\n  type: card\n  \
         source: {{card: {{number: {number}, exp_month: 12, exp_year: 2031}}}}\n"
    )
}

/// Seals a value with `reckon seal`; returns the source as YAML.
fn seal(stand: &mut Stand<'_>, key: &str, field: &str, value: &str) -> String {
    let (code, printed) = stand.run(&["seal", key, field, "-o", "json"], &format!("{value}\n"));
    assert_eq!(code, 0, "{printed}");
    let sealed: Value = serde_json::from_str(&printed).unwrap();
    format!("{{age: {}}}", sealed["age"])
}

/// Plants a code and a card number behind each source, and writes the specs that name them.
async fn plant(stand: &mut Stand<'_>, sandbox: SocketAddr, canaries: &mut Canaries) {
    let mut documents = Vec::new();
    for (source, number) in SOURCES.into_iter().zip(NUMBERS) {
        let code = running::code(sandbox, source).await;
        canaries.plant(&format!("the code by {source}"), &code);
        canaries.plant(&format!("the card by {source}"), number);
        let [code, number] = match source {
            "env" => {
                stand.environment.push(("OPEN_CODE".to_owned(), code));
                stand.environment.push(("OPEN_CARD".to_owned(), number.to_owned()));
                ["{env: OPEN_CODE}".to_owned(), "{env: OPEN_CARD}".to_owned()]
            }
            "age" => [
                seal(stand, "Merchant/age", "credentials.authorization_code", &code),
                seal(stand, "SavedMethod/age", "source.card.number", number),
            ],
            _ => {
                let folder = if source == "file" { "secrets" } else { "vault" };
                stand.write(&format!("{folder}/code"), &format!("{code}\n"));
                stand.write(&format!("{folder}/card"), &format!("{number}\n"));
                [format!("{{{source}: code}}"), format!("{{{source}: card}}")]
            }
        };
        documents.push(merchant(source, &format!("authorization_code: {code}")));
        documents.push(card(source, source, &number));
    }
    stand.write("specs/all.yaml", &documents.join("---\n"));
}

/// Plants the partner's own values, the key of the vault and the age identity.
async fn set_up(stand: &mut Stand<'_>, sandbox: SocketAddr, canaries: &mut Canaries) {
    let known = running::credentials(sandbox).await;
    let partner = |field: &str| known["partner"][field].as_str().unwrap().to_owned();
    let key = data_encoding::BASE64.encode(&[0x5a; 32]);
    let identity = age::x25519::Identity::generate().to_string();
    canaries.plant("the client secret", &partner("client_secret"));
    canaries.plant("the key of the vault", &key);
    canaries.plant("the identity", identity.expose_secret());
    stand.environment = vec![
        ("CLIENT_ID".to_owned(), partner("client_id")),
        ("CLIENT_SECRET".to_owned(), partner("client_secret")),
        ("VAULT_KEY".to_owned(), key),
        ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
    ];
    let config = config(sandbox);
    let redirect = partner("redirect_uri");
    stand.write("reckon.yaml", &config.replace("https://partner.example/callback", &redirect));
    stand.write("age.key", identity.expose_secret());
}

/// Keeps the answers of the daemon and its log.
async fn ask_daemon(stand: &mut Stand<'_>) {
    let log = stand.folder.join("daemon.log");
    let mut command = stand.command(&["-vvv", "run"]);
    command.stderr(std::fs::File::create(&log).unwrap());
    let daemon = Running::start(command);
    stand.said.push(("run".to_owned(), daemon.said.clone().into_bytes()));
    for path in [
        "/api/v1/status",
        "/api/v1/resources",
        "/api/v1/plan",
        "/api/v1/intents",
        "/readyz",
        "/metrics",
    ] {
        let answer = control::ask(daemon.address, Method::GET, path, None).await.unwrap();
        stand.said.push((path.to_owned(), answer.into_bytes()));
    }
    drop(daemon);
    stand.said.push(("the daemon's log".to_owned(), std::fs::read(&log).unwrap()));
}

/// Makes a one-time token of a card for a merchant, as a payer's form does.
async fn token(sandbox: SocketAddr, merchant: &str) -> String {
    let known = running::credentials(sandbox).await;
    let mut merchants = known["merchants"].as_array().expect("merchants").iter();
    let merchant = merchants.find(|one| one["name"] == merchant).expect("the merchant");
    let key = merchant["test"]["public_key"].as_str().expect("a key");
    let card = "type=card&number=4242424242424242&exp_month=1&exp_year=2032";
    let request = Request::builder()
        .method(Method::POST)
        .uri("/v1/tokens")
        .header(header::HOST, sandbox.to_string())
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Full::new(Bytes::from(format!("{card}&public_key={key}"))));
    let answer = Connection::new(sandbox).send(request.expect("a request")).await;
    let answer: Value = serde_json::from_slice(answer.expect("an answer").body()).expect("JSON");
    answer["id"].as_str().expect("a token").to_owned()
}

/// Saves a one-time token by hand, read from standard input. A second save under another name fails, since the token is
/// used.
async fn save_token(stand: &mut Stand<'_>, sandbox: SocketAddr, canaries: &mut Canaries) {
    let token = token(sandbox, "env").await;
    canaries.plant("the one-time token", &token);
    let save = ["-vvv", "gateway", "save", "card", "--token", "-", "--merchant", "env"];
    let (code, printed) = stand.run(&save, &token);
    assert!(
        code == 1 && printed.contains("a one-time token"),
        "the command first shows its effect: {printed}"
    );
    let (code, printed) = stand.run(&[&save[..], &["--yes"]].concat(), &token);
    assert_eq!(code, 0, "{printed}");
    let (code, printed) = stand.run(&[&save[..], &["--yes", "--name", "twice"]].concat(), &token);
    assert!(code == 3 && printed.contains("HTTP 404"), "{code} {printed}");
    let (code, printed) = stand.run(&[&save[..], &["--yes"]].concat(), "4242424242424242");
    assert!(code == 1 && printed.contains("no one-time token"), "{code} {printed}");
}

/// Plants the secret keys of both modes, of each merchant and of its accounts. The credentials show the keys of the
/// accounts.
async fn plant_keys(sandbox: SocketAddr, canaries: &mut Canaries) {
    let known = running::credentials(sandbox).await;
    for merchant in known["merchants"].as_array().expect("merchants") {
        for mode in ["test", "live"] {
            let own = &merchant[mode];
            let accounts = own["accounts"].as_array().expect("accounts");
            for (at, keys) in std::iter::once(own).chain(accounts).enumerate() {
                let key = keys["secret_key"].as_str().expect("a key");
                canaries.plant(&format!("secret key {at} of {}, {mode}", merchant["name"]), key);
            }
        }
    }
}

/// Returns the number of runs of the declared programs.
fn calls(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("calls")).unwrap_or_default().lines().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_of_any_source_shows_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut canaries = Canaries::default();
    let mut stand = Stand { folder, environment: Vec::new(), said: Vec::new() };
    let kept = folder.join("sandbox").display().to_string();
    let sandbox =
        stand.command(&["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state", &kept]);
    let sandbox = Running::start(sandbox);
    set_up(&mut stand, sandbox.address, &mut canaries).await;
    plant(&mut stand, sandbox.address, &mut canaries).await;

    for form in ["text", "json", "yaml", "markdown"] {
        stand.ends(&["-vvv", "validate", "-o", form], 0);
        stand.ends(&["-vvv", "plan", "-o", form], 0);
    }
    stand.ends(&["-vvv", "plan", "--out", "plan.json"], 0);
    for form in ["text", "json", "markdown"] {
        stand.ends(&["-vvv", "plan", "show", "plan.json", "-o", form], 0);
    }
    assert_eq!(calls(folder), 0, "neither validate nor plan reads a secret");
    let printed = stand.ends(&["-vvv", "apply", "--yes"], 0);
    assert!(printed.contains("  trace  "), "the log is complete: {printed}");
    assert_eq!(calls(folder), 2, "each program runs once for its document");
    stand.ends(&["-vvv", "apply", "--yes"], 0);
    assert_eq!(calls(folder), 2, "a settled document reads no secret");

    wrong_places(&mut stand);
    for arguments in [&["get"][..], &["intents"], &["store", "check"], &["plan"]] {
        let (_, printed) = stand.run(&[&["-vvv", "-o", "json"], arguments].concat(), "");
        assert!(printed.contains('{'), "{printed}");
    }
    for source in SOURCES {
        stand.ends(&["describe", &format!("SavedMethod/{source}"), "-o", "json"], 0);
        stand.ends(&["describe", &format!("Merchant/{source}")], 0);
        stand.ends(&["why", &format!("SavedMethod/{source}"), "-o", "json"], 0);
    }
    ask_daemon(&mut stand).await;
    save_token(&mut stand, sandbox.address, &mut canaries).await;

    plant_keys(sandbox.address, &mut canaries).await;
    let mut found = canaries.in_folder(&folder.join(".reckon"));
    let saved = std::fs::read(folder.join("plan.json")).unwrap();
    found.extend(canaries.in_bytes("the saved plan", &saved));
    for (what, printed) in &stand.said {
        found.extend(canaries.in_bytes(&format!("`{what}`"), printed));
    }
    assert_eq!(found, Vec::<String>::new());
    let saved = control::ask(sandbox.address, Method::GET, "/_sandbox/objects/cards", None).await;
    let saved = saved.unwrap().lines().count();
    assert_eq!(saved, SOURCES.len() + 1, "the secrets and the token were used");
    covers::covers(&["5.8", "31.6", "34.17"]);
}

/// Puts secrets into wrong fields. The test searches the problems for the secrets, as all other output.
fn wrong_places(stand: &mut Stand<'_>) {
    let all = std::fs::read_to_string(stand.folder.join("specs/all.yaml")).unwrap();
    let sealed = all.lines().rfind(|line| line.contains("number: {age")).unwrap();
    let sealed = &sealed[sealed.find("{age").unwrap()..=sealed.find("\"}").unwrap() + 1];
    let moved = card("moved", "age", sealed);
    let failing = card("failing", "exec", "{exec: failing}");
    stand.write("specs/wrong.yaml", &format!("{moved}---\n{failing}"));
    let (code, printed) = stand.run(&["-vvv", "apply", "--yes"], "");
    for why in ["the text was sealed for another place", "the program failing failed"] {
        assert!(code != 0 && printed.contains(why), "{code} {printed}");
    }
    for (number, problem) in [
        (format!("{{age: \"{}\"}}", NUMBERS[0]), "reckon::secret::age_malformed"),
        (format!("{{exec: \"{}\"}}", NUMBERS[1]), "reckon::secret::exec_unknown"),
        (format!("{{exec: \"/bin/cat {}\"}}", NUMBERS[1]), "reckon::secret::exec_name"),
        (format!("{{env: A, file: \"{}\"}}", NUMBERS[2]), "reckon::secret::not_one_source"),
        (format!("{{env: \"{}\"}}", NUMBERS[3]), "reckon::secret::env_name"),
        (format!("\"{}\"", NUMBERS[3]), "reckon::saved_method::number_in_the_open"),
    ] {
        stand.write("specs/wrong.yaml", &card("wrong", "env", &number));
        for form in ["text", "json"] {
            let printed = stand.ends(&["validate", "-o", form], 1);
            assert!(printed.contains(problem), "{printed}");
        }
    }
    std::fs::remove_file(stand.folder.join("specs/wrong.yaml")).unwrap();
    // A document that never reached the service disappears with its file; an intent on hold is reported.
    stand.run(&["apply", "--yes"], "");
}

#[test]
fn a_panic_that_shows_all_it_has_shows_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let secret = "canary-in-the-open-81726354";
    let key = data_encoding::BASE64.encode(&[0x3c; 32]);
    let mut canaries = Canaries::default();
    canaries.plant("the client secret", secret);
    canaries.plant("the key of the vault", &key);
    let head = "apiVersion: reckon.dev/v1\nkind: Config\n";
    let text = format!("{head}partner: {{client_secret: {secret}}}\nsecrets: {{key: {key}}}\n");
    std::fs::write(folder.path().join("reckon.yaml"), text).unwrap();
    let specs = folder.path().join("specs");
    std::fs::create_dir(&specs).unwrap();
    std::fs::write(specs.join("a.yaml"), merchant("a", &format!("access_token: {secret}")))
        .unwrap();
    let config = Config::load(&folder.path().join("reckon.yaml")).unwrap();
    let check = config.check_context(&|_: &str| None).unwrap();
    let mut loader = Loader::new(&specs, "specs", ReadContext { kinds: KINDS, check });
    loader.load_all();
    assert_eq!(loader.problems().shown.len(), 1);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        panic!("{config:?} {loader:?} {:?} {:?}", loader.desired(), loader.problems());
    }));
    let payload = panicked.unwrap_err();
    let said = payload.downcast_ref::<String>().unwrap();
    assert!(said.contains("Secret(***)"), "{said}");
    assert_eq!(canaries.in_bytes("the panic", said.as_bytes()), Vec::<String>::new());
}

#[test]
fn a_planted_value_is_found_in_every_form() {
    let secret = "s3cret+/\"value\"?";
    let mut canaries = Canaries::default();
    canaries.plant("it", secret);
    let base64 = |text: &str| data_encoding::BASE64.encode(text.as_bytes());
    let url = |text: &str| data_encoding::BASE64URL_NOPAD.encode(text.as_bytes());
    for shown in [
        format!("a{secret}b"),
        json!({ "a": secret }).to_string(),
        base64(secret),
        base64(&format!("x{secret}y")),
        base64(&format!("xy{secret}")),
        url(&format!("xyz{secret}z")),
        data_encoding::HEXUPPER.encode(secret.as_bytes()),
        format!("{:?}", secret.as_bytes()),
        secret.bytes().map(|byte| format!("\\u{byte:04x}")).collect::<Vec<_>>().concat(),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("deep")).unwrap();
        std::fs::write(
            folder.path().join("deep/file"),
            [&[0xff, 0][..], shown.as_bytes()].concat(),
        )
        .unwrap();
        assert!(!canaries.in_folder(folder.path()).is_empty(), "{shown}");
        assert!(!canaries.in_bytes("it", shown.as_bytes()).is_empty(), "{shown}");
    }
    assert_eq!(canaries.in_bytes("it", base64("another text").as_bytes()), Vec::<String>::new());
}

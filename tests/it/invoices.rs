//! Invoices, end to end: attachments, replacements, modes, and the portal link.

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tower::ServiceExt;

use crate::support::world::World;
use crate::support::{covers, world};
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::input::EngineInput;
use reckon::engine::protocol::payers::PageLink;
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::render;
use reckon::render::words::Screen;
use reckon::sandbox::options::ServiceSurface;
use reckon::store::disk::traits::Disk;
use reckon::store::index::ordered::Index;

const HEAD: &str = r"
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec:
  mode: test
  timezone: America/Chicago
  credentials: {authorization_code: {env: CODE_ACME}}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec:
  merchant: acme
  first_name: Jane
  last_name: Doe
  email_addresses: [{address: jane@example.com}]
";

/// Returns an invoice of the one contact.
fn invoice(name: &str, generation: u32, rest: &str) -> String {
    format!(
        "---\napiVersion: reckon.dev/v1\nkind: Invoice\nmetadata: {{name: {name}, annotations: {{reckon.dev/generation: \"{generation}\"}}}}\nspec:\n  \
         merchant: acme\n  contact: jane\n  bank_account: Operating\n  invoice_date: 2030-01-15\n  \
         line_items: [{{description: Retainer, rate_per_quantity: \"125.00 USD\"}}]\n{rest}"
    )
}

fn tree(invoices: &[String]) -> String {
    format!("{HEAD}{}", invoices.concat())
}

const LETTER: &str = "  attachments: [{file: letter.pdf}]\n";

fn house(surface: ServiceSurface) -> World {
    World::new(surface, "2029-12-01T10:00:00Z")
}

/// Counts the requests of a method whose path has this end.
fn served(world: &World, method: &str, end: &str) -> usize {
    let all = world.control("GET", "requests", &Value::Null);
    let fits = |one: &&Value| {
        one["method"] == json!(method) && one["path"].as_str().unwrap().ends_with(end)
    };
    all["requests"].as_array().unwrap().iter().filter(fits).count()
}

/// Plants this fault at the next POSTs to the path.
fn strike(world: &World, path: &str, fault: &str, times: u32) {
    let order = json!({"method": "POST", "path": path, "fault": fault, "times": times});
    world.control("POST", "faults", &order);
}

#[tokio::test(start_paused = true)]
async fn a_file_is_uploaded_once_processed_and_then_attached() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let world = house(surface);
        world.attach("letter.pdf", "Dear Jane");
        world.write(&tree(&[invoice("one", 0, LETTER), invoice("two", 0, LETTER)]));
        let planned = world.engine().view().plan_view();
        let step = planned.steps.iter().find(|step| step.name == "one").unwrap();
        let shown: Vec<_> = step.changes.iter().map(|one| (&*one.path, &one.after)).collect();
        let hash = reckon::base::hash::sha256(b"Dear Jane").to_string();
        assert!(shown.contains(&("attachments[0].sha256", &json!(hash))), "{shown:?}");
        assert!(shown.contains(&("attachments[0].size", &json!(9))));
        assert_eq!(world.settle().await, Vec::<String>::new());
        let files = world.objects("files");
        assert_eq!(files.len(), 1, "one upload serves both invoices of the contact");
        assert_eq!(files[0]["processing_state"], "completed");
        for made in world.objects("invoices") {
            assert_eq!(made["attachments"][0]["id"], files[0]["id"]);
            assert_eq!(made["attachments"][0]["file_name"], "letter.pdf");
        }
        assert_eq!(world.objects("invoices").len(), 2);
        let before = world.control("GET", "requests", &Value::Null);
        world.attach("letter.pdf", "Dear Jane, this came later");
        assert_eq!(
            world.settle().await,
            Vec::<String>::new(),
            "a later change of the file is ignored"
        );
        assert_eq!(world.control("GET", "requests", &Value::Null), before);
    }
    covers::covers(&["22.10"]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_upload_is_sent_again_and_a_lost_invoice_names_the_same_file() {
    for (path, fault, uploads) in [
        ("/contacts/", "drop_after", 2),
        ("/contacts/", "error_before", 2),
        ("/invoices", "drop_after", 1),
        ("/invoices", "error_after", 1),
    ] {
        let world = house(ServiceSurface::Documented);
        world.attach("letter.pdf", "Dear Jane");
        world.write(&tree(&[invoice("one", 0, LETTER)]));
        strike(&world, path, fault, 1);
        assert_eq!(world.settle().await, Vec::<String>::new(), "{path} {fault}");
        assert_eq!(served(&world, "POST", "/files"), uploads, "{path} {fault}");
        assert_eq!(world.objects("invoices").len(), 1);
        assert_eq!(world.objects("invoices")[0]["attachments"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_changes_before_it_is_sent_is_looked_at_again() {
    let world = house(ServiceSurface::Documented);
    world.attach("letter.pdf", "Dear Jane");
    world.write(&tree(&[invoice("one", 0, LETTER)]));
    let mut engine = world.engine();
    world.attach("letter.pdf", "Dear Jane, once more");
    let (sender, events) = mpsc::channel::<EngineInput>(8);
    let hold = async {
        tokio::time::sleep(std::time::Duration::from_mins(1)).await;
        assert_eq!(
            world.objects("files").len(),
            0,
            "a file that differs from the plan is not sent"
        );
        sender.send(EngineInput::Files(Vec::new())).await.unwrap();
        let (answer, settled) = oneshot::channel();
        sender.send(EngineInput::Ask(EngineQuery::Settle, answer)).await.unwrap();
        assert_eq!(settled.await.unwrap(), Reply::Settled);
        sender.send(EngineInput::Stop).await.unwrap();
    };
    let (ended, ()) = tokio::join!(engine.run(events, RunUntil::Stopped), hold);
    ended.unwrap();
    assert_eq!(world.objects("files")[0]["size"], 20);
    assert_eq!(world.objects("invoices").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_not_there_is_told_at_its_line_and_found_when_it_comes() {
    let world = house(ServiceSurface::Documented);
    world.write(&tree(&[invoice("one", 0, LETTER)]));
    let mut engine = world.engine();
    let problems = engine.view().plan_view().problems;
    assert_eq!((problems.len(), problems[0].code.as_str()), (1, "reckon::file::unreadable"));
    assert_eq!((problems[0].line, problems[0].column), (28, 24));
    world.attach("letter.pdf", "Dear Jane");
    let (sender, events) = mpsc::channel::<EngineInput>(8);
    let looked = async {
        let (answer, settled) = oneshot::channel();
        sender.send(EngineInput::Ask(EngineQuery::Settle, answer)).await.unwrap();
        settled.await.unwrap();
        sender.send(EngineInput::Stop).await.unwrap();
    };
    let (ended, ()) = tokio::join!(engine.run(events, RunUntil::Stopped), looked);
    ended.unwrap();
    assert_eq!(world::told(&engine), Vec::<String>::new());
    assert_eq!(world.objects("invoices")[0]["attachments"][0]["file_name"], "letter.pdf");
}

#[tokio::test(start_paused = true)]
async fn a_replacement_says_that_the_old_invoice_stays_payable() {
    let world = house(ServiceSurface::Documented);
    world.attach("letter.pdf", "Dear Jane");
    world.write(&tree(&[invoice("one", 0, "")]));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let old = world.objects("invoices")[0].clone();
    world.write(&tree(&[invoice("one", 1, LETTER)]));
    let plan = world.engine().view().plan_view();
    let sentence = format!(
        "old invoice {} stays payable; the new one is acme:Invoice/default/one;r1",
        old["invoice_number"].as_str().unwrap()
    );
    assert!(render::plan::text(&plan, Screen::PLAIN).contains(&sentence));
    assert!(render::plan::markdown(&plan).contains(" stays payable; the new one is "));
    let replaces = serde_json::to_value(&plan).unwrap()["steps"][0]["replaces"].clone();
    assert_eq!(
        replaces,
        json!({"source_id": "acme:Invoice/default/one;r1", "old_number": old["invoice_number"],
            "old_id": old["id"], "old_stays_payable": true})
    );
    assert_eq!(
        world.plan(),
        [
            "Create Invoice/one: Replaced (generation raised; the old object stays unchanged)",
            "12500 USD invoiced test",
        ]
    );
    strike(&world, "/contacts/", "error_before", 1);
    assert_eq!(world.settle().await, Vec::<String>::new());
    let made = world.objects("invoices");
    assert_eq!((made.len(), &made[1]["source_id"]), (2, &json!("acme:Invoice/default/one;r1")));
    assert_eq!((&made[0], &made[0]["status"]), (&old, &json!("pending")));
    assert_eq!(made[1]["attachments"].as_array().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_live_bank_account_is_told_before_a_test_invoice_is_sent() {
    let world = house(ServiceSurface::Documented);
    world.write(HEAD);
    world.settle().await;
    let all = world.control("GET", "credentials", &Value::Null);
    let merchants = all["merchants"].as_array().unwrap();
    let acme = merchants.iter().find(|one| one["name"] == "acme").unwrap();
    let banks = acme["bank_accounts"].as_array().unwrap();
    let live = banks.iter().find(|bank| bank["mode"] == "live").unwrap()["id"].as_str().unwrap();
    let one =
        invoice("one", 0, "").replace("bank_account: Operating", &format!("bank_account: {live}"));
    world.write(&tree(&[one]));
    let told = world.settle().await;
    assert_eq!(
        told,
        [format!(
            "Blocked Invoice/one: OtherMode (the bank account {live:?} is for live mode, and the invoice is in test mode)"
        )]
    );
    assert_eq!(served(&world, "POST", "/invoices"), 0);
    covers::covers(&["23.4"]);
}

/// Requests the portal link of an invoice this number of times, as `reckon link` does.
async fn links(world: &World, name: &str, times: usize) -> Vec<PageLink> {
    let mut engine = world.engine();
    engine.select_targets([].into());
    let (sender, events) = mpsc::channel(2);
    let asked = async {
        let mut pages = Vec::new();
        for _ in 0..times {
            let (page, answer) = oneshot::channel();
            let key = format!("Invoice/{name}").parse().unwrap();
            sender.send(EngineInput::Visit(key, page)).await.unwrap();
            pages.push(answer.await.unwrap());
        }
        sender.send(EngineInput::Stop).await.unwrap();
        pages
    };
    let (ended, pages) = tokio::join!(engine.run(events, RunUntil::Stopped), asked);
    ended.unwrap();
    pages
}

#[tokio::test(start_paused = true)]
async fn a_portal_link_is_made_when_asked_for_and_shows_nowhere() {
    let world = house(ServiceSurface::Documented);
    world.write(&tree(&[invoice("one", 0, ""), invoice("two", 0, "")]));
    assert_eq!(links(&world, "one", 1).await, [None], "there is no invoice yet");
    assert_eq!(world.objects("contacts").len(), 0, "a request for a link does nothing else");
    assert_eq!(served(&world, "POST", "/hash"), 0);
    world.settle().await;
    assert_eq!(served(&world, "POST", "/hash"), 0, "no link was requested");
    let given = links(&world, "one", 2).await;
    assert_ne!(given[0], given[1], "each link is new");
    let given = given[0].as_ref().unwrap();
    assert!(given.expose().starts_with("https://127.0.0.1:8700/contacts/"));
    assert_eq!(served(&world, "POST", "/hash"), 2);
    let hash = given.expose().rsplit('/').next().unwrap().to_owned();
    let engine = world.engine();
    let key = "Invoice/one".parse().unwrap();
    let views = format!(
        "{:?}{:?}{:?}",
        engine.view().plan_view(),
        engine.answer(EngineQuery::Resources(Box::default())).unwrap(),
        engine.answer(EngineQuery::Resource(key)).unwrap(),
    );
    assert!(!views.contains(&hash) && !views.contains("/contacts/"), "{views}");
    for disk in [&world.journal, &world.vault] {
        for name in disk.list().unwrap() {
            let length = usize::try_from(disk.len(&name).unwrap()).unwrap();
            let bytes = disk.read_at(&name, 0, length).unwrap();
            assert!(!bytes.windows(hash.len()).any(|part| part == hash.as_bytes()), "{name}");
        }
    }
    for (key, value) in world.index.scan(b"").unwrap() {
        let shows = value.windows(hash.len()).any(|part| part == hash.as_bytes());
        assert!(!shows, "{}", String::from_utf8_lossy(&key));
    }
    assert_eq!(world.settle().await, Vec::<String>::new(), "a link changes nothing");
    assert_eq!(world.objects("invoices").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_lost_is_asked_for_again_and_one_that_is_refused_spoils_nothing() {
    let world = house(ServiceSurface::Documented);
    world.write(&tree(&[invoice("one", 0, "")]));
    world.settle().await;
    strike(&world, "/contacts/", "drop_after", 1);
    assert!(links(&world, "one", 1).await[0].is_some());
    assert_eq!(served(&world, "POST", "/hash"), 2);
    let order = json!({"method": "POST", "path": "/contacts/", "fault": "error_before", "status": 422, "times": 1});
    world.control("POST", "faults", &order);
    let given = links(&world, "one", 2).await;
    assert!(given[0].is_none() && given[1].is_some(), "a later request gets a link");
    world.control("POST", "faults", &order);
    assert_eq!(links(&world, "one", 1).await, [None]);
    assert_eq!(world.settle().await, Vec::<String>::new(), "the invoice is unchanged");
}

#[tokio::test(start_paused = true)]
async fn no_attached_byte_is_in_journal_index_or_vault() {
    let world = house(ServiceSurface::Documented);
    let text = "A letter that nobody else reads";
    world.attach("letter.pdf", text);
    world.write(&tree(&[invoice("one", 0, LETTER)]));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let hash = reckon::base::hash::sha256(text.as_bytes()).to_string();
    let base64 = data_encoding::BASE64.encode(text.as_bytes());
    let canaries = [text, hash.as_str(), base64.trim_end_matches('=')];
    let shows = |bytes: &[u8]| {
        canaries.iter().find(|one| bytes.windows(one.len()).any(|part| part == one.as_bytes()))
    };
    for disk in [&world.journal, &world.vault] {
        for name in disk.list().unwrap() {
            let length = usize::try_from(disk.len(&name).unwrap()).unwrap();
            assert_eq!(shows(&disk.read_at(&name, 0, length).unwrap()), None, "{name}");
        }
    }
    for (key, value) in world.index.scan(b"").unwrap() {
        assert_eq!(shows(&value), None, "{}", String::from_utf8_lossy(&key));
    }
}

/// Pays the invoice in the portal.
async fn pay(world: &World, invoice: &Value) {
    let card =
        json!({"type": "card", "number": "4242424242424242", "exp_month": 1, "exp_year": 2032});
    let token = world.ask("acme", "POST", "/v1/tokens", &card)["id"].clone();
    let path = format!("/invoices/{}/payments", invoice["id"].as_str().unwrap());
    let form = format!("token_id={}", token.as_str().unwrap());
    let request = http::Request::post(path)
        .header("host", "localhost")
        .header("content-type", "application/x-www-form-urlencoded");
    let request = request.body(axum::body::Body::from(form)).unwrap();
    assert_eq!(world.sandbox.router().oneshot(request).await.unwrap().status(), 303);
}

#[tokio::test(start_paused = true)]
async fn an_invoice_that_is_paid_is_no_difference_and_is_not_made_again() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let world = house(surface);
        world.write(&tree(&[invoice("one", 0, "")]));
        assert_eq!(world.settle().await, Vec::<String>::new());
        pay(&world, &world.objects("invoices")[0]).await;
        let paid = world.objects("invoices")[0].clone();
        assert_eq!((&paid["status"], &paid["amount_paid"]), (&json!("paid"), &json!(12500)));
        let mut engine = world.engine();
        engine.sweep_everything().await.unwrap();
        assert_eq!(world::told(&engine), Vec::<String>::new());
        drop(engine);
        assert_eq!(world.settle().await, Vec::<String>::new());
        let id = paid["id"].as_str().unwrap();
        assert_eq!(served(&world, "GET", id), 0, "the invoice is not read again");
        assert_eq!(world.objects("invoices"), [paid]);
        assert_eq!(served(&world, "POST", "/invoices"), 1);
    }
    covers::covers(&["24.6"]);
}

//! Requests as the two interface documents write them: the body, the host and the key of each.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::support::applicants::COMPLETE;
use crate::support::payments::{MERCHANT, START, bank, card, document, only, recurring};
use crate::support::requests::{Seen, Sent};
use crate::support::world::World;
use crate::support::{applicants, covers};
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::actions::{ManualResolution, ResolveIntent, ResolveResult};
use reckon::engine::protocol::input::{EngineCommand, EngineInput};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::sandbox::options::ServiceSurface;
use reckon::store::disk::traits::Disk;
use reckon::store::index::ordered::Index;

/// Returns the world with a recorder of its engines' requests.
fn watched(mut world: World) -> (World, Seen) {
    let seen = Seen::default();
    world.seen = Some(seen.clone());
    (world, seen)
}

/// Builds a world with this tree on the surface of the two interface documents.
fn of(tree: &[String]) -> (World, Seen) {
    let (world, seen) = watched(World::new(ServiceSurface::Documented, START));
    world.write(&tree.concat());
    (world, seen)
}

/// Plants this fault at the next request of a method to the path.
fn strike(world: &World, method: &str, path: &str, fault: &str, status: u16) {
    let order =
        json!({"method": method, "path": path, "fault": fault, "status": status, "times": 1});
    world.control("POST", "faults", &order);
}

fn credentials(world: &World) -> Value {
    world.control("GET", "credentials", &Value::Null)
}

fn contact(said: &str) -> String {
    let spec = "first_name: Joe\n  last_name: Doe\n  email_addresses: [{address: joe@example.com}]";
    let text = document("Contact", "joe", spec);
    text.replace("{name: joe}", &format!("{{name: joe, annotations: {{{said}}}}}"))
}

const INVOICE: &str = "contact: joe
  bank_account: Operating
  invoice_date: 2030-01-15
  reference: Case 7
  line_items: [{description: Retainer, rate_per_quantity: \"125.00 USD\"}, {description: Filing, rate_per_quantity: \"10.50 USD\"}]
  invoice_messages: [{email_addresses: [joe@example.com], subject: Your invoice, message: Please pay}]
  attachments: [{file: letter.pdf}]";

fn invoice() -> String {
    document("Invoice", "one", INVOICE)
}

#[tokio::test(start_paused = true)]
async fn a_tenant_token_is_asked_for_by_four_fields_in_the_body_and_renewed_once_after_a_401() {
    let (world, seen) = watched(applicants::world(COMPLETE));
    strike(&world, "POST", "/api/v1/merchant_applications", "error_before", 401);
    let told = world.settle().await;
    assert!(told[0].starts_with("Wait MerchantApplication/harbor: AwaitsDecision"), "{told:?}");
    let partner = &credentials(&world)["partner"];
    let asked = seen.of("POST", "/oauth/token");
    assert_eq!(asked.len(), 2);
    for one in asked {
        let body = json!({"client_id": partner["client_id"], "client_secret": partner["client_secret"],
            "grant_type": "client_credentials", "scope": "tenant"});
        assert_eq!((one.body, one.authorization), (body, None));
        assert_eq!(one.content_type.as_deref(), Some("application/json"));
    }
    let sent = seen.of("POST", "/api/v1/merchant_applications");
    assert_eq!((sent.len(), world.objects("applications").len()), (2, 1));
    assert_eq!(sent[0].body, sent[1].body);
    assert_ne!(sent[0].authorization, sent[1].authorization, "each attempt has its own token");
    covers::covers(&["1.7"]);
}

#[tokio::test(start_paused = true)]
async fn a_code_is_exchanged_once_and_where_its_answer_is_lost_another_code_is_needed() {
    for (fault, times, opens) in
        [("", 1, true), ("error_before", 2, true), ("drop_after", 2, false)]
    {
        let (world, seen) = of(&[MERCHANT.to_owned()]);
        if !fault.is_empty() {
            strike(&world, "POST", "/oauth/token", fault, 500);
        }
        let plan = world.settle().await;
        assert_eq!(plan.is_empty(), opens, "{fault}: {plan:?}");
        assert!(opens || plan[0].starts_with("Blocked Merchant/acme"), "{plan:?}");
        world.settle().await;
        let sent = seen.of("POST", "/oauth/token");
        assert_eq!(sent.len(), times, "{fault}");
        assert!(sent.iter().all(|one| one == &sent[0]), "each request has the same code");
        let partner = &credentials(&world)["partner"];
        let body = json!({"client_id": partner["client_id"], "client_secret": partner["client_secret"],
            "grant_type": "authorization_code", "scope": "payments",
            "redirect_uri": partner["redirect_uri"], "code": sent[0].body["code"]});
        assert_eq!((&sent[0].body, &sent[0].authorization), (&body, &None));
    }
    covers::covers(&["2.7"]);
}

/// Returns the engine's response to a person's command. The engine applies no document.
async fn said(world: &World, event: impl FnOnce(oneshot::Sender<Reply>) -> EngineInput) -> Reply {
    let (reply, heard) = oneshot::channel();
    let (sender, events) = tokio::sync::mpsc::channel(2);
    sender.send(event(reply)).await.unwrap();
    let mut engine = world.engine();
    engine.select_targets([].into());
    let person = async {
        let told = heard.await.unwrap();
        sender.send(EngineInput::Stop).await.unwrap();
        told
    };
    let (ended, told) = tokio::join!(engine.run(events, RunUntil::Stopped), person);
    ended.unwrap();
    told
}

/// Settles the intent on hold as not done.
async fn let_go(world: &World) {
    let Reply::Intents(view) = world.engine().answer(EngineQuery::Intents).unwrap() else {
        panic!("unexpected response");
    };
    let id = view.items[0].id.parse().unwrap();
    let resolving =
        ResolveIntent { id, said: ManualResolution::NotDone, actor: "uid 1".to_owned() };
    let told =
        said(world, |reply| EngineInput::Command(EngineCommand::Resolve(resolving), reply)).await;
    assert!(matches!(told, Reply::Resolved(ResolveResult::Settled(_))), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn another_code_opens_the_merchant_whose_first_token_was_lost() {
    let (world, seen) = of(&[MERCHANT.to_owned()]);
    strike(&world, "POST", "/oauth/token", "drop_after", 500);
    let told = world.settle().await;
    assert!(told[0].contains("what the first try gave is lost"), "{told:?}");
    let_go(&world).await;
    assert_eq!(world.settle().await, Vec::<String>::new());
    let sent = seen.of("POST", "/oauth/token");
    assert_eq!(sent.len(), 3);
    assert_ne!(sent[2].body["code"], sent[0].body["code"], "the first code is used up");
    covers::covers(&["2.7"]);
}

#[tokio::test(start_paused = true)]
async fn an_application_is_submitted_with_exactly_the_fields_of_its_document() {
    let (world, seen) = watched(applicants::world(COMPLETE));
    world.settle().await;
    let reference = only(&world, "applications")["reference"].clone();
    let sent = seen.of("POST", "/api/v1/merchant_applications");
    let fields = json!({
        "reference": reference,
        "plan": "basic",
        "first_name": "Mina",
        "last_name": "Jensen",
        "email": "mina@harbor.example",
        "business_name": "Harbor Books",
        "business_address1": "1 Quay",
        "business_city": "Chicago",
        "business_state": "IL",
        "business_zip_code": "60601",
        "business_phone": "+1 312 555 0100",
        "business_country": "US",
        "industry_code": 5942,
        "goods_and_services": "Books",
        "structure": "SO",
        "business_type": "R",
        "federal_tax_id": "00-0000001",
        "years_in_business": "7",
        "owner_first_name": "Mina",
        "owner_last_name": "Jensen",
        "owner_title": "Owner",
        "owner_date_of_birth": "1970-02-28",
        "owner_social_security_number": "000-12-3456",
        "owner_has_significant_ownership": true,
        "owner_has_significant_responsibility": true,
        "owner_address1": "1 Quay",
        "owner_city": "Chicago",
        "owner_state": "IL",
        "owner_zip_code": "60601",
        "owner_phone_number": "+1 312 555 0100",
        "owner_email": "mina@harbor.example",
        "owner_drivers_license_number": "D000-license",
        "owner_drivers_license_state": "IL",
        "owner_drivers_license_expiration": "2031-05-31",
        "owner_country_of_citizenship": "US",
        "operating_account_routing_number": "000000013",
        "operating_account_bank_name": "First Bank of Testing",
        "operating_account_number": "1234567890",
        "signature": "[{\"lx\":1,\"ly\":2,\"mx\":3,\"my\":4}]",
        "ip_address_timestamp": "2026-11-20T18:00:00Z",
    });
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].body, json!({ "merchant_application": fields }));
    covers::covers(&["7.10"]);
}

/// Counts the contacts that may exist twice, as in `reckon intents`.
fn remade(world: &World) -> usize {
    let Reply::Intents(view) = world.engine().answer(EngineQuery::Intents).unwrap() else {
        panic!("unexpected response");
    };
    view.remade.len()
}

/// Closes the part of M12 about orphans: a person's command removes a repeated creation from the list and the count.
async fn dismissed(world: &World) {
    let Reply::Intents(view) = world.engine().answer(EngineQuery::Intents).unwrap() else {
        panic!("unexpected response");
    };
    let Some(one) = view.remade.first() else { return };
    let what = (one.intent.parse().unwrap(), "removed by hand".to_owned());
    let told = said(world, |reply| {
        EngineInput::Command(EngineCommand::AcknowledgeOrphan(what, "uid 1".to_owned()), reply)
    })
    .await;
    assert_eq!(told, Reply::OrphanSeen(Some(one.key.clone())));
    assert_eq!(remade(world), 0);
    let resource = world.engine().answer(EngineQuery::Resource(one.key.clone())).unwrap();
    let Reply::Resource(Some(resource)) = resource else { panic!("unexpected response") };
    assert_eq!(resource.possible_orphans, 0);
}

#[tokio::test(start_paused = true)]
async fn a_contact_is_made_once_and_one_whose_answer_is_lost_is_held_or_made_again_and_told() {
    for (said, lost, made, again) in [
        ("", false, 1, 0),
        ("reckon.dev/on-doubt: hold", true, 1, 0),
        ("reckon.dev/on-doubt: recreate", true, 2, 1),
    ] {
        let (world, seen) = of(&[MERCHANT.to_owned(), contact(said)]);
        if lost {
            strike(&world, "POST", "/contacts", "drop_after", 500);
        }
        let left = world.settle().await;
        assert_eq!(world.settle().await, left);
        let held = left.iter().any(|one| one.contains("Held") && one.contains("prove"));
        assert_eq!((held, left.is_empty()), (said.ends_with("hold"), !said.ends_with("hold")));
        assert_eq!((world.objects("contacts").len(), remade(&world)), (made, again), "{said}");
        dismissed(&world).await;
        let sent = seen.of("POST", "/contacts");
        let body = json!({"type": "person", "test_mode": true, "first_name": "Joe",
            "last_name": "Doe", "email_addresses": [{"address": "joe@example.com"}]});
        assert!(sent.len() == made && sent.iter().all(|one| one.body == body), "{sent:?}");
    }
    covers::covers(&["18.10"]);
}

#[tokio::test(start_paused = true)]
async fn an_invoice_is_sent_with_its_amounts_in_cents_as_texts_and_its_bank_account_by_name() {
    let (world, seen) = of(&[MERCHANT.to_owned(), contact(""), invoice()]);
    world.attach("letter.pdf", "Dear Joe");
    assert_eq!(world.settle().await, Vec::<String>::new());
    let all = credentials(&world);
    let mut merchants = all["merchants"].as_array().unwrap().iter();
    let acme = merchants.find(|one| one["name"] == "acme").unwrap();
    let mut banks = acme["bank_accounts"].as_array().unwrap().iter();
    let operating = banks.find(|one| one["name"] == "Operating" && one["mode"] == "test").unwrap();
    let body = json!({
        "contact_id": only(&world, "contacts")["id"],
        "bank_account_id": operating["id"],
        "invoice_date": "2030-01-15T18:00:00.000Z",
        "currency": "USD",
        "reference": "Case 7",
        "source_id": "acme:Invoice/default/one",
        "line_items": [
            {"description": "Retainer", "rate_per_quantity": "12500", "quantity": "1", "rate_type": "units"},
            {"description": "Filing", "rate_per_quantity": "1050", "quantity": "1", "rate_type": "units"},
        ],
        "invoice_messages": [{"email_addresses": ["joe@example.com"], "subject": "Your invoice",
            "message": "Please pay"}],
        "attachments": [{"id": only(&world, "files")["id"]}],
        "test_mode": true,
    });
    let sent = seen.of("POST", "/invoices");
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].body, body);
    assert_eq!(only(&world, "contacts")["test_mode"], true);
    covers::covers(&["17.6", "19.12", "23.4"]);
}

#[tokio::test(start_paused = true)]
async fn the_invoice_of_a_live_merchant_is_live_and_so_are_its_contact_and_its_bank_account() {
    let live = MERCHANT.replace("mode: test", "mode: live");
    let (world, seen) = of(&[live, contact(""), invoice()]);
    world.attach("letter.pdf", "Dear Joe");
    assert_eq!(world.settle().await, Vec::<String>::new());
    let all = credentials(&world);
    let mut merchants = all["merchants"].as_array().unwrap().iter();
    let acme = merchants.find(|one| one["name"] == "acme").unwrap();
    let mut banks = acme["bank_accounts"].as_array().unwrap().iter();
    let operating = banks.find(|one| one["name"] == "Operating" && one["mode"] == "live").unwrap();
    let sent = seen.of("POST", "/invoices");
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].body["bank_account_id"], operating["id"]);
    assert_eq!(sent[0].body["test_mode"], false);
    assert_eq!(only(&world, "contacts")["test_mode"], false);
    covers::covers(&["23.4"]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_of_an_invoice_is_settled_by_sending_it_again_and_its_messages_go_out_once() {
    for fault in ["", "drop_after", "error_before", "error_after"] {
        let (world, seen) = of(&[MERCHANT.to_owned(), contact(""), invoice()]);
        world.attach("letter.pdf", "Dear Joe");
        if !fault.is_empty() {
            strike(&world, "POST", "/invoices", fault, 500);
        }
        assert_eq!(world.settle().await, Vec::<String>::new(), "{fault}");
        assert_eq!(world.settle().await, Vec::<String>::new(), "{fault}");
        let sent = seen.of("POST", "/invoices");
        assert_eq!(sent.len(), if fault.is_empty() { 1 } else { 2 }, "{fault}");
        assert!(sent.iter().all(|one| one.body == sent[0].body), "{sent:?}");
        assert_eq!(only(&world, "invoices")["source_id"], sent[0].body["source_id"]);
        let mail = world.control("GET", "mailbox", &Value::Null)["messages"].clone();
        assert_eq!(mail.as_array().unwrap().len(), 1, "{fault}: {mail}");
        assert_eq!(
            (&mail[0]["to"], &mail[0]["subject"]),
            (&json!("joe@example.com"), &json!("Your invoice"))
        );
    }
    covers::covers(&["20.4", "21.8"]);
}

/// Returns the host and the credential that an endpoint takes (both documents, Authentication).
fn wanted(sent: &Sent) -> (&'static str, &'static str) {
    let path = sent.path.as_str();
    if path == "/oauth/token" {
        ("127.0.0.1:8700", "none")
    } else if path.starts_with("/api/v1/") {
        ("brand.example", "bearer")
    } else if path.ends_with("/surcharge") || (sent.method.as_str(), path) == ("POST", "/v1/tokens")
    {
        ("127.0.0.1:8700", "public")
    } else if path.starts_with("/v1/") {
        ("127.0.0.1:8700", "secret")
    } else {
        ("127.0.0.1:8700", "bearer")
    }
}

/// Returns the service's name for the credential of a request.
fn carried(all: &Value, sent: &Sent) -> String {
    let Some(header) = &sent.authorization else { return "none".to_owned() };
    let Some(pair) = header.strip_prefix("Basic ") else {
        return header.split(' ').next().unwrap().to_lowercase();
    };
    let pair = String::from_utf8(data_encoding::BASE64.decode(pair.as_bytes()).unwrap()).unwrap();
    let key = pair.strip_suffix(':').unwrap();
    let keys = all["merchants"].as_array().unwrap().iter().flat_map(|merchant| {
        let accounts = merchant["test"]["accounts"].as_array().unwrap();
        std::iter::once(&merchant["test"]).chain(accounts)
    });
    let mut named = keys.flat_map(|keys| ["public", "secret"].map(|word| (word, keys)));
    let found = named.find(|(word, keys)| keys[format!("{word}_key")] == key);
    found.map_or("unknown", |(word, _)| word).to_owned()
}

#[tokio::test(start_paused = true)]
async fn each_call_goes_to_its_host_with_the_key_that_its_endpoint_takes() {
    let branded = "mode: test, web_url: https://brand.example,";
    let now = "method: card\n  amount: \"20.00 USD\"\n  first_charge: now\n  surcharge: apply\n  \
               schedule: {interval_unit: MONTH, interval_delay: 1}";
    let tree = [
        COMPLETE.to_owned(),
        applicants::MERCHANT.replace("mode: test,", branded),
        format!("---{MERCHANT}"),
        contact(""),
        invoice(),
        card("card", "4242424242424242"),
        bank("bank"),
        recurring("dues", "bank", ""),
        document("RecurringCharge", "at-once", now),
    ]
    .concat();
    let (world, seen) = watched(applicants::world(&tree));
    world.attach("letter.pdf", "Dear Joe");
    let told = world.settle().await;
    assert!(told.iter().all(|one| one.contains("/harbor")), "{told:?}");
    world.write(&tree.replace("exp_year: 2031", "exp_year: 2032"));
    assert_eq!(world.settle().await, told);
    let (all, known) = (seen.all(), credentials(&world));
    for sent in &all {
        let (host, credential) = wanted(sent);
        assert_eq!(
            (sent.host.as_str(), carried(&known, sent).as_str()),
            (host, credential),
            "{sent:?}"
        );
    }
    let paths: BTreeSet<String> =
        all.iter().map(|one| format!("{} {}", one.method, one.path)).collect();
    for asked in [
        "POST /oauth/token",
        "POST /api/v1/merchant_applications",
        "GET /gateway-credentials",
        "GET /bank-accounts",
        "POST /contacts",
        "POST /invoices",
        "POST /v1/cards",
        "POST /v1/banks",
        "POST /v1/recurring/charges",
        "POST /v1/charges",
        "POST /v1/tokens",
    ] {
        assert!(paths.contains(asked), "{asked} is not in {paths:?}");
    }
    assert!(paths.iter().any(|path| path.ends_with("/surcharge")), "{paths:?}");
    let tokens = |on_web: bool| -> BTreeSet<&String> {
        let of_host = all.iter().filter(|one| one.path.starts_with("/api/v1/") == on_web);
        of_host.filter_map(|one| one.authorization.as_ref()).collect()
    };
    assert!(
        tokens(true).is_disjoint(&tokens(false)),
        "the tenant token works on the web host only"
    );
    covers::covers(&["28.4", "29.6"]);
}

/// Returns true if the journal, the vault or the index holds a text.
fn is_written_down(world: &World, text: &str) -> bool {
    let shows = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let on_disk = [&world.journal, &world.vault].into_iter().any(|disk| {
        disk.list().unwrap().iter().any(|name| {
            let length = usize::try_from(disk.len(name).unwrap()).unwrap();
            shows(&disk.read_at(name, 0, length).unwrap())
        })
    });
    on_disk || world.index.scan(b"").unwrap().iter().any(|(key, value)| shows(key) || shows(value))
}

#[tokio::test(start_paused = true)]
async fn a_one_time_token_is_made_for_each_change_and_is_written_down_nowhere() {
    let tree =
        [MERCHANT.to_owned(), card("card", "4242424242424242"), recurring("dues", "card", "")];
    let (world, seen) = of(&tree);
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(seen.of("POST", "/v1/tokens"), []);
    world.write(&tree.concat().replace("exp_year: 2031", "exp_year: 2032"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let made = seen.of("POST", "/v1/tokens").len();
    let changes: Vec<Sent> = seen.all().into_iter().filter(|one| one.method == "PATCH").collect();
    let used: BTreeSet<&str> = changes
        .iter()
        .map(|one| one.body.get("token_id").unwrap_or(&one.body["method"]).as_str().unwrap())
        .collect();
    assert_eq!(
        (made, changes.len(), used.len()),
        (2, 2, 2),
        "one token for the card, one for its charge"
    );
    let card = only(&world, "cards")["id"].as_str().unwrap().to_owned();
    assert!(is_written_down(&world, &card), "an id that is no secret is found");
    for token in used {
        assert!(!is_written_down(&world, token), "{token}");
    }
    covers::covers(&["49.12"]);
}

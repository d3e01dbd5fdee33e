//! Every field of every kind: applied, edited, shown by the plan, applied again, and then nothing is left to do.
//!
//! The fields come from the schema. A field without a case fails by its path; a case is one line of a table.

mod application;
mod case;
mod contact;
mod documents;
mod invoice;
mod merchant;
mod method;
mod recurring;
mod round;
pub(crate) mod schema;

use std::collections::{BTreeMap, BTreeSet};

use reckon::kinds::planning::diff::mutability_of;
use reckon::kinds::register::KINDS;
use reckon::sandbox::options::ServiceSurface;
use serde_json::{Value, json};

use crate::support::applicants::{BORN, COMPLETE, LICENSE, SIGNATURE, SSN};
use crate::support::world;
use crate::support::world::World;
use case::Table;
use round::faults;

/// One table per kind.
const TABLES: [Table; 6] = [
    application::TABLE,
    merchant::TABLE,
    contact::TABLE,
    invoice::TABLE,
    method::TABLE,
    recurring::TABLE,
];

/// Placeholders in a table's texts, with their values.
type Names = BTreeMap<&'static str, String>;

#[test]
fn every_field_of_the_schema_has_a_case_and_every_case_a_field() {
    let mut wrong = Vec::new();
    for row in KINDS {
        let table = TABLES.iter().find(|table| table.kind == row.name);
        let cases = table.map_or(&[][..], |table| table.cases);
        let leaves = schema::leaves(row.name);
        assert!(!leaves.is_empty(), "{}", row.name);
        let tried: BTreeSet<&str> = cases.iter().map(|case| case.path).collect();
        let untried = leaves.iter().filter(|leaf| !tried.contains(leaf.as_str()));
        wrong.extend(untried.map(|leaf| format!("{}.{leaf} has no case", row.name)));
        let is_field = |path: &str| leaves.iter().any(|leaf| leaf.starts_with(path));
        let strange = tried.iter().filter(|path| !is_field(path));
        wrong.extend(strange.map(|path| format!("{}.{path} is no field", row.name)));
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_case_says_of_a_change_what_the_field_says_of_itself() {
    let mut wrong = Vec::new();
    for table in TABLES {
        let fields = KINDS.iter().find(|row| row.name == table.kind).unwrap().fields;
        for case in table.cases {
            let said = mutability_of(fields, &case.path.replace("[]", "[0]"));
            if case.does.change().is_some_and(|expect| expect != said) {
                wrong.push(format!("{}.{}: {said:?}", table.kind, case.path));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

async fn as_it_is(_: &mut World) -> Names {
    Names::new()
}

async fn with_an_applicant(world: &mut World) -> Names {
    for (name, text) in
        [("born", BORN), ("ssn", SSN), ("license", LICENSE), ("signature", SIGNATURE)]
    {
        world.files.insert(name.to_owned(), text.to_owned());
        world.files.insert(format!("{name}-two"), text.to_owned());
    }
    Names::new()
}

#[tokio::test(start_paused = true)]
async fn every_field_of_an_application() {
    assert_eq!(faults(&application::TABLE, with_an_applicant).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn every_field_of_a_contact() {
    assert_eq!(faults(&contact::TABLE, as_it_is).await, Vec::<String>::new());
}

/// Writes two files to attach.
async fn with_letters(world: &mut World) -> Names {
    for name in ["letter.txt", "other.txt"] {
        world.attach(name, name);
    }
    Names::new()
}

#[tokio::test(start_paused = true)]
async fn every_field_of_an_invoice() {
    assert_eq!(faults(&invoice::TABLE, with_letters).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn every_field_of_a_saved_method() {
    assert_eq!(faults(&method::TABLE, as_it_is).await, Vec::<String>::new());
}

/// Connects the merchant, and makes two charges outside reckon.
async fn with_earlier_charges(world: &mut World) -> Names {
    world.write(documents::MERCHANTS);
    assert_eq!(world.settle().await, Vec::<String>::new());
    let card =
        json!({"type": "card", "number": "4242424242424242", "exp_month": 1, "exp_year": 2032});
    let order = json!({"amount": 100, "method": card});
    let made = |_: &str| world.ask("acme", "POST", "/v1/charges", &order)["id"].clone();
    let text = |id: Value| id.as_str().unwrap().to_owned();
    ["$CHARGE-1", "$CHARGE-2"].into_iter().map(|name| (name, text(made(name)))).collect()
}

#[tokio::test(start_paused = true)]
async fn every_field_of_a_recurring_charge() {
    assert_eq!(faults(&recurring::TABLE, with_earlier_charges).await, Vec::<String>::new());
}

/// Opens merchants outside reckon. Provides a token of one, and the keys of three others.
async fn with_opened_merchants(world: &mut World) -> Names {
    with_an_applicant(world).await;
    let token = token(world, "opened");
    for file in ["token", "token-two"] {
        world.files.insert(file.to_owned(), token.clone());
    }
    let mut names = Names::new();
    for (merchant, name) in
        [("first", "$FIRST-KEY"), ("second", "$SECOND-KEY"), ("third", "$THIRD-KEY")]
    {
        world.code(merchant);
        names.insert(name, key(world, merchant, "public_key"));
        for file in [merchant.to_owned(), format!("{merchant}-two")] {
            world.files.insert(file, key(world, merchant, "secret_key"));
        }
    }
    names
}

/// Returns a test key of a merchant.
fn key(world: &World, merchant: &str, key: &str) -> String {
    let all = world.control("GET", "credentials", &Value::Null);
    let merchants = all["merchants"].as_array().unwrap();
    let merchant = merchants.iter().find(|one| one["name"] == merchant).unwrap();
    merchant["test"][key].as_str().unwrap().to_owned()
}

/// Returns a `payments` token of a merchant.
fn token(world: &World, merchant: &str) -> String {
    let code = world.code(merchant);
    let partner = world.control("GET", "credentials", &Value::Null)["partner"].clone();
    let order = json!({
        "client_id": partner["client_id"],
        "client_secret": partner["client_secret"],
        "grant_type": "authorization_code",
        "scope": "payments",
        "redirect_uri": partner["redirect_uri"],
        "code": code,
    });
    let answer =
        world::request(&world.sandbox.router(), "POST", "/oauth/token", None, Some(&order));
    answer["access_token"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn every_field_of_a_merchant() {
    assert_eq!(faults(&merchant::TABLE, with_opened_merchants).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn an_application_under_way_is_offered_to_no_applicant() {
    let mut world = World::new(ServiceSurface::Public, "2029-12-01T10:00:00Z");
    with_an_applicant(&mut world).await;
    world.write(COMPLETE);
    world.settle().await;
    world.write(&COMPLETE.replace("submission: complete", "submission: sign_up"));
    let plan = world.plan();
    let expect =
        "Blocked MerchantApplication/harbor: CannotChange (the service cannot change submission; ";
    assert!(plan.len() == 1 && plan[0].starts_with(expect), "{plan:?}");
    let running = world.while_running(async |daemon| {
        assert!(daemon.visit("harbor").await.is_none());
    });
    let running = running.await;
    assert!(running.len() == 1 && running[0].starts_with(expect), "{running:?}");
    assert_eq!(world.objects("applications").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn every_field_of_a_sign_up_may_change_until_its_applicant_has_finished_it() {
    let mut world = World::new(ServiceSurface::Public, "2029-12-01T10:00:00Z");
    with_an_applicant(&mut world).await;
    for is_edited in [false, true] {
        world.write(&application::sign_up(is_edited));
        let waits = world.settle().await;
        assert_eq!(waits.len(), 1, "{waits:?}");
        assert!(waits[0].starts_with("Wait MerchantApplication/harbor: AwaitsApplicant"));
        let clicked = world.while_running(async |daemon| {
            assert!(daemon.visit("harbor").await.is_some());
        });
        assert_eq!(clicked.await, waits);
    }
}

//! Removed documents: objects are deleted, neutralised or orphaned, guards stop a removal, and names change.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::covers;
use crate::support::world::{World, allowed};
use reckon::engine::protocol::input::AllowPrune;
use reckon::policy::prune::PruneGuards;
use reckon::sandbox::options::ServiceSurface;

/// 4 a.m. in Chicago.
const START: &str = "2029-12-01T10:00:00Z";
const SURFACES: [ServiceSurface; 2] = [ServiceSurface::Public, ServiceSurface::Documented];

const MERCHANT: &str = r"
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec:
  mode: test
  timezone: America/Chicago
  credentials: {authorization_code: {env: CODE_ACME}}
";

/// Returns a document of the one merchant, with annotations.
fn document(kind: &str, name: &str, said: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: reckon.dev/v1\nkind: {kind}\nmetadata: {{name: {name}, annotations: {{{said}}}}}\nspec:\n  merchant: acme\n  {spec}\n"
    )
}

const DELETE: &str = "reckon.dev/deletion: delete";
const RAISED: &str = "reckon.dev/generation: \"1\"";

fn card(name: &str, said: &str) -> String {
    let spec = "type: card\n  source: {card: {number: \"4242424242424242\", exp_month: 12, exp_year: 2031}}";
    document("SavedMethod", name, said, spec)
}

fn contact(name: &str, said: &str) -> String {
    let spec = format!(
        "first_name: {name}\n  last_name: Doe\n  email_addresses: [{{address: {name}@example.com}}]"
    );
    document("Contact", name, said, &spec)
}

fn charge(name: &str, method: &str, said: &str, start: &str, dollars: usize) -> String {
    let spec = format!(
        "method: {method}\n  amount: \"{dollars}.00 USD\"\n  schedule: {{start: {start}, interval_unit: MONTH, interval_delay: 1}}"
    );
    document("RecurringCharge", name, said, &spec)
}

fn tree(documents: &[String]) -> String {
    format!("{MERCHANT}{}", documents.concat())
}

/// Builds a world in which this tree was applied. The guards hold from then on.
async fn applied(surface: ServiceSurface, documents: &[String], prune: PruneGuards) -> World {
    let mut world = World::new(surface, START);
    world.write(&tree(documents));
    assert_eq!(world.settle().await, Vec::<String>::new());
    world.prune = prune;
    world
}

/// Counts the occurrences of a recurring charge that the service may still collect.
fn pending(world: &World, charge: &Value) -> usize {
    let path = format!("/v1/recurring/charges/{}/occurrences", charge["id"].as_str().unwrap());
    let all = world.ask("acme", "GET", &path, &Value::Null);
    let all = all["results"].as_array().unwrap();
    all.iter().filter(|one| matches!(one["status"].as_str(), Some("PENDING" | "PAYING"))).count()
}

/// Counts the requests of this method whose path has this end.
fn sent(world: &World, method: &str, end: &str) -> usize {
    let all = world.control("GET", "requests", &Value::Null)["requests"].clone();
    let fits =
        |one: &&Value| one["method"] == method && one["path"].as_str().unwrap().ends_with(end);
    all.as_array().unwrap().iter().filter(fits).count()
}

fn lives(world: &World, kind: &str) -> usize {
    world.objects(kind).iter().filter(|one| one["deleted"] != json!(true)).count()
}

#[tokio::test(start_paused = true)]
async fn a_recurring_charge_without_a_document_is_neutralised_and_never_fires_again() {
    for surface in SURFACES {
        let documents = [card("card", ""), charge("club", "card", DELETE, "2030-02-01", 20)];
        let world = applied(surface, &documents, PruneGuards::without_guards()).await;
        let made = world.objects("recurring_charges")[0].clone();
        assert_eq!(pending(&world, &made), 1);
        world.write(&tree(&documents[..1]));
        let plan = world.plan();
        assert!(plan[0].starts_with("Delete RecurringCharge/club: Neutralised"), "{plan:?}");
        assert_eq!(plan[1], "2000 USD no_longer_collected_per_occurrence test");
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(pending(&world, &made), 0, "{surface:?}");
        let ended = world.objects("recurring_charges")[0].clone();
        assert_eq!(ended["status"], "COMPLETED", "{surface:?}");
        match surface {
            ServiceSurface::Public => assert_eq!(ended["status_reason"], "user_canceled"),
            ServiceSurface::Documented => {
                assert_eq!(ended["schedule"]["end"], "2030-02-01");
                assert_eq!(sent(&world, "POST", "/ignore"), 1);
            }
        }
        world.control("POST", "clock", &json!({"advance": "P400D"}));
        assert_eq!(world.objects("transactions").len(), 0, "nothing was collected");
        let requests = sent(&world, "POST", "");
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(sent(&world, "POST", ""), requests, "the charge is ended once");
        world.write(&tree(&documents));
        let back = world.settle().await;
        assert!(back[0].starts_with("Blocked RecurringCharge/club: Ended"), "{back:?}");
        assert_eq!(world.objects("recurring_charges").len(), 1, "no new charge without an order");
        let raised = tree(&documents).replace(DELETE, &format!("{DELETE}, {RAISED}"));
        world.write(&raised);
        assert_eq!(
            world.settle().await,
            Vec::<String>::new(),
            "{surface:?}: the new generation begins"
        );
        assert_eq!(world.objects("recurring_charges").len(), 2);
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(world.plan(), Vec::<String>::new(), "the new charge is not ended");
    }
}

#[tokio::test(start_paused = true)]
async fn lost_answers_leave_nothing_to_fire_and_end_it_once() {
    for surface in SURFACES {
        let documents = [card("card", ""), charge("club", "card", DELETE, "2030-02-01", 20)];
        let world = applied(surface, &documents, PruneGuards::without_guards()).await;
        let made = world.objects("recurring_charges")[0].clone();
        for (method, fault) in
            [("POST", "drop_after"), ("PATCH", "drop_after"), ("POST", "error_before")]
        {
            let path = "/v1/recurring/charges";
            world.control(
                "POST",
                "faults",
                &json!({"method": method, "path": path, "fault": fault, "status": 503, "times": 1}),
            );
        }
        world.write(&tree(&documents[..1]));
        assert_eq!(world.settle().await, Vec::<String>::new(), "{surface:?}");
        assert_eq!(pending(&world, &made), 0, "{surface:?}");
        world.control("POST", "clock", &json!({"advance": "P400D"}));
        assert_eq!(world.objects("transactions").len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn what_falls_due_today_is_not_guessed_at() {
    for surface in SURFACES {
        let documents = [card("card", ""), charge("club", "card", DELETE, "2029-12-02", 20)];
        let world = applied(surface, &documents, PruneGuards::without_guards()).await;
        let made = world.objects("recurring_charges")[0].clone();
        tokio::time::advance(Duration::from_hours(24)).await;
        world.write(&tree(&documents[..1]));
        let told = world.settle().await;
        assert!(told[0].starts_with("Blocked RecurringCharge/club: DueToday"), "{told:?}");
        assert_eq!(pending(&world, &made), 1, "the payment may be in progress");
        tokio::time::advance(Duration::from_hours(24)).await;
        world.control("POST", "clock", &json!({"advance": "PT1S"}));
        assert_eq!(world.objects("transactions").len(), 1, "the payment was collected");
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(pending(&world, &made), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_method_goes_after_the_charges_that_it_pays_for() {
    for surface in SURFACES {
        let documents = [
            contact("jane", ""),
            card("card", DELETE),
            charge("club", "card", DELETE, "2030-02-01", 20),
        ];
        let world = applied(surface, &documents, PruneGuards::without_guards()).await;
        let made = world.objects("recurring_charges")[0].clone();
        world.write(&tree(&documents[..1]));
        let plan = world.plan();
        assert!(
            plan.iter()
                .any(|step| step
                    .contains("SavedMethod/card: WaitsFor (waits for RecurringCharge/club)")),
            "{plan:?}"
        );
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!((lives(&world, "cards"), pending(&world, &made)), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn orphan_is_the_default_and_leaves_everything_as_it_is() {
    let documents = [card("card", ""), charge("club", "card", "", "2030-02-01", 20)];
    let world = applied(ServiceSurface::Public, &documents, PruneGuards::default()).await;
    world.write(MERCHANT);
    let told = world.settle().await;
    assert!(told.iter().all(|step| step.starts_with("Orphan ")), "{told:?}");
    assert_eq!(pending(&world, &world.objects("recurring_charges")[0]), 1);
}

/// Returns `count` charges, and the card that pays them.
fn many(count: usize) -> Vec<String> {
    let charges =
        (20..).take(count).map(|n| charge(&format!("c{n}"), "card", DELETE, "2030-02-01", n));
    [card("card", "")].into_iter().chain(charges).collect()
}

fn firing(world: &World) -> usize {
    world.objects("recurring_charges").iter().map(|one| pending(world, one)).sum()
}

#[tokio::test(start_paused = true)]
async fn an_empty_render_and_a_wave_of_removals_wait_for_a_person_s_word() {
    for surface in SURFACES {
        let documents = many(12);
        let world = applied(surface, &documents, PruneGuards::default()).await;
        for left in [1, 2, 7] {
            world.write(&tree(&documents[..left]));
            let told = world.settle().await;
            assert_eq!(told.iter().filter(|step| step.contains(": Guarded (")).count(), 13 - left);
            assert!(told[0].starts_with("Blocked RecurringCharge/"), "{told:?}");
            assert!(told[0].contains("--allow-prune RecurringCharge/c"), "{told:?}");
            assert_eq!(firing(&world), 12);
        }
        world.write(&tree(&documents[..10]));
        assert_eq!(
            world.settle().await,
            Vec::<String>::new(),
            "three removals of twelve pass the guard"
        );
        assert_eq!(firing(&world), 9);
        world.write(&tree(&documents[..1]));
        let mut engine = world.engine();
        let key = "RecurringCharge/c20".parse().unwrap();
        let said = AllowPrune { all: false, keys: vec![key] };
        assert_eq!(engine.not_allowable(&said), Vec::<&reckon::base::id::Key>::new());
        assert_eq!(allowed(&mut engine, &said).await.len(), 1);
        drop(engine);
        let told = world.settle().await;
        assert_eq!(told.iter().filter(|step| step.contains(": Guarded (")).count(), 8, "{told:?}");
        assert_eq!(firing(&world), 8, "only the named charge is removed");
        let said = AllowPrune { all: true, keys: Vec::new() };
        assert_eq!(allowed(&mut world.engine(), &said).await.len(), 8);
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(firing(&world), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_word_does_not_outlive_the_document_s_return() {
    let documents = many(2);
    let world = applied(ServiceSurface::Public, &documents, PruneGuards::default()).await;
    world.write(&tree(&documents[..1]));
    let said = AllowPrune { all: true, keys: Vec::new() };
    assert_eq!(allowed(&mut world.engine(), &said).await.len(), 2);
    world.write(&tree(&documents));
    assert_eq!(world.settle().await, Vec::<String>::new());
    world.write(&tree(&documents[..1]));
    let told = world.settle().await;
    assert_eq!(told.iter().filter(|step| step.contains(": Guarded (")).count(), 2, "{told:?}");
    assert_eq!(firing(&world), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_only_renamed_is_neither_ended_nor_made_twice() {
    for (surface, said) in [(ServiceSurface::Public, ""), (ServiceSurface::Documented, DELETE)] {
        let before = [
            card("card", ""),
            charge("club", "card", said, "2030-02-01", 20),
            charge("gym", "card", said, "2030-02-01", 30),
        ];
        let world = applied(surface, &before, PruneGuards::default()).await;
        let after = [
            card("card", ""),
            charge("society", "card", said, "2030-02-01", 20),
            charge("gym", "card", said, "2030-02-01", 30),
        ];
        world.write(&tree(&after));
        let told = world.settle().await;
        assert!(
            told.iter()
                .any(|step| step.starts_with("Blocked RecurringCharge/society: LooksRenamed")
                    && step.contains("reckon.dev/moved-from: club")),
            "{told:?}"
        );
        assert_eq!((world.objects("recurring_charges").len(), firing(&world)), (2, 2));
        let meant = [
            card("card", ""),
            charge("society", "card", "reckon.dev/moved-from: club", "2030-02-01", 20),
            charge("gym", "card", said, "2030-02-01", 30),
        ];
        world.write(&tree(&meant));
        let plan = world.plan();
        assert!(plan[0].starts_with("Update RecurringCharge/society: Moved"), "{plan:?}");
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!((world.objects("recurring_charges").len(), firing(&world)), (2, 2));
        world.write(&tree(&meant).replace("20.00", "25.00"));
        assert_eq!(world.settle().await, Vec::<String>::new());
        let all = world.objects("recurring_charges");
        assert_eq!((all.len(), all.iter().filter(|one| one["amount"] == 2500).count()), (2, 1));
        // The old name is spent, since it belongs to the moved object.
        world.write(&tree(&[&meant[..], &[charge("club", "card", "", "2030-03-01", 9)]].concat()));
        let told = world.settle().await;
        assert!(told.iter().any(|step| step.contains("RecurringCharge/club: ")), "{told:?}");
        assert_eq!(world.objects("recurring_charges").len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_moved_method_is_no_change_of_what_it_pays_for() {
    let before = [card("card", ""), charge("club", "card", "", "2030-02-01", 20)];
    let world = applied(ServiceSurface::Documented, &before, PruneGuards::default()).await;
    let after =
        [card("visa", "reckon.dev/moved-from: card"), charge("club", "visa", "", "2030-02-01", 20)];
    let requests = sent(&world, "POST", "") + sent(&world, "PATCH", "");
    world.write(&tree(&after));
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(sent(&world, "POST", "") + sent(&world, "PATCH", ""), requests, "nothing was sent");
    assert_eq!(lives(&world, "cards"), 1);
    let again =
        [card("gold", "reckon.dev/moved-from: visa"), charge("club", "gold", "", "2030-02-01", 20)];
    world.write(&tree(&again));
    assert_eq!(world.settle().await, Vec::<String>::new(), "a second move follows the first one");
    assert_eq!((lives(&world, "cards"), world.objects("recurring_charges").len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_move_that_cannot_be_is_told_and_makes_nothing() {
    let before = [contact("jane", ""), contact("joe", "")];
    let world = applied(ServiceSurface::Public, &before, PruneGuards::default()).await;
    for (documents, why) in [
        (
            vec![
                contact("jane", ""),
                contact("joe", ""),
                contact("new", "reckon.dev/moved-from: jane"),
            ],
            "still has a document",
        ),
        (
            vec![contact("joe", ""), contact("new", "reckon.dev/moved-from: jan")],
            "Contact/jan has no known object",
        ),
        (
            vec![
                contact("joe", ""),
                contact("a", "reckon.dev/moved-from: jane"),
                contact("b", "reckon.dev/moved-from: jane"),
            ],
            "as its former name, too",
        ),
        (
            vec![contact("jane", "reckon.dev/moved-from: jane"), contact("joe", "")],
            "the name of this document itself",
        ),
        (vec![contact("joe", "reckon.dev/moved-from: jane")], "has an object of its own"),
    ] {
        world.write(&tree(&documents));
        let plan = world.settle().await;
        assert!(
            plan.iter().any(|step| step.contains("CannotMove") && step.contains(why)),
            "{why}: {plan:?}"
        );
        assert_eq!(world.objects("contacts").len(), 2, "{why}");
    }
}

/// Returns a bank account whose number is a secret.
fn bank(name: &str) -> String {
    let spec = "type: bank\n  source: {bank: {routing_number: '111000025', account_number: {file: number}, \
                account_type: CHECKING, given_name: Jane, surname: Doe}}";
    document("SavedMethod", name, "", spec)
}

/// Returns a tree of a live merchant.
fn live(documents: &[String]) -> String {
    tree(documents).replace("mode: test", "mode: live")
}

/// Builds a world in which a live tree was applied. Every guard holds from then on.
async fn applied_live(documents: &[String]) -> World {
    let mut world = World::new(ServiceSurface::Public, START);
    world.files.insert("number".to_owned(), "1234567890".to_owned());
    world.write(&live(documents));
    assert_eq!(world.settle().await, Vec::<String>::new());
    world.prune = PruneGuards::default();
    world
}

#[tokio::test(start_paused = true)]
async fn what_is_live_is_marked_first_and_goes_a_day_later_if_it_is_still_gone() {
    let active = |world: &World| {
        let all = world.objects("recurring_charges");
        all.iter().filter(|one| one["status"] == "ACTIVE").count()
    };
    let documents = [
        bank("card"),
        charge("club", "card", DELETE, "2030-02-01", 20),
        charge("gym", "card", "", "2030-02-01", 30),
    ];
    let world = applied_live(&documents).await;
    let gone = live(&[&documents[..1], &documents[2..]].concat());
    world.write(&gone);
    let plan = world.plan();
    assert!(plan[0].starts_with("Wait RecurringCharge/club: Unmarked"), "{plan:?}");
    assert!(plan[0].contains("after 24h (policy.prune.delay)"), "{plan:?}");
    let marked = world.settle().await;
    assert!(marked[0].starts_with("Wait RecurringCharge/club: Marked"), "{marked:?}");
    assert!(marked[0].contains("an `apply` after 2029-12-02T10:00"), "{marked:?}");
    assert_eq!(active(&world), 2);
    tokio::time::advance(Duration::from_hours(23)).await;
    assert!(
        world.settle().await[0].contains("Marked"),
        "the mark is made once, and not old enough"
    );
    // The document returns, and its mark ends.
    world.write(&live(&documents));
    assert_eq!(world.settle().await, Vec::<String>::new());
    world.write(&gone);
    tokio::time::advance(Duration::from_hours(2)).await;
    assert!(world.settle().await[0].contains("Marked"));
    assert_eq!(active(&world), 2, "25 hours after the first mark the second one counts");
    tokio::time::advance(Duration::from_hours(25)).await;
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(active(&world), 1);
}

#[tokio::test(start_paused = true)]
async fn a_word_about_one_live_resource_is_meant_for_now() {
    let documents = [
        bank("card"),
        charge("club", "card", DELETE, "2030-02-01", 20),
        charge("gym", "card", "", "2030-02-01", 30),
    ];
    let world = applied_live(&documents).await;
    world.write(&live(&[&documents[..1], &documents[2..]].concat()));
    let said = AllowPrune { all: true, keys: Vec::new() };
    assert_eq!(allowed(&mut world.engine(), &said).await.len(), 0, "no guard stops the removal");
    let said = AllowPrune { all: false, keys: vec!["RecurringCharge/club".parse().unwrap()] };
    assert_eq!(allowed(&mut world.engine(), &said).await.len(), 1);
    assert_eq!(world.settle().await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_merchant_is_deauthorised_last_and_its_credentials_are_forgotten() {
    for surface in SURFACES {
        let documents = [card("card", DELETE), charge("club", "card", DELETE, "2030-02-01", 20)];
        let merchant = MERCHANT
            .replace("{name: acme}", "{name: acme, annotations: {reckon.dev/deletion: delete}}");
        let other = MERCHANT.replace("acme", "other").replace("ACME", "OTHER");
        let world = World::new(surface, START);
        world.write(&format!("{merchant}{}---{other}", documents.concat()));
        assert_eq!(world.settle().await, Vec::<String>::new());
        let made = world.objects("recurring_charges")[0].clone();
        // While a document of the merchant remains, its reference is broken and nothing is removed.
        world.write(&format!("{other}{}", documents[..1].concat()));
        let told = world.settle().await;
        assert!(told.iter().any(|step| step.contains("AbsenceNotBelieved")), "{told:?}");
        assert_eq!(sent(&world, "DELETE", "/deauthorize_application"), 0);
        world.write(&other);
        let plan = world.plan();
        assert!(plan.iter().any(|step| step.contains("Merchant/acme: WaitsFor")), "{plan:?}");
        assert_eq!(world.settle().await, Vec::<String>::new(), "{surface:?}");
        assert_eq!((lives(&world, "cards"), pending(&world, &made)), (0, 0));
        assert_eq!(sent(&world, "DELETE", "/deauthorize_application"), 1);
        let requests = world.control("GET", "requests", &Value::Null)["total"].clone();
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(world.control("GET", "requests", &Value::Null)["total"], requests);
        let about: reckon::base::id::Key = "Merchant/acme".parse().unwrap();
        let index: std::sync::Arc<dyn reckon::store::index::ordered::Index> = world.index.clone();
        let known = reckon::store::read_model::model::ReadModel::new(index)
            .observed_state(&about)
            .unwrap()
            .unwrap();
        assert!(!known.exists);
        for fact in ["token", "secret_key", "account_keys"] {
            assert!(known.fact(fact).is_null(), "{fact} is forgotten");
        }
    }
    covers::covers(&["6.5"]);
}

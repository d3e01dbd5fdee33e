//! Scope of a run: it touches only chosen resources and reckon's own objects, and each object independently of the
//! others.

use serde_json::{Value, json};

use crate::support::payments::{LATER, MERCHANT, START, document};
use crate::support::shell::{Shell, code, stderr, stdout};
use crate::support::world;
use crate::support::world::{World, allowed};
use reckon::engine::protocol::input::AllowPrune;
use reckon::policy::prune::PruneGuards;
use reckon::sandbox::options::ServiceSurface;

/// Returns a card that is deleted with its document.
fn card(name: &str) -> String {
    let spec = "type: card\n  source: {card: {number: \"4242424242424242\", exp_month: 12, exp_year: 2039}}";
    let text = document("SavedMethod", name, spec);
    let said = format!("{{name: {name}, annotations: {{reckon.dev/deletion: delete}}}}");
    text.replace(&format!("{{name: {name}}}"), &said)
}

/// Counts the objects that are not deleted.
fn live(objects: &[Value]) -> usize {
    objects.iter().filter(|one| one["deleted"] != json!(true)).count()
}

#[test]
fn paths_and_targets_remove_nothing_that_they_do_not_name() {
    let shell = Shell::start();
    let live = |shell: &Shell| {
        let text = shell.ask("GET", "objects/cards", "");
        let all: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        live(&all)
    };
    let acme = MERCHANT.trim_start();
    shell.write("specs/a.yaml", &format!("{acme}{}", card("one")));
    shell.write("specs/b.yaml", &[card("two"), card("three")].concat());
    assert_eq!(code(&shell.reckon(&["apply", "--yes"])), 0);
    assert_eq!(live(&shell), 3);
    shell.write("specs/b.yaml", &card("two"));
    for chosen in [&["specs/a.yaml"][..], &["specs/b.yaml"], &["--target", "SavedMethod/one"]] {
        let planned = shell.reckon(&[&["plan"], chosen].concat());
        assert!(!stdout(&planned).contains("three"), "{chosen:?}: {}", stdout(&planned));
        let applied = shell.reckon(&[&["apply", "--yes"], chosen].concat());
        assert_eq!(code(&applied), 0, "{chosen:?}: {}", stderr(&applied));
        assert_eq!(live(&shell), 3, "{chosen:?}");
    }
    let excluded = shell.reckon(&["apply", "--yes", "--exclude", "SavedMethod/three"]);
    assert_eq!((code(&excluded), live(&shell)), (0, 3), "{}", stderr(&excluded));
    let whole = shell.reckon(&["apply", "--yes"]);
    assert_eq!((code(&whole), live(&shell)), (0, 2), "{}", stderr(&whole));
}

#[test]
fn a_broken_document_stops_everything_or_itself_alone_as_was_said() {
    let shell = Shell::start();
    let acme = MERCHANT.trim_start();
    let broken = card("two").replace("exp_month: 12", "exp_month: dozen");
    let rent = document(
        "RecurringCharge",
        "rent",
        &format!("method: two\n  amount: \"20.00 USD\"\n  {LATER}"),
    );
    shell.write("specs/a.yaml", &format!("{acme}{}", card("one")));
    shell.write("specs/b.yaml", &format!("{broken}{}{rent}", card("three")));
    let refused = shell.reckon(&["apply", "--yes"]);
    assert_eq!((code(&refused), shell.count("cards")), (1, 0), "{}", stderr(&refused));
    let alone = shell.reckon(&["apply", "--yes", "--isolate"]);
    assert_eq!(code(&alone), 1, "{}", stderr(&alone));
    assert_eq!((shell.count("cards"), shell.count("recurring_charges")), (2, 0));
    shell.write("specs/b.yaml", &format!("{}{}{rent}", card("two"), card("three")));
    assert_eq!(code(&shell.reckon(&["apply", "--yes"])), 0);
    assert_eq!((shell.count("cards"), shell.count("recurring_charges")), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn what_somebody_else_made_is_never_touched() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let world = World::new(surface, START);
        world.write(&format!("{MERCHANT}{}", card("ours")));
        assert_eq!(world.settle().await, Vec::<String>::new());
        // Equal in every field except reckon's mark.
        let theirs = json!({"number": "4242424242424242", "exp_month": 12, "exp_year": 2039});
        let made = world.ask("acme", "POST", "/v1/cards", &theirs)["id"].clone();
        assert!(made.is_string(), "{made}");
        assert_eq!(world.objects("cards").len(), 2);
        let mut engine = world.engine();
        engine.sweep_everything().await.unwrap();
        assert_eq!(
            world::told(&engine),
            Vec::<String>::new(),
            "the card of another program is no drift"
        );
        drop(engine);
        world.write(MERCHANT);
        let said = AllowPrune { all: true, keys: Vec::new() };
        allowed(&mut world.engine(), &said).await;
        assert_eq!(world.settle().await, Vec::<String>::new());
        let left = world.objects("cards");
        let left: Vec<&Value> =
            left.iter().filter(|one| one["deleted"] != json!(true)).map(|one| &one["id"]).collect();
        assert_eq!(left, [&made], "{surface:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_fails_in_part_forgets_nothing_and_stops_no_removal() {
    let mut world = World::new(ServiceSurface::Public, START);
    world.failures_max = Some(3);
    world.prune = PruneGuards::without_guards();
    world.write(&format!("{MERCHANT}{}", card("old")));
    assert_eq!(world.settle().await, Vec::<String>::new());
    // One card is refused for good, a recurring charge gets no answer, one card is saved, and the old card is deleted.
    let refused = card("refused").replace("2039", "2028");
    let recurring = document(
        "RecurringCharge",
        "rent",
        &format!("method: fine\n  amount: \"20.00 USD\"\n  {LATER}"),
    );
    world.control(
        "POST",
        "faults",
        &json!({"method": "POST", "path": "/v1/recurring", "fault": "error_before", "status": 503}),
    );
    world.write(&format!("{MERCHANT}{}{}{recurring}", card("fine"), refused));
    let plan = world.settle().await;
    assert!(plan.iter().any(|step| step.contains("SavedMethod/refused: Refused")), "{plan:?}");
    assert!(plan.iter().any(|step| step.contains("RecurringCharge/rent")), "{plan:?}");
    let cards = world.objects("cards");
    assert_eq!(live(&cards), 1, "the old card is deleted, the valid one is saved: {plan:?}");
    // The documents are removed without a correction, and so are the objects of the failed run.
    world.control("DELETE", "faults", &Value::Null);
    world.write(MERCHANT);
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(live(&world.objects("cards")), 0);
    assert_eq!(world.objects("recurring_charges").len(), 0);
}

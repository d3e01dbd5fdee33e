//! Mistakes in a tree: none stops or starts a collection without a person's order.

use proptest::prelude::*;
use reckon::policy::prune::PruneGuards;
use reckon::sandbox::options::ServiceSurface;
use serde_json::Value;

use crate::support::world::World;

const START: &str = "2029-12-01T10:00:00Z";
const FILES: [&str; 3] = ["north.yaml", "south.yaml", "west.yaml"];
/// Number of charges in a file.
const EACH: usize = 5;

const HEAD: &str = r#"
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_ACME}}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card}
spec: {merchant: acme, type: card, source: {card: {number: "4242424242424242", exp_month: 12, exp_year: 2031}}}
"#;

/// A mistake in a tree.
#[derive(Debug, Clone)]
enum Edit {
    /// A file loses its documents.
    Removed(usize),
    /// A failed render leaves every file empty.
    Empty,
    /// A failed merge keeps some documents, and leaves conflict marks.
    Merged(usize, usize),
    /// The documents of a file get other names.
    Renamed(usize),
    /// The documents of a file get another namespace.
    Namespaced(usize),
    /// The documents of a file lose the annotation `reckon.dev/deletion`.
    Silent(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let file = || 0..FILES.len();
    prop_oneof![
        file().prop_map(Edit::Removed),
        Just(Edit::Empty),
        (file(), 0..EACH).prop_map(|(file, kept)| Edit::Merged(file, kept)),
        file().prop_map(Edit::Renamed),
        file().prop_map(Edit::Namespaced),
        file().prop_map(Edit::Silent),
    ]
}

/// Returns the charges of a file; each collects an amount of its own.
fn charges(file: usize) -> Vec<String> {
    let of = |n: usize| {
        let number = n.checked_add(file.checked_mul(EACH).unwrap()).unwrap();
        format!(
            "---\napiVersion: reckon.dev/v1\nkind: RecurringCharge\nmetadata: {{name: c{number}, annotations: {{reckon.dev/deletion: delete}}}}\nspec:\n  merchant: default/acme\n  method: default/card\n  amount: \"1{number}.00 USD\"\n  schedule: {{start: 2030-02-01, interval_unit: MONTH, interval_delay: 1}}\n"
        )
    };
    (0..EACH).map(of).collect()
}

fn write_all(world: &World) {
    world.write(HEAD);
    for (number, file) in FILES.iter().enumerate() {
        world.write_beside(file, &charges(number).concat());
    }
}

fn make(world: &World, edit: &Edit) {
    let whole = |file: usize| charges(file).concat();
    match edit {
        Edit::Removed(file) => world.write_beside(FILES[*file], "# moved\n"),
        Edit::Empty => {
            world.write("");
            for file in FILES {
                world.write_beside(file, "");
            }
        }
        Edit::Merged(file, kept) => {
            let text = charges(*file)[..*kept].concat();
            world.write_beside(FILES[*file], &format!("{text}<<<<<<< HEAD\n=======\n"));
        }
        Edit::Renamed(file) => {
            world.write_beside(FILES[*file], &whole(*file).replace("name: c", "name: charge-"));
        }
        Edit::Namespaced(file) => {
            let text = whole(*file).replace("{name: c", "{namespace: other, name: c");
            world.write_beside(FILES[*file], &text);
        }
        Edit::Silent(file) => {
            world.write_beside(
                FILES[*file],
                &whole(*file).replace("reckon.dev/deletion: delete", ""),
            );
        }
    }
}

/// Counts the recurring charges at the service, and those with a pending occurrence.
fn collections(world: &World) -> (usize, usize) {
    let all = world.objects("recurring_charges");
    let firing = all.iter().filter(|charge| {
        let path = format!("/v1/recurring/charges/{}/occurrences", charge["id"].as_str().unwrap());
        let list = world.ask("acme", "GET", &path, &Value::Null);
        list["results"].as_array().unwrap().iter().any(|one| one["status"] == "PENDING")
    });
    (all.len(), firing.count())
}

async fn check(surface: ServiceSurface, edits: &[Edit]) {
    let mut world = World::new(surface, START);
    write_all(&world);
    assert_eq!(world.settle().await, Vec::<String>::new());
    world.prune = PruneGuards::default();
    let before = collections(&world);
    for edit in edits {
        make(&world, edit);
        let plan = world.settle().await;
        assert_eq!(collections(&world), before, "after {edit:?}: {plan:?}");
    }
    write_all(&world);
    assert_eq!(world.settle().await, Vec::<String>::new(), "the tree is as before");
    assert_eq!(collections(&world), before);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn no_mistake_in_the_files_stops_or_starts_a_collection(
        documented: bool,
        edits in prop::collection::vec(edit(), 1..4),
    ) {
        let surface = if documented { ServiceSurface::Documented } else { ServiceSurface::Public };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(check(surface, &edits));
    }
}

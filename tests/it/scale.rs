//! The cost of a step does not depend on the number of other resources. It is counted, not timed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use chrono::{DateTime, Utc};

use crate::support::payments::{MERCHANT, START, card, recurring};
use crate::support::world::World;
use reckon::base::id::Key;
use reckon::base::money::Currency;
use reckon::kinds::register::KINDS;
use reckon::kinds::schema::kind::CheckCx;
use reckon::model::intent::OpenIntent;
use reckon::model::manifest::{Desired, OnDoubt};
use reckon::model::state::observed::Observed;
use reckon::plan::planner::Planner;
use reckon::plan::state_view;
use reckon::policy::prune::PruneGuards;
use reckon::sandbox::options::ServiceSurface;
use reckon::spec::document::ReadContext;
use reckon::spec::tree::loader::Loader;
use reckon::store::disk::traits::Disk;
use reckon::store::index::ordered::Index;

/// Returns a tree with this number of cards, and as many recurring charges.
fn tree(pairs: usize) -> String {
    let mut text = MERCHANT.to_owned();
    for number in 0..pairs {
        text.push_str(&card(&format!("card-{number}"), "4242424242424242"));
        text.push_str(&recurring(&format!("rent-{number}"), &format!("card-{number}"), ""));
    }
    text
}

/// A tree of which the service has nothing; it counts the planner's queries.
struct Counted {
    loader: Loader,
    asked: AtomicUsize,
}

impl Counted {
    fn new(pairs: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tree.yaml"), tree(pairs)).unwrap();
        let check = CheckCx {
            decimal_amounts_only: true,
            web_urls: Vec::new(),
            currency: Currency::USD,
            plans: BTreeMap::new(),
            programs: None,
            variables: None,
            files: None,
        };
        let mut loader = Loader::new(folder.path(), "specs", ReadContext { kinds: KINDS, check });
        loader.load_all();
        assert_eq!(loader.desired().manifests.len(), 1 + 2 * pairs);
        Self { loader, asked: AtomicUsize::new(0) }
    }

    /// Returns the result of this work, and the number of its queries.
    fn count<T>(&self, work: impl FnOnce(&Self) -> T) -> (T, usize) {
        self.asked.store(0, Relaxed);
        let done = work(self);
        (done, self.asked.load(Relaxed))
    }

    fn ask(&self) {
        self.asked.fetch_add(1, Relaxed);
    }
}

impl state_view::StateView for Counted {
    fn desired(&self) -> &Desired {
        self.ask();
        self.loader.desired()
    }

    fn observed(&self, _: &Key) -> Option<Arc<Observed>> {
        self.ask();
        None
    }

    fn open_intent(&self, _: &Key) -> Option<Arc<OpenIntent>> {
        self.ask();
        None
    }

    fn now(&self) -> DateTime<Utc> {
        START.parse().unwrap()
    }

    fn known_keys(&self) -> Vec<Key> {
        self.ask();
        Vec::new()
    }
}

fn planner() -> Planner {
    Planner::new(state_view::PlannerSettings {
        partner: "acme".to_owned(),
        digest_key: [9; 32],
        on_doubt: OnDoubt::Recreate,
        live_refused: None,
        prune: PruneGuards::without_guards(),
    })
}

#[test]
fn a_plan_grows_with_its_documents_and_a_change_with_what_depends_on_it() {
    let key = |text: &str| -> Key { text.parse().unwrap() };
    let mut whole = Vec::new();
    let mut edit = Vec::new();
    for pairs in [50, 500] {
        let (world, mut planner) = (Counted::new(pairs), planner());
        let (made, asked) = world.count(|world| planner.recompute_all(world));
        assert_eq!(made.len(), 1 + 2 * pairs);
        whole.push(asked);
        let (made, asked) =
            world.count(|world| planner.recompute(world, [key("SavedMethod/card-7")]));
        let dependants = [key("RecurringCharge/rent-7"), key("SavedMethod/card-7")];
        assert!(made.iter().eq(&dependants), "the card and its charge: {made:?}");
        edit.push(asked);
        let (made, _) = world.count(|world| planner.recompute(world, [key("Merchant/acme")]));
        assert_eq!(made.len(), 1 + 2 * pairs, "each resource depends on its merchant, once");
    }
    assert!(whole.iter().is_sorted_by(|few, many| **many <= **few * 11), "{whole:?}");
    assert!(edit.iter().is_sorted_by(|few, many| many == few), "{edit:?}");
}

/// Returns the used bytes of a disk, for each file up to its last byte that is not zero.
fn used(disk: &impl Disk) -> usize {
    let bytes = |name: &String| {
        let length = usize::try_from(disk.len(name).unwrap()).unwrap();
        let bytes = disk.read_at(name, 0, length).unwrap();
        bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
    };
    disk.list().unwrap().iter().map(bytes).sum()
}

/// Returns the number of entries in the index, their bytes, and the size of the largest one.
fn held(world: &World) -> (usize, usize, usize) {
    let all = world.index.scan(b"").unwrap();
    let sizes: Vec<usize> = all.iter().map(|(key, value)| key.len() + value.len()).collect();
    (sizes.len(), sizes.iter().sum(), sizes.iter().copied().max().unwrap_or(0))
}

#[tokio::test(start_paused = true)]
async fn a_change_writes_as_much_beside_two_hundred_resources_as_beside_two() {
    let mut written = Vec::new();
    for pairs in [1, 100] {
        let world = World::new(ServiceSurface::Public, START);
        world.write(&tree(pairs));
        assert_eq!(world.settle().await, Vec::<String>::new());
        let before = used(&world.journal);
        world.write(&tree(pairs).replacen("20.00 USD", "25.00 USD", 1));
        assert_eq!(world.settle().await, Vec::<String>::new());
        written.push(used(&world.journal) - before);
    }
    let (few, many) = (written.iter().min().unwrap(), written.iter().max().unwrap());
    assert!(*few > 100 && many - few < 100, "bytes of the journal for one change: {written:?}");
}

#[tokio::test(start_paused = true)]
async fn what_changes_again_and_again_takes_the_room_of_one_in_the_index() {
    let world = World::new(ServiceSurface::Public, START);
    let change = async |amount: usize| {
        world.write(&tree(1).replace("20.00 USD", &format!("{amount}.00 USD")));
        assert_eq!(world.settle().await, Vec::<String>::new());
    };
    for amount in 20..60 {
        change(amount).await;
    }
    let (_, before, _) = held(&world);
    for amount in 60..100 {
        change(amount).await;
    }
    let (_, after, largest) = held(&world);
    // Each change leaves only its number and its place in the journal.
    assert!((after - before) / 40 < 150, "{} bytes for each change", (after - before) / 40);
    assert!(largest < 4096, "{largest} bytes in one entry");
}

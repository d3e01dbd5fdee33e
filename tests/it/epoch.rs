//! Epochs, after a restore. reckon searches for what the lost state may have sent since the backup, or puts it on hold,
//! and does nothing twice.

use std::sync::Arc;

use crate::support::backups::{back_up, restore};
use crate::support::world::World;
use reckon::base::id::Key;
use reckon::engine::protocol::diagnostics::StateReply;
use reckon::engine::protocol::input::EngineCommand;
use reckon::engine::protocol::query::Reply;
use reckon::model::record::Record;
use reckon::model::state::lifecycle::ReleaseRequest;
use reckon::sandbox::options::ServiceSurface;
use reckon::store::index::ordered::Index;
use reckon::store::journal::files::JournalOptions;
use reckon::store::journal::log::Journal;
use reckon::store::projection::fold::IndexFold;
use reckon::store::vault::key::MasterKey;
use reckon::store::vault::values::Vault;
use reckon::store::writer::core::Commit;
use reckon::store::writer::handle::Writer;

const MERCHANT: &str = r"
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec:
  mode: test
  timezone: America/Chicago
  credentials: {authorization_code: {env: CODE_ACME}}
";

fn contact(name: &str) -> String {
    format!(
        "---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {{name: {name}}}
spec:
  merchant: acme
  first_name: {name}
  last_name: Doe
  email_addresses: [{{address: {name}@example.com}}]
"
    )
}

fn invoice(name: &str, contact: &str) -> String {
    format!(
        "---
apiVersion: reckon.dev/v1
kind: Invoice
metadata: {{name: {name}}}
spec:
  merchant: acme
  contact: {contact}
  bank_account: Operating
  invoice_date: 2030-01-15
  line_items: [{{description: Retainer, rate_per_quantity: \"125.00 USD\"}}]
"
    )
}

fn card(name: &str) -> String {
    format!(
        "---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {{name: {name}}}
spec:
  merchant: acme
  type: card
  source: {{card: {{number: \"4242424242424242\", exp_month: 12, exp_year: 2031, name: Jane Doe}}}}
"
    )
}

fn start() -> World {
    World::new(ServiceSurface::Public, "2026-11-20T08:00:00Z")
}

#[tokio::test(start_paused = true)]
async fn a_contact_that_the_backup_does_not_know_is_held_until_a_person_says_that_it_is_not_there()
{
    let mut world = start();
    world.write(&[MERCHANT.to_owned(), contact("ann")].concat());
    assert_eq!(world.settle().await, [""; 0]);
    let backup = back_up(&world);
    world.write(&[MERCHANT.to_owned(), contact("ann"), contact("bob")].concat());
    assert_eq!(world.settle().await, [""; 0]);
    assert_eq!(world.objects("contacts").len(), 2);
    restore(&mut world, &backup, true).await;
    let plan = world.settle().await;
    assert_eq!(plan.len(), 1, "{plan:?}");
    for part in ["Contact/bob", "epoch 1", "2026-11-20 08:00", "reckon store release Contact/bob"] {
        assert!(plan[0].contains(part), "{part}: {plan:?}");
    }
    assert_eq!(world.objects("contacts").len(), 2, "nothing is created twice");
    let bob: Key = "Contact/bob".parse().unwrap();
    let mut engine = world.engine();
    let said = ReleaseRequest { keys: vec![bob], done: false };
    let reply = engine.command(EngineCommand::Release(said, "uid 1000".to_owned())).await.unwrap();
    assert_eq!(reply, Reply::State(StateReply::Released(true)));
    assert_eq!(world.settle().await, [""; 0]);
    assert_eq!(world.objects("contacts").len(), 3, "a person ordered the creation");
}

#[tokio::test(start_paused = true)]
async fn without_an_epoch_it_would_be_made_twice() {
    let mut world = start();
    world.write(&[MERCHANT.to_owned(), contact("ann")].concat());
    world.settle().await;
    let backup = back_up(&world);
    world.write(&[MERCHANT.to_owned(), contact("ann"), contact("bob")].concat());
    world.settle().await;
    restore(&mut world, &backup, false).await;
    world.settle().await;
    assert_eq!(world.objects("contacts").len(), 3, "an epoch prevents this");
}

#[tokio::test(start_paused = true)]
async fn an_invoice_is_guarded_by_its_name_and_goes_on() {
    let mut world = start();
    world.write(&[MERCHANT.to_owned(), contact("ann")].concat());
    world.settle().await;
    let backup = back_up(&world);
    world.write(&[MERCHANT.to_owned(), contact("ann"), invoice("one", "ann")].concat());
    world.settle().await;
    restore(&mut world, &backup, true).await;
    assert_eq!(world.settle().await, [""; 0]);
    assert_eq!(world.objects("invoices").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_the_lost_state_saved_stops_the_merchant_and_is_then_found() {
    let mut world = start();
    world.write(MERCHANT);
    world.settle().await;
    let backup = back_up(&world);
    world.write(&[MERCHANT.to_owned(), card("visa")].concat());
    world.settle().await;
    assert_eq!(world.objects("cards").len(), 1);
    restore(&mut world, &backup, true).await;
    let told = world.settle().await;
    assert!(told.iter().any(|line| line.contains("marks of ours")), "{told:?}");
    declare(&world).await;
    assert_eq!(world.settle().await, [""; 0]);
    assert_eq!(world.objects("cards").len(), 1, "reckon searches for the card before it saves one");
}

#[tokio::test(start_paused = true)]
async fn a_card_that_is_not_there_is_saved_after_it_was_looked_for() {
    let mut world = start();
    world.write(MERCHANT);
    world.settle().await;
    let backup = back_up(&world);
    restore(&mut world, &backup, true).await;
    world.write(&[MERCHANT.to_owned(), card("visa")].concat());
    assert_eq!(world.settle().await, [""; 0]);
    assert_eq!(world.objects("cards").len(), 1);
}

/// Closes S10: a snapshot of the whole machine includes the mark, so the first creation of a process reads the list.
#[tokio::test(start_paused = true)]
async fn a_machine_that_was_put_back_saves_no_card_a_second_time() {
    let mut world = start();
    world.first_look = true;
    world.write(MERCHANT);
    world.settle().await;
    let backup = back_up(&world);
    world.write(&[MERCHANT.to_owned(), card("visa")].concat());
    world.settle().await;
    restore(&mut world, &backup, false).await;
    let told = world.settle().await;
    assert!(told.iter().any(|line| line.contains("marks of ours")), "{told:?}");
    assert_eq!(world.objects("cards").len(), 1, "the card exists already");
}

/// Declares the service empty, as `init --empty-remote` does.
async fn declare(world: &World) {
    let (journal, _) =
        Journal::open(Arc::new(world.journal.clone()), JournalOptions::default()).unwrap();
    let vault = Vault::open(Arc::new(world.vault.clone()), &MasterKey::new([7; 32])).unwrap();
    let index: Arc<dyn Index> = world.index.clone();
    let writer = Writer::inline(journal, vault, IndexFold::new(index));
    let at = "2026-11-21T10:00:00Z".parse().unwrap();
    let record = Record::EmptyRemote { at, actor: "uid 1000".to_owned() };
    writer.append(Commit::of(vec![record])).await.unwrap();
}

//! The effects that a person may request, and the readings that may be repeated: none under way, on
//! hold or suspended.

use super::facts::*;
use super::steps::held;
use super::*;

const INVOICE: &str = "Invoice/first";

/// A change of a resource, by its name.
type Change = fn(&mut Rig, &str);

/// Changes after which a resource offers nothing.
const QUIET: [(&str, Change); 5] = [
    ("under way", |rig, name| {
        rig.known.open.insert(key(name), intent(name, IntentState::Open { attempt: 1 }));
    }),
    ("held", |rig, name| {
        rig.know(name, |known| known.on_hold = Some(held()));
    }),
    ("suspended by its name", |rig, name| {
        rig.known.suspensions.insert(key(name), Arc::new(suspension(name, None)));
    }),
    ("suspended with its merchant", |rig, _| {
        let acme = suspension("Merchant/acme", None);
        rig.known.suspensions.insert(key("Merchant/acme"), Arc::new(acme));
    }),
    ("nothing is known of it", |rig, name| {
        rig.known.observed.remove(&key(name));
    }),
];

fn invoiced() -> Rig {
    Rig::applied(vec![acme(), contact("jane", "Jane"), invoice("first", "")])
}

fn offer(rig: &Rig) -> Option<&'static str> {
    rig.planner.on_demand(&rig.known, &key(INVOICE)).map(|effect| effect.name)
}

fn again(rig: &Rig, name: &str) -> Vec<&'static str> {
    rig.planner.refresh_reads(&rig.known, &key(name)).iter().map(|reading| reading.name).collect()
}

#[test]
fn an_invoice_that_is_there_offers_its_link_unless_something_keeps_it_quiet() {
    assert_eq!(offer(&invoiced()), Some("contact.hash"));
    for (why, change) in QUIET {
        let mut rig = invoiced();
        change(&mut rig, INVOICE);
        assert_eq!(offer(&rig), None, "{why}");
    }
    let mut rig = invoiced();
    let over = Arc::new(suspension(INVOICE, Some(NOW)));
    rig.known.suspensions.insert(key(INVOICE), over);
    assert_eq!(offer(&rig), Some("contact.hash"), "the suspension is over");
    rig.write(vec![saying(invoice("first", ""), |said| said.suspend = true)]);
    assert_eq!(offer(&rig), None, "its document says so");
    rig.remove(&[INVOICE]);
    assert_eq!(offer(&rig), None, "it has no document");
}

#[test]
fn a_merchant_is_read_again_unless_something_keeps_it_quiet() {
    let readings = vec!["merchant.credentials", "merchant.accounts"];
    let rig = || Rig::applied(vec![acme()]);
    assert_eq!(again(&rig(), "Merchant/acme"), readings);
    for (why, change) in QUIET {
        let mut rig = rig();
        change(&mut rig, "Merchant/acme");
        assert_eq!(again(&rig, "Merchant/acme"), Vec::<&str>::new(), "{why}");
    }
    let mut rig = rig();
    rig.write(vec![saying(acme(), |said| said.suspend = true)]);
    assert_eq!(again(&rig, "Merchant/acme"), Vec::<&str>::new(), "its document says so");
}

#[test]
fn a_merchant_without_a_document_is_read_by_what_that_said_last() {
    let mut rig = Rig::applied(vec![acme()]);
    rig.remove(&["Merchant/acme"]);
    assert_eq!(again(&rig, "Merchant/acme"), ["merchant.credentials", "merchant.accounts"]);
    rig.know("Merchant/acme", |known| known.applied = None);
    assert_eq!(
        again(&rig, "Merchant/acme"),
        Vec::<&str>::new(),
        "the content of its document is unknown"
    );
    rig.know("Thing/it", |known| known.exists = true);
    assert_eq!(again(&rig, "Thing/it"), Vec::<&str>::new(), "there is no such kind");
}

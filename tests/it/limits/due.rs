//! Amounts due by month, before a plan and after it.

use super::payments::{MERCHANT, card, recurring};
use super::{CONTACT, house, invoice};

/// Closes M14: a plan that changes existing objects shows the amounts due by month, before and after.
#[tokio::test(start_paused = true)]
async fn m14_a_plan_shows_what_is_due_before_and_after() {
    let rent = recurring("rent", "jane", "");
    let tree = |rent: &str| format!("{MERCHANT}{}{rent}", card("jane", "4242424242424242"));
    let world = house("  amounts: decimal", &tree(&rent));
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert!(world.engine().view().plan_view().due.is_empty());
    world.write(&tree(&rent.replace("20.00 USD", "32.00 USD")));
    let due = world.engine().view().plan_view().due;
    let first = due.first().unwrap();
    assert_eq!((due.len(), &*first.month, &*first.currency), (12, "2030-02", "USD"));
    assert_eq!((first.before, first.after, first.difference), (2000, 3200, 1200));
}

/// Closes M14: the object of a raised generation is added. The old object stays payable, and stays due.
#[tokio::test(start_paused = true)]
async fn m14_what_a_raised_generation_leaves_as_it_is_stays_due() {
    let raised = |document: &str, from: &str, to: &str| {
        let annotations = ", annotations: {reckon.dev/generation: \"1\"}}\nspec:";
        document.replace(from, to).replace("}\nspec:", annotations)
    };
    let (bill, rent) = (invoice("bill", "10.00 USD"), recurring("rent", "jane", ""));
    let card = card("jane", "4242424242424242");
    let tree = |bill: &str, rent: &str| format!("{MERCHANT}{CONTACT}{card}{bill}{rent}");
    let world = house("  amounts: decimal", &tree(&bill, &rent));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let due = || {
        let all = world.engine().view().plan_view().due;
        let first = all.first().unwrap();
        (all.len(), first.before, first.after, first.difference)
    };
    world.write(&tree(&raised(&bill, "10.00", "11.00"), &rent));
    assert_eq!(due(), (1, 1000, 2100, 1100));
    world.write(&tree(&bill, &raised(&rent, "20.00", "32.00")));
    assert_eq!(due(), (12, 2000, 5200, 3200));
}

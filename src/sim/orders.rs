//! Commands that people give, decided by a seed.

use super::command::{Command, Order};
use super::deed::Deed;
use super::dice::Dice;
use super::script::Step;
use super::world::{Body, Doc, Tree};

/// Worlds in which people give commands, in percent.
const WORLDS: u64 = 80;

/// Adds commands about the documents of the beginning.
pub(super) fn give(files: &Tree, steps: &mut [Step], dice: &mut Dice) {
    if !dice.percent(WORLDS) {
        return;
    }
    let mut given = Vec::new();
    for step in steps {
        for _ in 0..dice.between(1, 4) {
            let name = format!("x{}", given.len());
            if let Some(command) = command(files, &given, name, dice) {
                step.deeds.push(Deed::Command(command.clone()));
                given.push(command);
            }
        }
    }
}

/// Draws one command, about a document or about the result of an earlier command.
fn command(files: &Tree, given: &[Command], name: String, dice: &mut Dice) -> Option<Command> {
    if dice.percent(50)
        && let Some(earlier) = dice.pick(given)
    {
        let order = afterwards(earlier, dice)?;
        return Some(Command { name, merchant: earlier.merchant.clone(), order });
    }
    let of =
        |kind: &str| -> Vec<&Doc> { files.values().filter(|doc| doc.kind() == kind).collect() };
    if dice.percent(30) {
        let doc = *dice.pick(&of("RecurringCharge"))?;
        let recurring = doc.name.clone();
        let order =
            if dice.percent(70) { Order::Pay { recurring } } else { Order::Ignore { recurring } };
        return Some(Command { name, merchant: doc.merchant().to_owned(), order });
    }
    let doc = *dice.pick(&of("SavedMethod"))?;
    let (method, amount) = (doc.name.clone(), amount(dice));
    let order = if dice.percent(30) {
        Order::Credit { method, amount }
    } else {
        let hold = dice.percent(50) && matches!(doc.body, Body::Card { bank: false, .. });
        Order::Charge { method, amount, hold }
    };
    Some(Command { name, merchant: doc.merchant().to_owned(), order })
}

/// Draws an action on the result of an earlier command.
fn afterwards(earlier: &Command, dice: &mut Dice) -> Option<Order> {
    let of = earlier.name.clone();
    Some(match &earlier.order {
        Order::Charge { amount, hold: true, .. } if dice.percent(70) => {
            Order::Capture { of, amount: *amount }
        }
        Order::Charge { amount, .. } => match dice.below(4) {
            0 => Order::Void { of },
            1 => Order::Sign { of },
            _ => Order::Refund { of, amount: amount.checked_div(2)?.max(1) },
        },
        Order::Credit { .. } => Order::Void { of },
        Order::Refund { .. } if dice.percent(50) => Order::Void { of },
        Order::Refund { .. }
        | Order::Void { .. }
        | Order::Capture { .. }
        | Order::Sign { .. }
        | Order::Pay { .. }
        | Order::Ignore { .. }
        | Order::Own(_) => return None,
    })
}

/// Draws one of a few amounts, so that some commands are equal.
fn amount(dice: &mut Dice) -> i64 {
    i64::try_from(dice.between(1, 20)).unwrap_or(1).saturating_mul(500)
}

//! Commands that people give, decided by a seed.

use super::command::{CommandAction, PersonCommand};
use super::requests::PersonRequest;
use crate::sim::world::dice::Dice;
use crate::sim::world::documents::{Doc, DocBody, DocTree};
use crate::sim::world::script::ScriptStep;

/// Worlds in which people give commands, in percent.
const WORLDS: u64 = 80;

/// Adds commands about the documents of the beginning.
pub(crate) fn add_commands(files: &DocTree, steps: &mut [ScriptStep], dice: &mut Dice) {
    if !dice.percent(WORLDS) {
        return;
    }
    let mut given = Vec::new();
    for step in steps {
        for _ in 0..dice.between(1, 4) {
            let name = format!("x{}", given.len());
            if let Some(command) = draw_command(files, &given, name, dice) {
                step.requests.push(PersonRequest::Command(command.clone()));
                given.push(command);
            }
        }
    }
}

/// Draws one command, about a document or about the result of an earlier command.
fn draw_command(
    files: &DocTree,
    given: &[PersonCommand],
    name: String,
    dice: &mut Dice,
) -> Option<PersonCommand> {
    if dice.percent(50)
        && let Some(earlier) = dice.pick(given)
    {
        let order = follow_up_action(earlier, dice)?;
        return Some(PersonCommand { name, merchant: earlier.merchant.clone(), action: order });
    }
    let of =
        |kind: &str| -> Vec<&Doc> { files.values().filter(|doc| doc.kind() == kind).collect() };
    if dice.percent(30) {
        let doc = *dice.pick(&of("RecurringCharge"))?;
        let recurring = doc.name.clone();
        let order = if dice.percent(70) {
            CommandAction::Pay { recurring }
        } else {
            CommandAction::Ignore { recurring }
        };
        return Some(PersonCommand { name, merchant: doc.merchant().to_owned(), action: order });
    }
    let doc = *dice.pick(&of("SavedMethod"))?;
    let (method, amount) = (doc.name.clone(), amount(dice));
    let order = if dice.percent(30) {
        CommandAction::Credit { method, amount }
    } else {
        let hold = dice.percent(50) && matches!(doc.body, DocBody::Card { bank: false, .. });
        CommandAction::Charge { method, amount, hold }
    };
    Some(PersonCommand { name, merchant: doc.merchant().to_owned(), action: order })
}

/// Draws an action on the result of an earlier command.
fn follow_up_action(earlier: &PersonCommand, dice: &mut Dice) -> Option<CommandAction> {
    let of = earlier.name.clone();
    Some(match &earlier.action {
        CommandAction::Charge { amount, hold: true, .. } if dice.percent(70) => {
            CommandAction::Capture { of, amount: *amount }
        }
        CommandAction::Charge { amount, .. } => match dice.below(4) {
            0 => CommandAction::Void { of },
            1 => CommandAction::Sign { of },
            _ => CommandAction::Refund { of, amount: amount.checked_div(2)?.max(1) },
        },
        CommandAction::Credit { .. } => CommandAction::Void { of },
        CommandAction::Refund { .. } if dice.percent(50) => CommandAction::Void { of },
        CommandAction::Refund { .. }
        | CommandAction::Void { .. }
        | CommandAction::Capture { .. }
        | CommandAction::Sign { .. }
        | CommandAction::Pay { .. }
        | CommandAction::Ignore { .. }
        | CommandAction::Own(_) => return None,
    })
}

/// Draws one of a few amounts, so that some commands are equal.
fn amount(dice: &mut Dice) -> i64 {
    i64::try_from(dice.between(1, 20)).unwrap_or(1).saturating_mul(500)
}

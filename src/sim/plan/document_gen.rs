//! Documents of the people, and their changes, decided by a seed.

use crate::sim::plan::dice::Dice;
use crate::sim::plan::documents::{Breakage, Doc, DocBody, DocTree, FileChange};
use crate::sim::plan::requests::ScriptStep;

pub(crate) fn draw_files(dice: &mut Dice) -> DocTree {
    let mut tree = DocTree::new();
    for merchant in 0..dice.between(1, 12).max(8).saturating_sub(7).min(3) {
        let merchant = format!("m{merchant}");
        add(&mut tree, Doc::new(&merchant, DocBody::Merchant));
        if dice.percent(30) {
            let sign_up = dice.percent(40);
            let body = DocBody::Application { sign_up, text: 0 };
            add(&mut tree, Doc::new(&format!("a-{merchant}"), body));
        }
        for _ in 0..dice.between(1, 3) {
            let doc = draw_document(&tree, &merchant, "Contact", dice);
            add(&mut tree, doc);
        }
        for kind in ["Invoice", "SavedMethod", "SavedMethod", "RecurringCharge"] {
            for _ in 0..dice.between(0, 2) {
                let doc = draw_document(&tree, &merchant, kind, dice);
                add(&mut tree, doc);
            }
        }
    }
    tree
}

/// Draws, in some worlds, an application that brings a live merchant with a contact. These
/// documents never change.
pub(crate) fn draw_onboarding(dice: &mut Dice) -> DocTree {
    let mut tree = DocTree::new();
    if dice.percent(30) {
        add(&mut tree, Doc::new("live-a", DocBody::Application { sign_up: false, text: 0 }));
        add(&mut tree, Doc::new("live", DocBody::Opened { application: "live-a".to_owned() }));
        let body = DocBody::Contact { merchant: "live".to_owned(), hold: false };
        add(&mut tree, Doc::new("live-c", body));
    }
    tree
}

fn add(tree: &mut DocTree, doc: Doc) {
    tree.insert(doc.name.clone(), doc);
}

/// Draws a new document of a kind. If the document that it needs is missing, that document is drawn
/// instead.
fn draw_document(tree: &DocTree, merchant: &str, kind: &str, dice: &mut Dice) -> Doc {
    let of = |kind: &str| -> Vec<String> {
        let same = tree.values().filter(|doc| doc.kind() == kind && doc.merchant() == merchant);
        same.map(|doc| doc.name.clone()).collect()
    };
    let owner = merchant.to_owned();
    let body = match kind {
        "Invoice" => dice.pick(&of("Contact")).cloned().map(|contact| {
            let lines: Vec<i64> = (0..dice.between(1, 3)).map(|_| amount(dice)).collect();
            let mails = dice.number(0, 2);
            let letter = u32::try_from(lines.len()).unwrap_or(1).saturating_sub(1);
            DocBody::Invoice { merchant: owner, contact, lines, mails, letter }
        }),
        "RecurringCharge" => dice.pick(&of("SavedMethod")).cloned().map(|card| {
            let (amount, now) = (amount(dice), dice.percent(40));
            DocBody::Recurring { merchant: owner, card, amount, now, text: 0 }
        }),
        "SavedMethod" => {
            let (bank, delete) = (dice.percent(40), dice.percent(60));
            Some(DocBody::Card { merchant: owner, bank, text: 0, holder: 0, delete })
        }
        _ => Some(DocBody::Contact { merchant: owner, hold: dice.percent(30) }),
    };
    let owner = merchant.to_owned();
    let body = body.unwrap_or_else(|| match kind {
        "RecurringCharge" => {
            let bank = dice.percent(40);
            DocBody::Card { merchant: owner, bank, text: 0, holder: 0, delete: true }
        }
        _ => DocBody::Contact { merchant: owner, hold: false },
    });
    let (_, letter) = body.kind_and_letter();
    let taken = |number: &u32| !tree.contains_key(&format!("{letter}{number}-{merchant}"));
    let number = (0..u32::MAX).find(taken).unwrap_or(0);
    Doc::new(&format!("{letter}{number}-{merchant}"), body)
}

pub(crate) fn amount(dice: &mut Dice) -> i64 {
    dice.number(100, 250_000)
}

pub(crate) fn draw_steps(files: &DocTree, dice: &mut Dice) -> Vec<ScriptStep> {
    let mut tree = files.clone();
    let mut removed = Vec::new();
    let mut steps = Vec::new();
    for _ in 0..dice.between(2, 8) {
        let mut changes = Vec::new();
        for _ in 0..dice.between(1, 4) {
            let made = draw_change(&tree, &mut removed, dice).unwrap_or_default();
            for change in &made {
                change.apply(&mut tree);
            }
            changes.extend(made);
        }
        let wait_ms = if dice.percent(40) { dice.below(50) } else { dice.below(200_000) };
        steps.push(ScriptStep { restart: dice.percent(15), ..ScriptStep::quiet(wait_ms, changes) });
    }
    steps
}

/// Draws one change, with the changes that belong to it.
fn draw_change(tree: &DocTree, removed: &mut Vec<Doc>, dice: &mut Dice) -> Option<Vec<FileChange>> {
    let names: Vec<&Doc> = tree.values().filter(|doc| doc.body != DocBody::Merchant).collect();
    let mut changeable = names.clone();
    changeable.retain(|doc| matches!(doc.kind(), "SavedMethod" | "RecurringCharge"));
    let among = if dice.percent(60) && !changeable.is_empty() { &changeable } else { &names };
    let doc = (*dice.pick(among)?).clone();
    Some(match dice.below(12) {
        0..=2 => vec![FileChange::Write(edit_document(tree, doc, dice))],
        3..=5 => remove_with_users(tree, doc, removed),
        6 => vec![FileChange::Write(removed.pop()?)],
        7 => {
            vec![FileChange::Break(doc.name, dice.either(Breakage::Garbage, Breakage::Misfit))]
        }
        8 => {
            let broken: Vec<&Doc> = names.into_iter().filter(|doc| doc.broken.is_some()).collect();
            broken.into_iter().map(|doc| FileChange::Mend(doc.name.clone())).collect()
        }
        9 => vec![FileChange::Write(Doc { generation: doc.generation.saturating_add(1), ..doc })],
        _ => {
            let kinds = ["Contact", "Invoice", "SavedMethod", "RecurringCharge"];
            let kind = dice.pick(&kinds).copied().unwrap_or("Contact");
            let owner = tree.get(doc.merchant()).filter(|owner| owner.body == DocBody::Merchant)?;
            let made = draw_document(tree, &owner.name, kind, dice);
            if removed.iter().any(|doc| doc.name == made.name) {
                return None;
            }
            vec![FileChange::Write(made)]
        }
    })
}

fn remove_with_users(tree: &DocTree, doc: Doc, removed: &mut Vec<Doc>) -> Vec<FileChange> {
    let refers = |user: &&Doc| user.references().contains(&doc.name.as_str());
    let mut gone: Vec<Doc> = tree.values().filter(refers).cloned().collect();
    gone.push(doc);
    let changes = gone.iter().map(|doc| FileChange::Remove(doc.name.clone())).collect();
    removed.extend(gone.into_iter().map(|doc| Doc { broken: None, ..doc }));
    changes
}

fn edit_document(tree: &DocTree, mut doc: Doc, dice: &mut Dice) -> Doc {
    match &mut doc.body {
        DocBody::Merchant
        | DocBody::Opened { .. }
        | DocBody::FromCharge(_)
        | DocBody::Application { sign_up: false, .. } => {}
        DocBody::Application { sign_up: true, text } => *text = text.saturating_add(1),
        DocBody::Contact { merchant: _, hold } => *hold = !*hold,
        DocBody::Invoice { merchant: _, contact: _, lines, mails: _, letter: _ } => {
            lines.push(amount(dice));
        }
        DocBody::Card { merchant: _, bank: _, text, holder, delete } => {
            let what = dice.below(3);
            *text = text.saturating_add(u32::from(what != 0));
            *holder = holder.saturating_add(u32::from(what != 1));
            *delete = dice.percent(60);
        }
        DocBody::Recurring { merchant, card, amount: collected, now: _, text } => {
            match dice.below(10) {
                0..=4 => *collected = amount(dice),
                5..=7 => *text = text.saturating_add(1),
                _ => {
                    let same =
                        |doc: &&Doc| doc.kind() == "SavedMethod" && doc.merchant() == merchant;
                    let names: Vec<&Doc> = tree.values().filter(same).collect();
                    if let Some(other) = dice.pick(&names) {
                        card.clone_from(&other.name);
                    }
                }
            }
        }
    }
    doc
}

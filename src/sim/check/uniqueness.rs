//! Checks law 5: each document has its effect at most once, for ever. Recurring charges from an
//! earlier charge carry no mark at the service, so they are counted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::sim::check::evidence::{ExpectedNames, RunEvidence, Violation, Violations, result_id};
use crate::sim::check::{evidence, state};
use crate::sim::machine::journal::IntentHistory;
use crate::sim::plan::documents::{Doc, DocBody};
use crate::sim::plan::parts::{add, count_each};
use crate::sim::plan::world_parts::SCHEDULE_EFFECT;
use crate::sim::service::control::{find, mark_of, text};

pub(crate) fn check_intent_numbers(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let mut seen = BTreeSet::new();
    for number in evidence.numbers.iter().filter(|number| !seen.insert(**number)) {
        found.push(Violation::new("law 5", format!("two intents have the number {number}")));
    }
}

/// Checks that each name has one invoice, and that a document requests every invoice.
pub(crate) fn check_invoices(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let names = evidence::source_ids(evidence, "Invoice");
    let objects = &evidence.objects.invoices;
    let sources = objects.iter().map(|invoice| text(invoice, "source_id").to_owned());
    check_unique(sources, &names, "invoices", found);
    for invoice in objects {
        let Some((name, generation)) = names.get(text(invoice, "source_id")) else { continue };
        let asked = evidence.versions(name).into_iter().filter(|doc| doc.generation == *generation);
        let total = invoice.get("total_amount").and_then(Value::as_i64);
        let mut totals = asked.map(Doc::amount);
        if !totals.any(|asked| asked == total) {
            let text = format!(
                "the invoice {name} has the total {total:?}, which no document ever requested"
            );
            found.push(Violation::new("sums", text));
        }
    }
}

pub(crate) fn check_methods(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let names = evidence::marks(evidence, "SavedMethod");
    let methods = evidence.objects.methods.iter();
    let marks = methods.map(|method| text(method, "reference").to_owned());
    check_unique(marks, &names, "saved methods", found);
}

/// Checks that a state sends a one-time token at most once, whatever its result. A lost state's
/// tokens are forgotten.
pub(crate) fn check_tokens(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let mut seen = BTreeSet::new();
    let mut losses = evidence.lost.iter().map(|lost| lost.at).peekable();
    for arrival in evidence.arrivals {
        if losses.next_if(|lost| *lost <= arrival.at).is_some() {
            seen.clear();
        }
        let field = if arrival.effect == Some("recurring.change") { "method" } else { "token_id" };
        let token = text(&arrival.body, field);
        if !token.is_empty() && !seen.insert(token) {
            let text = format!("the token {token} was sent a second time at {}", arrival.at);
            found.push(Violation::new("law 5", text));
        }
    }
}

pub(crate) fn check_recurring_charges(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let names = evidence::marks(evidence, "RecurringCharge");
    let all = evidence.objects.recurring.iter();
    let marks = all.filter(|one| !is_unmarked(evidence, one)).map(mark_of);
    check_unique(marks, &names, "recurring charges", found);
}

/// Checks that each state that began empty submits an application once. The pages of a sign-up
/// submit nothing.
pub(crate) fn check_applications(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let names = evidence::marks(evidence, "MerchantApplication");
    let all = evidence.objects.applications.iter();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut submitted = Vec::new();
    for one in all.filter(|one| text(one, "state") != "started") {
        let mark = text(one, "reference");
        let count = seen.entry(mark).or_default();
        *count = count.saturating_add(1);
        if *count <= 1 || *count > state::new_state_count(evidence, mark) {
            submitted.push(mark.to_owned());
        }
    }
    check_unique(submitted, &names, "applications", found);
}

/// Checks that each name of a document has at most one object, and that no other object exists.
fn check_unique(
    objects: impl IntoIterator<Item = String>,
    names: &ExpectedNames,
    what: &str,
    found: &mut Violations,
) {
    for (name, count) in count_each(objects) {
        let text = match names.get(&name) {
            Some((document, _)) if count > 1 => {
                format!("{count} {what} of one name, {name}, for {document}")
            }
            Some(_) => continue,
            None => format!("{count} {what} of the name {name:?}, which no document has"),
        };
        found.push(Violation::new("law 5", text));
    }
}

/// Checks contacts, which carry no name. Each address has one contact for each generation, and one
/// more for each creation that was given up and reported.
pub(crate) fn check_contacts(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let emails = evidence.objects.contacts.iter().map(|contact| text(contact, "preferred_email"));
    let ever = evidence.all_documents();
    for (email, count) in count_each(emails) {
        let mut contacts = ever.values().filter(|doc| matches!(doc.body, DocBody::Contact { .. }));
        let Some(doc) = contacts.find(|doc| doc.email() == email) else {
            found.push(Violation::new("law 5", format!("the contact {email} has no document")));
            continue;
        };
        let (made, given_up) = state::possible_creations(evidence, &doc.name);
        if count > made.saturating_add(given_up) {
            let text = format!(
                "{count} contacts {email}, of which {given_up} are reported as possible orphans"
            );
            found.push(Violation::new("law 5", text));
        }
    }
}

/// Checks that each address of an invoice gets at most one e-mail about it, and that no other
/// address gets one.
pub(crate) fn check_mails(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let names = evidence::source_ids(evidence, "Invoice");
    let mut count: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for mail in &evidence.objects.mails {
        let invoice = text(mail, "invoice_id");
        let of = find(&evidence.objects.invoices, "id", invoice);
        let source = of.map_or("", |one| text(one, "source_id"));
        let name = names.get(source).map_or("", |(name, _)| name.as_str());
        let to = text(mail, "to");
        if name.is_empty() || !to.starts_with(name) {
            found.push(Violation::new("law 5", format!("a message about {invoice} went to {to}")));
        }
        add(&mut count, (source, to), 1);
    }
    for ((source, to), count) in count.into_iter().filter(|(_, count)| *count > 1) {
        let text = format!("{count} messages to {to} about the one invoice {source}");
        found.push(Violation::new("law 5", text));
    }
}

/// Returns the recurring charges made from an earlier charge, with the path of each.
fn made_charges<'a>(evidence: &RunEvidence<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let done = evidence.arrivals_of(SCHEDULE_EFFECT).filter(|one| one.status == 200);
    done.map(|one| (text(&one.reply, "id"), one.name.1.as_str()))
}

/// Returns true if a recurring charge is ours although it carries no mark.
pub(crate) fn is_unmarked(evidence: &RunEvidence<'_>, charge: &Value) -> bool {
    mark_of(charge).is_empty() && made_charges(evidence).any(|(id, _)| id == text(charge, "id"))
}

fn schedule_intents<'a>(evidence: &RunEvidence<'a>) -> impl Iterator<Item = &'a IntentHistory> {
    evidence.histories.iter().filter(|story| story.intent.effect == SCHEDULE_EFFECT)
}

/// Checks that no recurring charge is the result of two documents, and that each charge from an
/// earlier one has an effect of its own.
pub(crate) fn check_counts(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for story in schedule_intents(evidence) {
        let source = story.intent.source_id.as_str();
        wanted.entry(&story.intent.request.path).or_default().insert(source);
        if let Some(other) = result_id(story).and_then(|id| owners.insert(id, source)) {
            let text =
                format!("{other} and {source} have the same recurring charge as their result");
            found.push(Violation::new("law 5", text));
        }
    }
    for (path, count) in count_each(made_charges(evidence).map(|(_, path)| path)) {
        let most = wanted.get(path).map_or(0, BTreeSet::len);
        if count > most {
            let text = format!("{path} made {count} recurring charges for {most} documents");
            found.push(Violation::new("law 5", text));
        }
    }
}

/// Returns true if a document waits for another of its merchant that a person must resolve. The two
/// cannot be distinguished at the service.
pub(crate) fn waits_behind(evidence: &RunEvidence<'_>, doc: &Doc) -> bool {
    let same = |story: &IntentHistory| story.intent.merchant.name.as_str() == doc.merchant();
    matches!(doc.body, DocBody::FromCharge(_))
        && schedule_intents(evidence).any(|story| same(story) && story.hold_reason().is_some())
}

pub(crate) fn missing_part(evidence: &RunEvidence<'_>, doc: &Doc) -> Option<String> {
    let DocBody::FromCharge(one) = &doc.body else { return None };
    let source = doc.source_id(doc.generation)?;
    let own = schedule_intents(evidence).filter(|story| story.intent.source_id == source);
    let Some(id) = own.filter_map(result_id).last() else {
        return Some("it has no recurring charge".to_owned());
    };
    let Some(charge) = find(&evidence.objects.recurring, "id", id) else {
        return Some(format!("the recurring charge {id} does not exist"));
    };
    let path = format!("/v1/charges/{}/schedule", one.charge);
    if !made_charges(evidence).any(|made| made == (id, &*path)) {
        return Some(format!("{id} was not made from its charge {}", one.charge));
    }
    let said = doc.mark(doc.generation).zip(doc.text()).map(|(mark, said)| mark.tag(&said));
    let found = |field: &str| charge.get(field).cloned().unwrap_or_default();
    let differs = [("amount", Value::from(one.amount)), ("description", Value::from(said))];
    let other = differs.into_iter().find(|(field, wanted)| found(field) != *wanted);
    other.map(|(field, wanted)| {
        format!("its {field} is {}, and the document has {wanted}", found(field))
    })
}

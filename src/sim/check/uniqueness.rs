//! Checks law 5: each document has its effect at most once, for ever.

use std::collections::BTreeMap;

use serde_json::Value;

use super::expected_names::ExpectedNames;
use super::laws::{RunEvidence, Violation};
use super::{epoch, expected_names, unmarked_charges};
use crate::base::hash::Mark;
use crate::sim::actors::sandbox_control::text;
use crate::sim::world::documents::DocBody;

/// Checks that each intent has a number of its own.
pub(crate) fn check_intent_numbers(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let mut seen = std::collections::BTreeSet::new();
    for number in evidence.numbers.iter().filter(|number| !seen.insert(**number)) {
        found.push(Violation::new("law 5", format!("two intents have the number {number}")));
    }
}

/// Checks that each name has one invoice, and that a document requests every invoice.
pub(crate) fn check_invoices(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let names = expected_names::source_ids(evidence, "Invoice");
    let objects = &evidence.objects.invoices;
    check_unique(
        objects,
        |invoice| text(invoice, "source_id").to_owned(),
        &names,
        "invoices",
        found,
    );
    for invoice in objects {
        let Some((name, generation)) = names.get(text(invoice, "source_id")) else {
            continue;
        };
        let asked = evidence.versions(name).into_iter().filter(|doc| doc.generation == *generation);
        let total = invoice.get("total_amount").and_then(Value::as_i64);
        let mut totals = asked.map(crate::sim::world::documents::Doc::amount);
        if !totals.any(|asked| asked == total) {
            let text = format!(
                "the invoice {name} has the total {total:?}, which no document ever requested"
            );
            found.push(Violation::new("sums", text));
        }
    }
}

/// Checks that each mark has one live card or bank account.
pub(crate) fn check_methods(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let names = expected_names::marks(evidence, "SavedMethod");
    let mark = |method: &Value| text(method, "reference").to_owned();
    check_unique(&evidence.objects.methods, mark, &names, "saved methods", found);
}

/// Checks that a state sends a one-time token at most once, whatever its result. A lost state's
/// tokens are forgotten.
pub(crate) fn check_tokens(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let mut seen = std::collections::BTreeSet::new();
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

/// Checks that each mark has one recurring charge.
pub(crate) fn check_recurring_charges(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let names = expected_names::marks(evidence, "RecurringCharge");
    let all = evidence.objects.recurring.iter();
    let marked: Vec<Value> =
        all.filter(|one| !unmarked_charges::is_unmarked(evidence, one)).cloned().collect();
    check_unique(&marked, mark_of, &names, "recurring charges", found);
}

/// Checks that each state that began empty submits an application once. The pages of a sign-up
/// submit nothing.
pub(crate) fn check_applications(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let names = expected_names::marks(evidence, "MerchantApplication");
    let all = evidence.objects.applications.iter();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut submitted = Vec::new();
    for one in all.filter(|one| text(one, "state") != "started") {
        let mark = text(one, "reference");
        let count = seen.entry(mark).or_default();
        *count = count.saturating_add(1);
        if *count <= 1 || *count > epoch::new_state_count(evidence, mark) {
            submitted.push(one.clone());
        }
    }
    let mark = |one: &Value| text(one, "reference").to_owned();
    check_unique(&submitted, mark, &names, "applications", found);
}

/// Returns the mark in a recurring charge's description, else its reference.
pub(in crate::sim) fn mark_of(charge: &Value) -> String {
    let tagged = Mark::find_in(text(charge, "description")).map(|mark| mark.to_string());
    tagged.unwrap_or_else(|| text(charge, "reference").to_owned())
}

/// Checks that each name of a document has at most one object, and that no other object exists.
fn check_unique(
    objects: &[Value],
    name_of: impl Fn(&Value) -> String,
    names: &ExpectedNames,
    what: &str,
    found: &mut Vec<Violation>,
) {
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    for object in objects {
        let seen = count.entry(name_of(object)).or_default();
        *seen = seen.saturating_add(1);
    }
    for (name, count) in count {
        match names.get(&name) {
            Some((document, _)) if count > 1 => found.push(Violation::new(
                "law 5",
                format!("{count} {what} of one name, {name}, for {document}"),
            )),
            Some(_) => {}
            None => found.push(Violation::new(
                "law 5",
                format!("{count} {what} of the name {name:?}, which no document has"),
            )),
        }
    }
}

/// Checks contacts, which carry no name. Each address has one contact for each generation, and one
/// more for each creation that was given up and reported.
pub(crate) fn check_contacts(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for contact in &evidence.objects.contacts {
        let seen = count.entry(text(contact, "preferred_email")).or_default();
        *seen = seen.saturating_add(1);
    }
    for (email, count) in count {
        let ever = evidence.all_documents();
        let doc = ever
            .values()
            .find(|doc| matches!(doc.body, DocBody::Contact { .. }) && doc.email() == email);
        let Some(doc) = doc else {
            found.push(Violation::new("law 5", format!("the contact {email} has no document")));
            continue;
        };
        let (made, given_up) = epoch::possible_creations(evidence, &doc.name);
        let most = made.saturating_add(given_up);
        if count > most {
            let text = format!(
                "{count} contacts {email}, of which {given_up} are reported as possible orphans"
            );
            found.push(Violation::new("law 5", text));
        }
    }
}

/// Checks that each address of an invoice gets at most one e-mail about it, and that no other
/// address gets one.
pub(crate) fn check_mails(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let names = expected_names::source_ids(evidence, "Invoice");
    let mut count: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for mail in &evidence.objects.mails {
        let invoice = text(mail, "invoice_id");
        let of = evidence.objects.invoices.iter().find(|one| text(one, "id") == invoice);
        let source = of.map_or("", |one| text(one, "source_id"));
        let name = names.get(source).map_or("", |(name, _)| name.as_str());
        let to = text(mail, "to");
        if name.is_empty() || !to.starts_with(name) {
            found.push(Violation::new("law 5", format!("a message about {invoice} went to {to}")));
        }
        let seen = count.entry((source, to)).or_default();
        *seen = seen.saturating_add(1);
    }
    for ((source, to), count) in count.into_iter().filter(|(_, count)| *count > 1) {
        let text = format!("{count} messages to {to} about the one invoice {source}");
        found.push(Violation::new("law 5", text));
    }
}

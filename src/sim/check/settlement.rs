//! Checks that everything equals the files, or waits for a person with a good reason, once all
//! faults are over.

use serde_json::Value;

use crate::engine::protocol::views::ResourceView;
use crate::model::manifest::{Deletion, OnDoubt};
use crate::model::state::health::{Condition, ConditionStatus, ConditionType};
use crate::sandbox::options::ServiceSurface;
use crate::sim::check::attention::DIFFERS;
use crate::sim::check::evidence::{RunEvidence, Violation, Violations, is_valid};
use crate::sim::check::{limits, money, state, uniqueness};
use crate::sim::machine::journal::IntentHistory;
use crate::sim::plan::documents::{self, Doc, DocBody};
use crate::sim::service::control::{find, mark_of};

/// Checks that only intents without a possible settlement are on hold.
pub(crate) fn check_holds(evidence: &RunEvidence<'_>, found: &mut Violations) {
    for story in evidence.histories {
        let Some(reason) = story.hold_reason() else { continue };
        if !may_be_on_hold(evidence, story) {
            let text = format!("{} {} is on hold: {reason}", story.intent.effect, story.intent.key);
            found.push(Violation::new("settles", text));
        }
    }
}

/// Returns true if an intent may end on hold: the answer differs, or its result cannot be proved.
/// With a settler, only intents that the settler cannot know may be left.
fn may_be_on_hold(evidence: &RunEvidence<'_>, story: &IntentHistory) -> bool {
    let untold =
        story.intent.effect == "application.submit" && evidence.never_delivered(&story.intent.mark);
    let settler = evidence.script.people.settler.is_some();
    if settler && is_provable(&story.intent.effect) && !untold {
        return false;
    }
    evidence.has_other_amount(story)
        || match story.intent.effect.as_str() {
            "invoice.create" => state::was_sent_differently(evidence, story),
            "contact.create" if state::was_open_at_loss(evidence, story) => true,
            // An unprovable creation is repeated a limited number of times, and then needs a
            // person.
            "contact.create" => {
                let mut own = evidence.intents(story.document());
                let again = story.hold_reason().is_some_and(|why| why.contains("made again"));
                story.intent.on_doubt == OnDoubt::Hold
                    || (again && own.any(IntentHistory::given_up))
            }
            // The amount changed between the baseline and the call.
            "occurrence.pay" => story.hold_reason().is_some_and(|why| why.starts_with(DIFFERS)),
            // The service does not show a vault's methods, once the token is gone.
            "code.exchange" | "vault.save" => true,
            "application.submit" => {
                // The webhook of a known application's decision settles the intent.
                evidence.application(&story.intent.mark).is_none()
                    || evidence.never_delivered(&story.intent.mark)
                    || state::was_open_at_loss(evidence, story)
                    || state::submitted_before(evidence, &story.intent.mark)
            }
            // The documents define no list of transactions except authorisations. Without a newer
            // event the result stays unknown.
            "recurring.create" | "charge.recur" | "charge.schedule" | "charge.create"
            | "charge.capture" | "charge.refund" | "credit.create" | "transaction.void" => {
                evidence.script.surface == ServiceSurface::Documented
            }
            _ => false,
        }
}

/// Checks that every valid document has its object, and that the engine reports it as ready.
pub(crate) fn check_ready(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let Some(files) = evidence.files() else { return };
    let is_synced =
        |one: &Condition| one.kind == ConditionType::Synced && one.status == ConditionStatus::True;
    for doc in files.values().filter(|doc| is_valid(files, doc)) {
        let name = doc.address();
        let waits = limits::is_over_limit(evidence, doc) || evidence.awaits_underwriting(doc);
        if evidence.is_on_hold(doc) || waits || money::was_ended(evidence, doc) {
            continue;
        }
        if money::may_be_ended(evidence, doc) {
            if evidence.view(doc).is_some_and(|view| view.ready) {
                let text = format!("{name} was ended, and the engine reports it as ready");
                found.push(Violation::new("removal", text));
            }
            continue;
        }
        if let Some(missing) = missing_in_all_generations(evidence, doc) {
            found.push(Violation::new("settles", format!("{name}: {missing}")));
        }
        match evidence.view(doc) {
            // A change that the service cannot make leaves the object as it was, and needs
            // attention.
            Some(view) if matches!(view.reason.as_str(), "AwaitsApplicant" | "CannotChange") => {}
            Some(view) if view.ready => {}
            // A payment that the payer's bank declines leaves the object equal to its document.
            Some(view) if view.conditions.iter().any(is_synced) => {}
            Some(ResourceView { reason, message, .. }) => {
                let text = format!("{name} is not ready: {reason} ({message})");
                found.push(Violation::new("settles", text));
            }
            None => found.push(Violation::new("settles", format!("{name} is not listed"))),
        }
    }
}

/// Returns the first thing of a document that is missing at the service. An object of a higher
/// generation than the document's also counts.
fn missing_in_all_generations(evidence: &RunEvidence<'_>, doc: &Doc) -> Option<String> {
    let generations = evidence.generations(&doc.name).into_iter();
    let fitting = generations.filter(|generation| *generation >= doc.generation);
    let mut lacks =
        fitting.map(|generation| missing_part(evidence, &Doc { generation, ..doc.clone() }));
    let first = lacks.next().flatten()?;
    lacks.all(|missing| missing.is_some()).then_some(first)
}

fn missing_part(evidence: &RunEvidence<'_>, doc: &Doc) -> Option<String> {
    let objects = evidence.objects;
    let source = doc.source_id(doc.generation)?.to_string();
    let mark = doc.mark(doc.generation)?;
    match &doc.body {
        DocBody::Merchant | DocBody::Opened { .. } | DocBody::Application { sign_up: true, .. } => {
            None
        }
        DocBody::Application { sign_up: false, .. } => {
            let there = evidence.application(&mark).is_some();
            (!there).then(|| "the application does not exist".to_owned())
        }
        DocBody::Contact { .. } => {
            let there = find(&objects.contacts, "preferred_email", &doc.email()).is_some();
            (!there).then(|| "the contact does not exist".to_owned())
        }
        DocBody::Invoice { letter, .. } => {
            let Some(invoice) = find(&objects.invoices, "source_id", &source) else {
                return Some(format!("the invoice {source} does not exist"));
            };
            let attached = invoice.pointer("/attachments/0/file_name").and_then(Value::as_str);
            let wanted = (*letter > 0).then(|| documents::attachment_name(*letter));
            (attached != wanted.as_deref())
                .then(|| format!("the invoice {source} attaches {attached:?}, not {wanted:?}"))
        }
        DocBody::Card { .. } => {
            let Some(method) = find(&objects.methods, "reference", mark.as_str()) else {
                return Some("the saved method does not exist".to_owned());
            };
            field_differs(method, "description", &Value::from(doc.text()?))
                .or_else(|| field_differs(method, "name", &Value::from(doc.holder()?)))
        }
        DocBody::FromCharge(_) => uniqueness::missing_part(evidence, doc),
        DocBody::Recurring { amount, card, .. } => {
            let mut charges = objects.recurring.iter();
            let Some(charge) = charges.find(|one| mark_of(one) == mark.as_str()) else {
                return Some("the recurring charge does not exist".to_owned());
            };
            let text = mark.tag(&doc.text()?);
            field_differs(charge, "amount", &Value::from(*amount))
                .or_else(|| field_differs(charge, "description", &Value::from(text)))
                .or_else(|| payer_differs(evidence, charge, card))
        }
    }
}

/// Returns the difference between a recurring charge's payer and its method's document.
fn payer_differs(evidence: &RunEvidence<'_>, charge: &Value, card: &str) -> Option<String> {
    let holder = evidence.files()?.get(card)?.holder()?;
    let found = charge.pointer("/method/name").unwrap_or(&Value::Null);
    let text = || format!("its payer is {found}, and the document of its method has {holder:?}");
    (found.as_str() != Some(holder.as_str())).then(text)
}

fn field_differs(object: &Value, field: &str, wanted: &Value) -> Option<String> {
    let found = object.get(field).unwrap_or(&Value::Null);
    (found != wanted).then(|| format!("its {field} is {found}, and the document has {wanted}"))
}

/// Checks that a saved method is gone if its document always declared the removal and is gone.
pub(crate) fn check_removed_methods(evidence: &RunEvidence<'_>, found: &mut Violations) {
    for (name, doc) in evidence.all_documents() {
        let waits = limits::is_over_limit(evidence, doc) || waits_for_held_charge(evidence, name);
        let Some(mark) = doc.mark(0).filter(|_| !waits && money::is_removed(evidence, doc)) else {
            continue;
        };
        if find(&evidence.objects.methods, "reference", mark.as_str()).is_some() {
            let text = format!("{name} has no document, and its method still exists");
            found.push(Violation::new("settles", text));
        }
    }
}

/// Returns true if a recurring charge that is removed before its method is on hold. The method
/// waits for it.
fn waits_for_held_charge(evidence: &RunEvidence<'_>, method: &str) -> bool {
    let pays = |doc: &&Doc| matches!(&doc.body, DocBody::Recurring { card, .. } if card == method);
    let held = |story: &IntentHistory| {
        story.hold_reason().is_some() && story.intent.applied.deletion == Deletion::Delete
    };
    let ever = evidence.history.iter().flat_map(|(_, tree)| tree.values());
    ever.filter(pays).any(|doc| evidence.intents(&doc.name).any(held))
}

impl RunEvidence<'_> {
    /// Returns true if a document, or a document that it needs, waits for a person.
    pub fn is_on_hold(&self, doc: &Doc) -> bool {
        let needs = self.with_needs(doc);
        let held = |name: &str| self.intents(name).any(|story| story.hold_reason().is_some());
        uniqueness::waits_behind(self, doc)
            || state::is_waiting(self, doc, &needs)
            || needs.iter().any(|need| held(&need.name) || held(need.merchant()))
    }
}

/// Returns true if the service's own books show the result of a lost answer of this effect. A tried
/// code shows nowhere. For unmarked objects only the engine's own earlier records can decide.
pub(crate) fn is_provable(effect: &str) -> bool {
    !matches!(
        effect,
        "code.exchange"
            | "charge.schedule"
            | "charge.capture"
            | "credit.create"
            | "transaction.void"
            | "transaction.sign"
            | "occurrence.pay"
            | "occurrence.ignore"
            | "recurring.cancel"
            | "recurring.end"
            | "merchant.deauthorise"
            | "merchant.change"
            | "account.change"
            | "ach_account.change"
            | "merchant.purge"
            | "recurring.delete"
            | "vault.save"
    )
}

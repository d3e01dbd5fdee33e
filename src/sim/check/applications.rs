//! Checks that applications end as the service decided, whatever happened to its webhooks, and that
//! a person approves each live merchant of an application before any effect on it.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{RunEvidence, Violation};
use crate::base::hash::Mark;
use crate::base::id::Mode;
use crate::kinds::planning::step::MERCHANT;
use crate::model::record::Record;
use crate::sim::machine::journal_decoder::DurableRecord;
use crate::sim::plan::documents::{Doc, DocBody};
use crate::sim::service::control::text;
use crate::sim::service::forgeries::FORGED;

impl RunEvidence<'_> {
    /// Returns the service's decision on the newest submission of an application, and whether its
    /// webhook reached us.
    fn decision(&self, doc: &Doc) -> Option<(&str, bool)> {
        let mark = doc.mark(doc.generation)?;
        let mut all = self.objects.applications.iter();
        let state = text(all.find(|one| text(one, "reference") == mark.as_str())?, "state");
        let event = match state {
            "provisioned" => "merchant.provisioned",
            _ => "merchant_application.declined",
        };
        Some((state, !self.lost_webhooks.contains(&format!("{mark} {event}"))))
    }

    /// Returns true if every webhook of the submission with this mark was lost for good.
    pub(crate) fn never_delivered(&self, mark: &Mark) -> bool {
        let mut all = self.objects.applications.iter();
        let approved = all
            .find(|one| text(one, "reference") == mark.as_str())
            .is_some_and(|one| text(one, "state") == "provisioned");
        let declined = !approved || self.script.net.delayed_decision.is_some();
        let sent =
            [(approved, "merchant.provisioned"), (declined, "merchant_application.declined")];
        let lost = |event: &str| self.lost_webhooks.contains(&format!("{mark} {event}"));
        sent.iter().all(|(sent, event)| !sent || lost(event))
    }

    /// Returns true if a document waits for an application that was not approved, or whose webhook
    /// never arrived.
    pub(crate) fn awaits_underwriting(&self, doc: &Doc) -> bool {
        let ever = self.all_documents();
        let names = doc.references().into_iter().chain([doc.name.as_str()]);
        let needs = names.filter_map(|name| ever.get(name));
        let further =
            needs.clone().flat_map(|need| need.references()).filter_map(|name| ever.get(name));
        needs.chain(further).filter(|need| matches!(need.body, DocBody::Application { .. })).any(
            |application| {
                self.decision(application).is_some_and(|decided| decided != ("provisioned", true))
            },
        )
    }
}

/// Checks that the engine reports the service's decision on each application, as far as its webhook
/// arrived.
pub(crate) fn check_decisions(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let Some(files) = evidence.files() else { return };
    let applications = files.values().filter(|doc| doc.kind() == "MerchantApplication");
    for doc in applications.filter(|doc| !evidence.is_on_hold(doc)) {
        let Some((state, true)) = evidence.decision(doc) else { continue };
        let mut views = evidence.views.iter();
        let Some(view) = views.find(|view| view.name == doc.name && view.kind == doc.kind()) else {
            continue;
        };
        let fits = match state {
            "provisioned" => view.ready,
            "declined" => view.reason == "Declined",
            _ => true,
        };
        if !fits {
            let text =
                format!("{} is {state}, and the engine reports {}", doc.address(), view.reason);
            found.push(Violation::new("law 3", text));
        }
    }
}

/// Checks that a code connects its merchant once, and that a code that the service did not issue is
/// never tried.
pub(crate) fn check_codes(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    let exchanges = evidence.arrivals.iter().filter(|one| one.effect == Some("code.exchange"));
    for arrival in exchanges {
        let code = text(&arrival.body, "code");
        if code == FORGED {
            found.push(Violation::new("law 3", "a forged code was tried".to_owned()));
        }
        let times = times.entry(code).or_default();
        *times = times.saturating_add(u32::from(arrival.status == 200));
    }
    for (_, times) in times.into_iter().filter(|(_, times)| *times > 1) {
        let text = format!("one code was exchanged {times} times");
        found.push(Violation::new("law 5", text));
    }
}

/// The only effect before the approval; without it there is nothing to approve.
const BEFORE: &str = "code.exchange";

/// Reports every intent on a live merchant before a person's approval of that merchant. Returns the
/// number of approved merchants.
pub(crate) fn check_approvals(entries: &[DurableRecord], found: &mut Vec<Violation>) -> usize {
    let mut approved = BTreeSet::new();
    for entry in entries {
        if let Record::Approval(approval) = &entry.record {
            approved.insert(&approval.binding.merchant);
        }
        let Record::Intent(intent) = &entry.record else { continue };
        let live = intent.mode == Mode::Live && intent.merchant.kind.as_str() == MERCHANT;
        if live && intent.effect != BEFORE && !approved.contains(&intent.merchant) {
            let text = format!("{} of {} began before any approval", intent.effect, intent.key);
            found.push(Violation::new("approval", text));
        }
    }
    approved.len()
}

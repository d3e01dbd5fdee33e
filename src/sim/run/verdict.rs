//! Checks of a run that has ended, and its report.
//!
//! The checkers compare the service, the journal and the manifests. They know nothing of the faults
//! that struck, except that an answer named another amount, and nothing of the engine's internals.
//! They read the sandbox's own objects, ledger and mail, its arrivals with their times, the
//! journal's durable records, and the documents.

use super::state::{RunReport, SimRun};
use crate::sim::check::events::EventEvidence;
use crate::sim::check::evidence::{RunEvidence, Violation};
use crate::sim::check::{
    applications, attention, call_laws, commands, epoch, events, hooks, limits, money, settlement,
    state, uniqueness,
};
use crate::sim::machine::journal_decoder;
use crate::sim::service::control::text;
use crate::sim::service::sandbox::Objects;

impl SimRun<'_> {
    /// Checks everything that the run has left.
    pub(crate) async fn check_result(mut self) -> RunReport {
        let entries =
            self.troubles.correct_times(journal_decoder::allowed_counts(&self.machine.journal));
        let known = self.machine.rebuilt_read_model().ok();
        state::check_compaction(&self.machine, &mut self.violations).await;
        state::check_damage(&mut self.machine, &entries, &mut self.violations);
        let approved = applications::check_approvals(&entries, &mut self.violations);
        let before = self.desk.objects().await;
        let events = self.desk.events().await;
        let now = self.clock.now();
        let after: Objects = self.desk.two_months_later().await;
        let evidence = RunEvidence {
            script: self.script,
            history: &self.history,
            arrivals: &self.front.arrivals(),
            unauthorised_calls: &self.front.unauthorised_calls(),
            histories: &journal_decoder::intent_histories(&entries),
            numbers: &journal_decoder::intent_numbers(&entries),
            deaths: &self.deaths,
            lost: &self.troubles.lost,
            objects: &before,
            later: &after,
            views: &self.views,
            answers: &self.notebook.answers(),
            lost_webhooks: &self.post.lost_webhooks(),
            storms: &self.front.weather().stretches(),
            settling_time: self.front.weather().settling_time(),
        };
        let complete = self.violations.is_empty();
        self.violations.extend(check_run(&evidence, complete));
        self.violations.extend(limits::check_limits(
            &evidence,
            &entries,
            &self.memory.seen_plans(),
        ));
        let told = EventEvidence {
            events: &events,
            entries: &entries,
            answered: &self.post.acknowledged_posts(),
            merchants: self.desk.merchants(),
            known: known.as_ref(),
            now,
        };
        self.violations.extend(events::check_events(&evidence, &told, complete));
        self.violations.extend(hooks::check_hooks(
            &evidence,
            &told,
            &self.rig.attempts(),
            complete,
        ));
        let shares = attention::count_intents(&evidence);
        attention::check_provable(self.script.surface, &shares, &mut self.violations);
        let (last, seed) = (entries.last(), self.script.seed);
        RunReport {
            seed,
            head: last.map_or([0; 32], |entry| entry.hash),
            records: last.map_or(0, |entry| entry.sequence),
            struck: self.front.fault_counts(),
            died: self.died,
            shares,
            recreated: recreated(&evidence),
            approved,
            plans_approved: limits::plans_approved(&entries),
            collected: after.ledger.iter().filter(|one| text(one, "type") == "CHARGE").count(),
            event_outcomes: told.count_outcomes(),
            hooks: hooks::count_actions(&told),
            violations: self.violations,
        }
    }
}

/// Returns every violation. Settlement is not checked in a run that was cut short.
pub fn check_run(evidence: &RunEvidence<'_>, complete: bool) -> Vec<Violation> {
    let mut found = Vec::new();
    call_laws::check_call_intents(evidence, &mut found);
    call_laws::check_deletions(evidence, &mut found);
    call_laws::check_differing_answers(evidence, &mut found);
    uniqueness::check_intent_numbers(evidence, &mut found);
    uniqueness::check_invoices(evidence, &mut found);
    uniqueness::check_methods(evidence, &mut found);
    uniqueness::check_tokens(evidence, &mut found);
    uniqueness::check_recurring_charges(evidence, &mut found);
    uniqueness::check_counts(evidence, &mut found);
    uniqueness::check_applications(evidence, &mut found);
    uniqueness::check_contacts(evidence, &mut found);
    uniqueness::check_mails(evidence, &mut found);
    money::check_collected(evidence, &mut found);
    commands::check_single_effect(evidence, &mut found);
    commands::check_merchant_answers(evidence, &mut found);
    applications::check_codes(evidence, &mut found);
    call_laws::check_storms(evidence, &mut found);
    if complete {
        limits::check_blocked_steps(evidence, &mut found);
        settlement::check_holds(evidence, &mut found);
        epoch::check_waiting(evidence, &mut found);
        settlement::check_ready(evidence, &mut found);
        settlement::check_removed_methods(evidence, &mut found);
        commands::check_answers(evidence, &mut found);
        applications::check_decisions(evidence, &mut found);
        money::check_no_collection(evidence, &mut found);
        money::check_returned(evidence, &mut found);
        money::check_deauthorised(evidence, &mut found);
        money::check_invoiced(evidence, &mut found);
    }
    found
}

/// Returns the number of creations that were given up without proof and made again.
pub fn recreated(evidence: &RunEvidence<'_>) -> u32 {
    let given_up = evidence.histories.iter().filter(|story| story.given_up()).count();
    u32::try_from(given_up).unwrap_or(u32::MAX).saturating_add(epoch::recreated_contacts(evidence))
}

//! Checks of a run that has ended, and its report.

use super::life::{RunReport, SimRun};
use crate::sim::actors::sandbox_control::{Objects, text};
use crate::sim::check::events::EventEvidence;
use crate::sim::check::laws::RunEvidence;
use crate::sim::check::{approvals, compaction, damage, events, hooks, laws, limits};
use crate::sim::machine::journal_decoder;
use crate::sim::report::attention_share;

impl SimRun<'_> {
    /// Checks everything that the run has left.
    pub(crate) async fn check_result(mut self) -> RunReport {
        let entries =
            self.troubles.correct_times(journal_decoder::allowed_counts(&self.machine.journal));
        let known = self.machine.rebuilt_read_model().ok();
        compaction::check_compaction(&self.machine, &mut self.violations).await;
        damage::check_damage(&mut self.machine, &entries, &mut self.violations);
        let approved = approvals::check_approvals(&entries, &mut self.violations);
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
        self.violations.extend(laws::check_run(&evidence, complete));
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
        let shares = attention_share::count_intents(&evidence);
        attention_share::check_provable(self.script.surface, &shares, &mut self.violations);
        let (last, seed) = (entries.last(), self.script.seed);
        RunReport {
            seed,
            head: last.map_or([0; 32], |entry| entry.hash),
            records: last.map_or(0, |entry| entry.sequence),
            struck: self.front.fault_counts(),
            died: self.died,
            shares,
            recreated: laws::recreated(&evidence),
            approved,
            plans_approved: limits::plans_approved(&entries),
            collected: after.ledger.iter().filter(|one| text(one, "type") == "CHARGE").count(),
            event_outcomes: told.count_outcomes(),
            hooks: hooks::count_actions(&told),
            violations: self.violations,
        }
    }
}

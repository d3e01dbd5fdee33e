//! Problems of the plan: limits that it exceeds as a whole, refusals of the service, and outdated dates.
//!
//! A plan that would exceed a sum is refused before its first effect, and not midway. Refusals and dates
//! are located at their fields in the files.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use serde_json::json;

use crate::base::hash::{Digest, canonical, sha256};
use crate::base::id::{Key, Mode};
use crate::engine::handles::shared::EngineResult;
use crate::engine::limits::rules::{PlanLimitExceeded, SpendBudget, day};
use crate::engine::view::EngineView;
use crate::kinds::planning::step::merchant_of;
use crate::kinds::register;
use crate::kinds::remote::error_field;
use crate::model::change::{LimitExceeded, LimitScope, PlannedAction};
use crate::model::effect::{Exposure, RunningTotals, SpendRequest};
use crate::model::issue::{Issue, PlacedIssue};
use crate::model::outcome::ServiceMessage;
use crate::model::plan::{Reason, Step};
use crate::model::state::observed::ServiceRefusal;
use crate::plan::blocks::generation_of;
use crate::plan::state_view::StateView;
use crate::policy::limit_check::{LimitPeriod, check_plan};
use crate::policy::permission::{self, approval_status};

type PlannedSums = BTreeMap<(Mode, Option<Key>), RunningTotals>;

/// Code of a request that the service refused.
const REFUSED: &str = "reckon::service::refused";
/// Hours by which a day ends later in the last time zone than in UTC.
const LAST_ZONE: TimeDelta = TimeDelta::hours(12);

impl EngineView<'_> {
    /// Returns a short name of the present state of the files.
    pub(crate) fn tree_name(&self) -> String {
        let digests = self.known_state.desired().manifests.values();
        let all: Vec<u8> = digests.flat_map(|manifest| *manifest.digest.as_bytes()).collect();
        sha256(&all).to_string().chars().take(16).collect()
    }

    /// Returns a digest of all documents with their names, and of what is missing: two trees with one
    /// digest ask for the same. A grant names it, so it is never cut.
    pub(crate) fn synced_tree(&self) -> String {
        let desired = self.known_state.desired();
        let documents = desired.manifests.iter().map(|(key, manifest)| (key, manifest.digest));
        let parts = (desired.tree_state, documents.collect::<Vec<_>>());
        sha256(&canonical(&json!(parts))).to_string()
    }

    /// Returns every limit that the counted and the planned sums exceed together.
    pub(crate) fn find_exceeded(
        &self,
        guard: &SpendBudget,
        tree: &str,
    ) -> EngineResult<Vec<PlanLimitExceeded>> {
        let now = guard.now();
        let (run, today) = (SpendBudget::run(tree, now), day(now));
        let limits = &guard.rules.limits;
        let mut found = Vec::new();
        for ((mode, merchant), planned) in self.planned_sums(guard)? {
            let section = match &merchant {
                None => Some(limits.general(mode)),
                Some(merchant) => limits.merchants.get(merchant),
            };
            let Some(section) = section else { continue };
            let with = |span, name: &str| -> EngineResult<RunningTotals> {
                let counted = guard.facts.tally((span, name), mode, merchant.as_ref())?;
                Ok(add_planned(counted, &planned))
            };
            let in_run = with(LimitPeriod::Run, &run)?;
            let over = check_plan(section, &in_run, &with(LimitPeriod::Day, &today)?);
            let over = over.into_iter().filter(|(about, _)| about.is_in(&planned));
            found.extend(over.map(|(about, over)| PlanLimitExceeded {
                mode,
                merchant: merchant.clone(),
                about,
                over: LimitExceeded { approvers: guard.rules.approvals.approvers, ..over },
            }));
        }
        Ok(found)
    }

    /// Sums all steps that are not approved, and that no limit of their own blocks.
    fn planned_sums(&self, guard: &SpendBudget) -> EngineResult<PlannedSums> {
        let (kept, now) = (guard.facts.plan_approvals()?, guard.now());
        let rules = &guard.rules.approvals;
        let mut planned = PlannedSums::new();
        for wish in self.spend_requests().filter(|wish| self.scheduler.is_selected(&wish.key)) {
            let rest = (!kept.is_empty()).then(|| self.digest_without_amounts(&wish.key));
            let wish = SpendRequest { amountless_digest: rest, ..wish };
            let alone = self.planner.step(&wish.key).is_some_and(|step| exceeds_single_limit(step));
            if alone || approval_status(rules, &kept, &wish, now).is_enough() {
                continue;
            }
            for merchant in [None, Some(wish.merchant.clone())] {
                planned.entry((wish.mode, merchant)).or_default().add(&wish.exposure);
            }
        }
        Ok(planned)
    }

    /// Returns the exposure of every step that has one, blocked by a limit or not.
    pub(crate) fn spend_requests(&self) -> impl Iterator<Item = SpendRequest> {
        let mut modes: BTreeMap<Key, Option<Mode>> = BTreeMap::new();
        self.planner.steps().filter_map(move |step| {
            let over = matches!(step.reason, Reason::OverLimit(_));
            let exposure = Exposure::new(&step.money, step.counts);
            if exposure.is_empty() || !(over || step.action.is_change()) {
                return None;
            }
            let manifest = self.known_state.desired().manifests.get(&step.key);
            let known = self.known_state.observed(&step.key);
            let its = || known.as_ref().map(|known| known.merchant.clone());
            let merchant = manifest.and_then(|manifest| merchant_of(manifest)).or_else(its)?;
            let mode = *modes.entry(merchant.clone()).or_insert_with(|| self.mode(&merchant));
            let said = manifest.map(|manifest| manifest.annotations.generation);
            let generation = generation_of(said, known.as_deref());
            let (key, mode, amountless_digest) = (step.key.clone(), mode?, None);
            Some(SpendRequest { key, merchant, mode, generation, amountless_digest, exposure })
        })
    }

    /// Returns the mode of a merchant, from its document or else from its last reading.
    fn mode(&self, merchant: &Key) -> Option<Mode> {
        let manifest = self.known_state.desired().manifest(merchant);
        let said = manifest.and_then(|manifest| manifest.spec.get("mode").cloned());
        let known = || self.known_state.observed(merchant).map(|known| known.fact("mode").clone());
        serde_json::from_value(said.or_else(known)?).ok()
    }

    pub(crate) fn digest_without_amounts(&self, key: &Key) -> Digest {
        let manifest = self.known_state.desired().manifest(key);
        let spec = manifest.as_ref().map(|manifest| &manifest.spec);
        permission::amountless_digest(spec, self.digest_key())
    }

    /// Returns the problems of a step's fields: the service's refusals, and dates that are over.
    pub(crate) fn field_problems(&self, step: &Step) -> Vec<PlacedIssue> {
        let mut problems = self.refusals(step);
        problems.extend(self.overdue(step));
        problems
    }

    /// Returns warnings of dates that are over, if an object is to be created.
    fn overdue(&self, step: &Step) -> Vec<PlacedIssue> {
        let creating = [PlannedAction::Create, PlannedAction::Wait, PlannedAction::Blocked];
        let is_new = creating.contains(&step.action) && step.remote_id.is_none();
        let manifest = self.known_state.desired().manifest(&step.key).filter(|_| is_new);
        let today = self.shared.now().checked_sub_signed(LAST_ZONE);
        let row = register::find(step.key.kind.as_str());
        let (Some(manifest), Some(today), Some(row)) = (manifest, today, row) else {
            return Vec::new();
        };
        let issues = (row.overdue)(&manifest.spec, today.date_naive());
        issues.iter().filter_map(|issue| self.known_state.files.place(&step.key, issue)).collect()
    }

    /// Returns the messages of a step's refusal, each at its field; empty for any other step.
    fn refusals(&self, step: &Step) -> Vec<PlacedIssue> {
        if !matches!(step.reason, Reason::Refused(_)) {
            return Vec::new();
        }
        let known = self.known_state.observed(&step.key);
        let refusal = known.as_ref().and_then(|known| known.refusal.as_ref());
        let issues = refusal.map(|refusal| refusal_issues(step.key.kind.as_str(), refusal));
        let issues = issues.into_iter().flatten();
        issues.filter_map(|issue| self.known_state.files.place(&step.key, &issue)).collect()
    }
}

/// Returns true if a limit on single amounts blocks a step: then the step adds to no sum.
fn exceeds_single_limit(step: &Step) -> bool {
    matches!(&step.reason, Reason::OverLimit(over) if over.scope == LimitScope::Object)
}

fn add_planned(mut counted: RunningTotals, planned: &RunningTotals) -> RunningTotals {
    for (currency, amount) in &planned.money {
        let sum = counted.money.entry(*currency).or_default();
        *sum = sum.saturating_add(*amount);
    }
    counted.deletes = counted.deletes.saturating_add(planned.deletes);
    counted.emails = counted.emails.saturating_add(planned.emails);
    counted
}

fn refusal_issues(kind: &str, refusal: &ServiceRefusal) -> Vec<Issue> {
    let fields = register::find(kind).map_or(&[][..], |row| row.fields);
    let issue = |message: &ServiceMessage| {
        let at = message.context.as_ref().and_then(|one| error_field::locate(fields, one.as_str()));
        let path = at.map_or_else(|| "spec".to_owned(), |path| format!("spec.{path}"));
        let text = format!("the service refused it (HTTP {}): {}", refusal.status, message.text());
        let help = "change this field: the refused request had no effect and is not sent again";
        Issue::error(REFUSED, &path, text, help)
    };
    refusal.problem.messages.iter().map(issue).collect()
}

#[cfg(test)]
mod tests;

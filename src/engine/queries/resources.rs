//! Resources as plain data, with their payments, and the suspensions in effect.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::base::money::Money;
use crate::base::secret::mask_digits;
use crate::engine::handles::task_result::TaskFailure;
use crate::engine::protocol::payers::{PaymentView, PaymentsView};
use crate::engine::protocol::resources::{LabelTerm, ListPart, ResourceFilter, ResourceList};
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::protocol::views::ResourceView;
use crate::engine::queries::conditions;
use crate::engine::queries::next_steps::next_steps;
use crate::engine::scheduler::backoff::{instant_of, time_to_next_quarter};
use crate::engine::view::EngineView;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::register;
use crate::model::change::PlannedAction;
use crate::model::holds::Hold;
use crate::model::plan::{Reason, Standing, Step};
use crate::model::state::health::{Payment, Payments};
use crate::model::state::observed::Observed;
use crate::plan::blocks;
use crate::plan::state_view::StateView;

/// Longest wait for the end of a suspension: the clock may have been set.
const LOOK_EVERY: Duration = Duration::from_hours(1);

impl EngineView<'_> {
    /// Returns one resource with all its properties, without secrets.
    pub(crate) fn resource(&self, key: &Key) -> Option<ResourceView> {
        let step = self.planner.step(key)?;
        let mut view = self.resource_view(step);
        if let Some(observed) = self.known_state.observed(key) {
            let facts = observed.facts.as_object().into_iter().flatten();
            let open = facts.filter(|(_, value)| value.get("sealed").is_none());
            view.facts = open.map(|(name, value)| (name.clone(), value.clone())).collect();
        }
        view.needs = self.needs(key);
        view.at = Some(timestamp(&self.shared.now()));
        Some(view)
    }

    /// Returns the resources that a filter selects. A filter by name or kind looks at no other, one
    /// of what is not ready at no ready one. A resource outside the wanted part is only counted.
    ///
    /// # Errors
    /// No resource has the name, or no merchant has it.
    pub(crate) fn resources(
        &self,
        filter: &ResourceFilter,
    ) -> Result<ResourceList, Vec<UnknownName>> {
        let known = |key: &Key| self.planner.step(key).is_some();
        let named = || filter.key.iter().chain(&filter.merchant);
        if !named().all(known) {
            let keys = self.planner.steps().map(|step| &step.key);
            return Err(UnknownName::among(named(), known, keys));
        }
        let (items, total) =
            if filter.is_empty() { self.part_of_all(filter.part) } else { self.filtered(filter) };
        let (hold, rules) = (self.common_hold(), self.holding_rules());
        Ok(ResourceList { items, total, hold, rules, at: self.shared.now() })
    }

    /// Returns a part of all resources, and their number.
    fn part_of_all(&self, part: ListPart) -> (Vec<ResourceView>, usize) {
        let steps = self.planner.steps().skip(part.offset);
        let steps = steps.take(part.limit.unwrap_or(usize::MAX));
        (steps.map(|step| self.resource_view(step)).collect(), self.planner.count())
    }

    /// Returns the wanted part of the resources that a filter selects, and their number.
    fn filtered(&self, filter: &ResourceFilter) -> (Vec<ResourceView>, usize) {
        let (mut items, mut total) = (Vec::new(), 0_usize);
        for step in self.candidates(filter).filter(|step| self.is_selected(step, filter)) {
            if filter.part.contains(total) {
                items.push(self.resource_view(step));
            }
            total = total.saturating_add(1);
        }
        (items, total)
    }

    /// Returns the steps that a filter may select, in the order of their keys.
    fn candidates<'a>(
        &'a self,
        filter: &'a ResourceFilter,
    ) -> Box<dyn Iterator<Item = &'a Arc<Step>> + 'a> {
        match (&filter.key, &filter.kind) {
            (Some(key), _) => Box::new(self.planner.step(key).into_iter()),
            _ if filter.not_ready || filter.attention => Box::new(self.open_steps()),
            (None, Some(kind)) => Box::new(self.planner.steps_of_kind(kind.as_str())),
            (None, None) => Box::new(self.planner.steps()),
        }
    }

    /// Returns the steps that are not ready, or failed for a reason that a person ends.
    fn open_steps(&self) -> impl Iterator<Item = &Arc<Step>> {
        let failed = self.scheduler.failures.for_operator();
        let open: BTreeSet<&Key> = self.planner.standings.not_ready().chain(failed).collect();
        open.into_iter().filter_map(|key| self.planner.step(key))
    }

    pub(crate) fn is_selected(&self, step: &Step, filter: &ResourceFilter) -> bool {
        let ResourceFilter { kind, key: _, namespace, merchant, labels, not_ready, .. } = filter;
        kind.as_ref().is_none_or(|kind| step.key.kind == *kind)
            && namespace.as_ref().is_none_or(|space| step.key.namespace == *space)
            && (labels.is_empty() || self.has_labels(&step.key, labels))
            && !(*not_ready && step.is_ready())
            && (!filter.attention || self.needs_attention(step))
            && filter.search.as_deref().is_none_or(|text| is_named(step.key.name.as_str(), text))
            && merchant.as_ref().is_none_or(|merchant| {
                step.key == *merchant
                    || blocks::owner(self.known_state, &step.key).as_ref() == Some(merchant)
            })
    }

    fn has_labels(&self, key: &Key, terms: &[LabelTerm]) -> bool {
        let manifest = self.known_state.desired().manifests.get(key);
        let none = BTreeMap::new();
        let own = manifest.map_or(&none, |manifest| &manifest.labels);
        terms.iter().all(|term| term.is_satisfied(own))
    }

    /// Returns true if a person has to act, for the resource's step or for its last failure.
    fn needs_attention(&self, step: &Step) -> bool {
        let failure = self.scheduler.failures.get(&step.key);
        let failure = failure.filter(|_| self.known_state.open_intent(&step.key).is_none());
        step.needs_operator() || failure.is_some_and(TaskFailure::needs_attention)
    }

    /// Returns one resource as in a list.
    pub(crate) fn resource_view(&self, step: &Step) -> ResourceView {
        let observed = self.known_state.observed(&step.key);
        let confidence =
            observed.as_ref().and_then(|known| self.readers.sweeps.confidence(&step.key, known));
        let open = self.known_state.open_intent(&step.key);
        let suspension = blocks::active_suspension(self.known_state, &step.key);
        let hold = self.stopping_hold(step);
        let known = conditions::ConditionInputs {
            step,
            observed: observed.as_deref(),
            open: open.as_deref(),
            suspension: suspension.as_deref(),
            suspended: blocks::is_suspended(self.known_state, &step.key),
            unable: self.scheduler.failures.get(&step.key).filter(|_| open.is_none()),
            hold: hold.as_deref(),
            confidence: confidence.as_ref().map(|(confidence, _)| *confidence),
        };
        let (reason, message) = headline(&known);
        let manifest = self.known_state.desired().manifests.get(&step.key);
        let amount = self.amount(&step.key, observed.as_deref());
        ResourceView {
            kind: step.key.kind.to_string(),
            namespace: step.key.namespace.to_string(),
            name: step.key.name.to_string(),
            ready: step.is_ready(),
            standing: standing(&known),
            reason,
            message,
            remote_id: step.remote_id.clone(),
            conditions: conditions::conditions(&known),
            verdict: format!("{:?}", step.action).to_lowercase(),
            file: step.place.as_ref().map(|(file, _)| file.to_string()),
            line: step.place.as_ref().map(|(_, line)| *line),
            last_known: observed.as_ref().map(|observed| timestamp(&observed.at)),
            confidence: known.confidence,
            merchant: blocks::owner(self.known_state, &step.key).map(|merchant| merchant.short()),
            labels: manifest.map(|manifest| shown_labels(&manifest.labels)).unwrap_or_default(),
            amount: amount.map(Money::minor),
            currency: amount.map(|money| money.currency().to_string()),
            verified_at: confidence.and_then(|(_, at)| at),
            payments: observed.as_deref().and_then(payments_view),
            possible_orphans: observed.as_ref().map_or(0, |observed| observed.recreated),
            next: next_steps(step, known.hold),
            needs: Vec::new(),
            at: None,
            facts: BTreeMap::new(),
        }
    }

    /// Returns the hold, if it keeps a change of this resource from being sent.
    pub(crate) fn stopping_hold(&self, step: &Step) -> Option<Arc<Hold>> {
        use PlannedAction::{Create, Delete, Update};
        let can_start =
            self.known_state.open_intent(&step.key).is_none() && self.planner.has_work(&step.key);
        let is_change = matches!(step.action, Create | Update | Delete);
        if !can_start || !is_change {
            return None;
        }
        self.known_state.holds.of(blocks::owner(self.known_state, &step.key).as_ref())
    }

    /// Returns the money of one payment: of the document, or of the object without a document.
    fn amount(&self, key: &Key, observed: Option<&Observed>) -> Option<Money> {
        let amount = register::find(key.kind.as_str())?.amount?;
        match self.known_state.desired().manifest(key) {
            Some(manifest) => amount(&manifest.spec),
            None => amount(&observed?.applied.as_ref()?.spec),
        }
    }

    /// Returns the resources that a suspension affects; for a merchant, also undocumented ones.
    pub(crate) fn affected_resources(&self, key: &Key) -> BTreeSet<Key> {
        let whole = key.kind.as_str() == MERCHANT;
        let absent = self.planner.steps().filter(|step| whole && step.place.is_none());
        absent.map(|step| step.key.clone()).chain([key.clone()]).collect()
    }

    /// Returns the time at which the next suspension ends by itself.
    pub(crate) fn next_resumption(&self) -> Option<Instant> {
        let now = self.shared.now();
        let next = self.known_state.next_suspension_end(now)?;
        let wait = next.signed_duration_since(now).to_std().ok()?;
        Instant::now().checked_add(wait.min(LOOK_EVERY))
    }

    /// Returns the time at which the next window or freeze begins or ends.
    pub(crate) fn next_rule_change(&self) -> Option<Instant> {
        let now = self.shared.now();
        let change = self.known_state.holds.timed.next_change()?;
        let wait = change.signed_duration_since(now).to_std().unwrap_or_default();
        Instant::now().checked_add(wait.min(LOOK_EVERY))
    }

    /// Returns the time at which dated steps are planned again, if any step waits for a date.
    pub(crate) fn next_dates(&self) -> Option<Instant> {
        let waits = !self.planner.date_dependent.is_empty();
        let quarter =
            waits.then(|| Instant::now().checked_add(time_to_next_quarter(self.shared.now())));
        let turn = self.planner.health_changes.next_due();
        let turn = turn.and_then(|turn| instant_of(self.shared.now(), turn));
        [quarter.flatten(), self.next_resumption(), turn].into_iter().flatten().min()
    }
}

/// Returns true if a name contains a text, in any case.
fn is_named(name: &str, text: &str) -> bool {
    name.to_lowercase().contains(&text.trim().to_lowercase())
}

/// Returns labels with card numbers masked: their values are free text of an author.
fn shown_labels(labels: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    labels.iter().map(|(key, value)| (mask_digits(key), mask_digits(value))).collect()
}

/// Returns the class of a resource; a failed attempt may need a person although the step does not.
fn standing(known: &conditions::ConditionInputs<'_>) -> Standing {
    let failed = known.unable.is_some_and(TaskFailure::needs_attention);
    let standing = known.step.standing();
    let is_open = matches!(standing, Standing::Changing | Standing::Waiting);
    if failed && is_open { Standing::NeedsAttention } else { standing }
}

/// Returns a resource's headline: its last failure, its problem, or its last known state.
fn headline(known: &conditions::ConditionInputs<'_>) -> (String, String) {
    if let Some(hold) = known.hold {
        return (hold.word().to_owned(), hold.sentence());
    }
    if let Some(unable) = known.unable {
        return (unable.word().to_owned(), unable.message().to_owned());
    }
    let (word, message) = known.step.headline();
    if known.step.is_ready() && known.step.reason == Reason::Settled {
        return (word.to_owned(), conditions::in_sync(known).1);
    }
    (word.to_owned(), message)
}

/// Returns the known payments of a resource; `None`: it collects nothing.
pub(crate) fn payments_view(known: &Observed) -> Option<Box<PaymentsView>> {
    let next = known.text("next_payment").map(str::to_owned);
    let payments = known.payments.as_deref();
    let last = payments.map(|Payments { last, .. }| {
        let Payment { id, result, amount, currency, reason, at } = last.clone();
        let currency = currency.or_else(|| known.text("currency").map(str::to_owned));
        PaymentView { id, result, amount, currency, reason, at: timestamp(&at) }
    });
    let failures = payments.map_or(0, |payments| payments.failures);
    (last.is_some() || next.is_some()).then(|| Box::new(PaymentsView { last, failures, next }))
}

#[cfg(test)]
mod tests;

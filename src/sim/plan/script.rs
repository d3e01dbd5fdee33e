//! Script of one run, decided before the run, so that it can be printed and shortened.

use std::fmt;

use crate::sandbox::options::ServiceSurface;
use crate::sim::plan::chance::{Crash, Strike};
use crate::sim::plan::documents::DocTree;
use crate::sim::plan::hook_scripts::HookPlan;
use crate::sim::plan::network::NetBehaviour;
use crate::sim::plan::people::People;
use crate::sim::plan::requests::ScriptStep;
use crate::sim::plan::trouble::Incident;

/// Everything that happens in a run.
#[derive(Debug, Clone)]
pub struct SimScript {
    /// Seed for the decisions that the script leaves open.
    pub seed: u64,
    /// Part of the service that exists.
    pub surface: ServiceSurface,
    /// Set if the service refuses a second invoice of one name instead of showing the first.
    pub refuses_duplicates: bool,
    /// Files of the beginning.
    pub files: DocTree,
    /// Changes and requests of people, in order.
    pub steps: Vec<ScriptStep>,
    /// Faults of calls.
    pub strikes: Vec<Strike>,
    /// Trouble of the store and the clock.
    pub incidents: Vec<Incident>,
    /// Crashes of the machine; each happens once.
    pub crashes: Vec<Crash>,
    pub people: People,
    /// Behaviour of the network beyond single calls.
    pub net: NetBehaviour,
    /// Hooks of operators, if the world has any.
    pub hooks: Option<HookPlan>,
}

impl SimScript {
    #[must_use]
    pub fn without_crashes(&self) -> Self {
        Self { crashes: Vec::new(), ..self.clone() }
    }

    #[must_use]
    pub fn without_mishaps(&self) -> Self {
        Self { incidents: Vec::new(), ..self.clone() }
    }

    #[must_use]
    pub fn without_strikes(&self) -> Self {
        Self { strikes: Vec::new(), ..self.clone() }
    }

    #[must_use]
    pub fn without_steps(&self) -> Self {
        Self { steps: Vec::new(), ..self.clone() }
    }

    #[must_use]
    pub fn without_hooks(&self) -> Self {
        Self { hooks: None, ..self.clone() }
    }

    #[must_use]
    pub fn without_people(&self) -> Self {
        Self { people: People::default(), ..self.clone() }
    }

    #[must_use]
    pub fn without_net(&self) -> Self {
        Self { net: NetBehaviour::default(), hooks: None, ..self.clone() }
    }

    /// Returns the number of parts that can be removed.
    pub fn part_count(&self) -> usize {
        let each = |step: &ScriptStep| step.changes.len().saturating_add(step.requests.len());
        let changes: usize = self.steps.iter().map(each).sum();
        let troubles = self.crashes.len().saturating_add(self.strikes.len());
        let troubles =
            troubles.saturating_add(self.people.part_count()).saturating_add(self.net.part_count());
        let troubles = troubles.saturating_add(self.hooks.as_ref().map_or(0, HookPlan::part_count));
        let troubles = troubles.saturating_add(self.incidents.len());
        let single = self.strikes.iter().filter(|strike| strike.nth > 0).count();
        troubles.saturating_add(changes).saturating_add(self.files.len()).saturating_add(single)
    }

    /// Returns the script without its `nth` part. The order is network, hooks, people, crashes,
    /// faults, trouble, changes, files. After these, `nth` widens a fault to every call.
    #[must_use]
    pub fn without(&self, mut nth: usize) -> Self {
        if let Some(net) = self.net.without_part(&mut nth) {
            return Self { net, ..self.clone() };
        }
        let mut less = self.clone();
        if HookPlan::remove_part(&mut less.hooks, &mut nth) || less.people.remove_part(&mut nth) {
            return less;
        }
        if nth < less.crashes.len() {
            less.crashes.remove(nth);
            return less;
        }
        nth = nth.saturating_sub(less.crashes.len());
        if nth < less.strikes.len() {
            less.strikes.remove(nth);
            return less;
        }
        nth = nth.saturating_sub(less.strikes.len());
        if nth < less.incidents.len() {
            less.incidents.remove(nth);
            return less;
        }
        nth = nth.saturating_sub(less.incidents.len());
        for step in &mut less.steps {
            if nth < step.changes.len() {
                step.changes.remove(nth);
                return less;
            }
            nth = nth.saturating_sub(step.changes.len());
            if nth < step.requests.len() {
                step.requests.remove(nth);
                return less;
            }
            nth = nth.saturating_sub(step.requests.len());
        }
        match self.files.keys().nth(nth) {
            Some(name) => drop(less.files.remove(name)),
            None => widen_fault(&mut less.strikes, nth.saturating_sub(self.files.len())),
        }
        less
    }
}

/// Widens the `nth` fault of a single call to every call of its effect, so that the calls before it
/// can be removed too.
fn widen_fault(strikes: &mut [Strike], nth: usize) {
    let mut single = strikes.iter_mut().filter(|strike| strike.nth > 0);
    if let Some(strike) = single.nth(nth) {
        strike.nth = 0;
    }
}

impl fmt::Display for SimScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refuses = if self.refuses_duplicates { "refused" } else { "shown" };
        writeln!(f, "surface {:?}, a repeated source_id is {refuses}", self.surface)?;
        write!(f, "{}", self.people)?;
        for doc in self.files.values() {
            writeln!(f, "file    {doc}")?;
        }
        for step in &self.steps {
            let restart = if step.restart { ", restart" } else { "" };
            for change in &step.changes {
                writeln!(f, "edit    after {} ms{restart}: {change}", step.wait_ms)?;
            }
            for deed in &step.requests {
                writeln!(f, "request after {} ms{restart}: {deed}", step.wait_ms)?;
            }
        }
        for strike in &self.strikes {
            writeln!(f, "fault   {strike}")?;
        }
        for mishap in &self.incidents {
            writeln!(f, "mishap  {mishap}")?;
        }
        for crash in &self.crashes {
            writeln!(f, "crash   {crash}")?;
        }
        self.hooks.iter().try_for_each(|hooks| write!(f, "{hooks}"))?;
        write!(f, "{}", self.net)
    }
}

//! Script of one run, decided before the run, so that it can be printed and shortened.

use std::fmt;

use crate::sandbox::options::ServiceSurface;
use crate::sim::plan::chance::{Crash, Strike};
use crate::sim::plan::documents::DocTree;
use crate::sim::plan::hook_scripts::HookPlan;
use crate::sim::plan::network::NetBehaviour;
use crate::sim::plan::parts::{count_parts, remove_nth};
use crate::sim::plan::people::People;
use crate::sim::plan::requests::ScriptStep;
use crate::sim::plan::trouble::Incident;

#[derive(Debug, Clone)]
pub struct SimScript {
    /// Seed for the decisions that the script leaves open.
    pub seed: u64,
    pub surface: ServiceSurface,
    /// Set if the service refuses a second invoice of one name instead of showing the first.
    pub refuses_duplicates: bool,
    pub files: DocTree,
    pub steps: Vec<ScriptStep>,
    pub strikes: Vec<Strike>,
    pub incidents: Vec<Incident>,
    pub crashes: Vec<Crash>,
    pub people: People,
    pub net: NetBehaviour,
    pub hooks: Option<HookPlan>,
}

impl SimScript {
    pub fn part_count(&self) -> usize {
        count_parts(|nth| self.clone().remove_part(nth))
    }

    #[must_use]
    pub fn without(&self, mut nth: usize) -> Self {
        let mut less = self.clone();
        less.remove_part(&mut nth);
        less
    }

    /// Removes the `nth` part. The order is network, hooks, people, crashes, faults, trouble,
    /// changes, files. After these, `nth` widens a fault to every call.
    fn remove_part(&mut self, nth: &mut usize) -> bool {
        let step = |step: &mut ScriptStep, nth: &mut usize| {
            remove_nth(&mut step.changes, nth) || remove_nth(&mut step.requests, nth)
        };
        self.net.remove_part(nth)
            || HookPlan::remove_part(&mut self.hooks, nth)
            || self.people.remove_part(nth)
            || remove_nth(&mut self.crashes, nth)
            || remove_nth(&mut self.strikes, nth)
            || remove_nth(&mut self.incidents, nth)
            || self.steps.iter_mut().any(|one| step(one, nth))
            || self.remove_file(nth)
            || self.widen_fault(nth)
    }

    fn remove_file(&mut self, nth: &mut usize) -> bool {
        let name = self.files.keys().nth(*nth).cloned();
        *nth = nth.saturating_sub(self.files.len());
        name.is_some_and(|name| self.files.remove(&name).is_some())
    }

    /// Widens the `nth` fault of a single call to every call of its effect, so that the calls
    /// before it can be removed too.
    fn widen_fault(&mut self, nth: &mut usize) -> bool {
        let mut single: Vec<&mut Strike> =
            self.strikes.iter_mut().filter(|strike| strike.nth > 0).collect();
        if let Some(strike) = single.get_mut(*nth) {
            strike.nth = 0;
            return true;
        }
        *nth = nth.saturating_sub(single.len());
        false
    }
}

impl fmt::Display for SimScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refuses = if self.refuses_duplicates { "refused" } else { "shown" };
        writeln!(f, "surface {:?}, a repeated source_id is {refuses}", self.surface)?;
        write!(f, "{}", self.people)?;
        self.files.values().try_for_each(|doc| writeln!(f, "file    {doc}"))?;
        for ScriptStep { wait_ms, restart, changes, requests } in &self.steps {
            let when = format!("after {wait_ms} ms{}", if *restart { ", restart" } else { "" });
            changes.iter().try_for_each(|change| writeln!(f, "edit    {when}: {change}"))?;
            requests.iter().try_for_each(|request| writeln!(f, "request {when}: {request}"))?;
        }
        self.strikes.iter().try_for_each(|strike| writeln!(f, "fault   {strike}"))?;
        self.incidents.iter().try_for_each(|mishap| writeln!(f, "mishap  {mishap}"))?;
        self.crashes.iter().try_for_each(|crash| writeln!(f, "crash   {crash}"))?;
        self.hooks.iter().try_for_each(|hooks| write!(f, "{hooks}"))?;
        write!(f, "{}", self.net)
    }
}

//! Lists of the gateway's events: the newest ones that fit a filter, with the state of their hooks.
//!
//! A list searches a bounded number of events, and says where its search ended.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::handles::shared::EngineResult;
use crate::engine::protocol::event_filter::{EventFilter, EventState};
use crate::engine::protocol::events::{EventHooks, EventView, EventsView, EventsWanted};
use crate::engine::view::EngineView;
use crate::model::events::event::{EventEntry, EventLedger, EventStatus, VerifiedEvent};
use crate::model::events::hook_run::{ActionOutcome, Cursor};
use crate::store::read_model::model::{ReadModel, ReadResult};

/// Events that one list searches, at most, over all merchants; each merchant has at least as many
/// as the list may hold.
const SEARCHED_MAX: usize = 5_000;
/// Events that are searched for one that scripts have yet to handle.
const NEXT_MAX: u64 = 1_000;
/// Span by which the service's clock may be ahead of ours when a search ends at a time.
const CLOCK_SKEW: TimeDelta = TimeDelta::hours(1);

impl EngineView<'_> {
    /// Adds the newest events of these merchants that fit, newest first.
    pub(crate) fn list_events(
        &self,
        wanted: &EventsWanted,
        merchants: &[&Key],
        view: &mut EventsView,
    ) -> EngineResult<()> {
        if wanted.most == 0 {
            return Ok(());
        }
        let share = SEARCHED_MAX.checked_div(merchants.len()).unwrap_or(SEARCHED_MAX);
        let (mut searched, mut is_whole) = (0_usize, true);
        for merchant in merchants {
            let budget = share.max(wanted.most);
            let mut search = EventSearch::new(&self.shared.facts, merchant, wanted, budget)?;
            search.run()?;
            searched = searched.saturating_add(search.searched);
            is_whole &= search.is_whole;
            view.items.append(&mut search.found);
        }
        view.items.sort_by(|one, other| other.created.cmp(&one.created));
        view.items.truncate(wanted.most);
        let is_short = view.items.len() < wanted.most;
        view.searched = (!is_whole && is_short).then_some(searched);
        Ok(())
    }

    /// Adds the posts that wait to be verified, and the forged ones, as far as they fit.
    pub(crate) fn list_posts(
        &self,
        wanted: &EventsWanted,
        merchant: &Key,
        view: &mut EventsView,
    ) -> EngineResult<()> {
        let facts = &self.shared.facts;
        if permits_post(&wanted.filter, EventState::NotVerified) {
            let waiting = facts.events_waiting(merchant, wanted.most)?;
            posts(facts, (merchant, waiting), &wanted.filter, &mut view.waiting)?;
        }
        if permits_post(&wanted.filter, EventState::Forged) {
            let forged = facts.events_forged(merchant, wanted.most)?;
            posts(facts, (merchant, forged), &wanted.filter, &mut view.forged)?;
        }
        Ok(())
    }
}

/// Returns true if a filter permits posts: a post has no type and no resource.
fn permits_post(filter: &EventFilter, state: EventState) -> bool {
    filter.kinds.is_empty() && filter.resources.is_empty() && filter.permits_state(state)
}

fn posts(
    facts: &ReadModel,
    (merchant, ids): (&Key, Vec<String>),
    filter: &EventFilter,
    to: &mut Vec<EventView>,
) -> EngineResult<()> {
    for id in ids {
        let entry = facts.event(merchant, &id)?.filter(|entry| filter.permits_time(entry.first));
        to.extend(entry.map(|entry| event_view(merchant, &id, &entry)));
    }
    Ok(())
}

/// A search through one merchant's events, newest first.
struct EventSearch<'a> {
    facts: &'a ReadModel,
    merchant: &'a Key,
    wanted: &'a EventsWanted,
    states: HookStates<'a>,
    budget: usize,
    searched: usize,
    found: Vec<EventView>,
    /// True if the search reached its end before its bound.
    is_whole: bool,
}

impl<'a> EventSearch<'a> {
    fn new(
        facts: &'a ReadModel,
        merchant: &'a Key,
        wanted: &'a EventsWanted,
        budget: usize,
    ) -> ReadResult<Self> {
        let states = HookStates::of(facts, merchant)?;
        let (searched, found, is_whole) = (0, Vec::new(), true);
        Ok(Self { facts, merchant, wanted, states, budget, searched, found, is_whole })
    }

    fn run(&mut self) -> ReadResult {
        let filter = &self.wanted.filter;
        let first = filter.since.and_then(|since| since.checked_sub_signed(CLOCK_SKEW));
        for number in (1..=self.states.ledger.verified).rev() {
            if self.found.len() >= self.wanted.most {
                return Ok(());
            }
            if self.searched >= self.budget {
                self.is_whole = false;
                return Ok(());
            }
            self.searched = self.searched.saturating_add(1);
            let Some(id) = self.facts.event_numbered(self.merchant, number)? else { continue };
            let Some(entry) = self.facts.event(self.merchant, &id)? else { continue };
            let EventStatus::Verified(told) = &entry.status else { continue };
            // An event becomes known after it was created: all further ones are older still.
            if first.is_some_and(|first| told.at < first) {
                return Ok(());
            }
            let found = self.view((number, &id), &entry, told)?;
            self.found.extend(found);
        }
        Ok(())
    }

    /// Returns the event if it fits.
    fn view(
        &self,
        (number, id): (u64, &str),
        entry: &EventEntry,
        told: &VerifiedEvent,
    ) -> ReadResult<Option<EventView>> {
        let filter = &self.wanted.filter;
        let fits = filter.permits_kind(&told.kind)
            && filter.permits_resources(&told.resources)
            && filter.permits_time(told.created);
        if !fits {
            return Ok(None);
        }
        let hooks = self.states.hooks(id, self.states.is_to_run(number, told))?;
        let permitted = filter.permits_state(hooks.state);
        let view = permitted.then(|| event_view(self.merchant, id, entry));
        Ok(view.map(|view| EventView { hooks: Some(hooks), ..view }))
    }
}

/// The state of the hooks of one merchant's events.
pub(crate) struct HookStates<'a> {
    facts: &'a ReadModel,
    merchant: &'a Key,
    pub(crate) ledger: EventLedger,
    /// Every known script was run for the events up to this number; `None`: there is no script.
    ran_to: Option<u64>,
    /// Events with a failed action that no person has acknowledged.
    not_done: BTreeSet<String>,
}

impl<'a> HookStates<'a> {
    pub(crate) fn of(facts: &'a ReadModel, merchant: &'a Key) -> ReadResult<Self> {
        let ledger = facts.event_ledger(merchant)?;
        let cursors: BTreeMap<String, Cursor> = facts.hook_cursors(merchant)?.into_iter().collect();
        let to = |script: &String| cursors.get(script).map_or(ledger.ran_to, |cursor| cursor.to);
        let ran_to = facts.roster()?.keys().map(to).min();
        let listed = facts.failed_actions_of(merchant)?.into_iter();
        let not_done = listed.map(|failed| failed.result.id.event).collect();
        Ok(Self { facts, merchant, ledger, ran_to, not_done })
    }

    fn is_to_run(&self, number: u64, told: &VerifiedEvent) -> bool {
        !told.quiet && self.ran_to.is_some_and(|ran_to| number > ran_to)
    }

    /// Returns true if the event is among the next ones that a script has yet to handle.
    pub(crate) fn is_next(&self, event: &str, told: &VerifiedEvent) -> ReadResult<bool> {
        let Some(ran_to) = self.ran_to.filter(|_| !told.quiet) else { return Ok(false) };
        let last = self.ledger.verified.min(ran_to.saturating_add(NEXT_MAX));
        let next = self.facts.events_numbered(self.merchant, (ran_to.saturating_add(1), last))?;
        Ok(next.values().any(|id| id == event))
    }

    pub(crate) fn hooks(&self, event: &str, is_to_run: bool) -> ReadResult<EventHooks> {
        let failed = self.facts.failed_runs_of(self.merchant, event)?;
        let acting = self.facts.pending_of(self.merchant, event)?.len();
        let results = self.facts.action_results_of(self.merchant, event)?;
        let ended = |is: fn(ActionOutcome) -> bool| {
            results.iter().filter(|result| is(result.outcome)).count()
        };
        let done = ended(|outcome| outcome == ActionOutcome::Done);
        let not_done =
            ended(|outcome| !matches!(outcome, ActionOutcome::Done | ActionOutcome::Skipped));
        let state = if failed.iter().any(|run| run.failed.retry_at.is_none()) {
            EventState::Failed
        } else if failed.iter().any(|run| !run.is_requested()) {
            EventState::Retrying
        } else if !failed.is_empty() {
            EventState::ToRun
        } else if self.not_done.contains(event) {
            EventState::NotDone
        } else if acting > 0 {
            EventState::Acting
        } else if is_to_run {
            EventState::ToRun
        } else if results.is_empty() {
            EventState::NoAction
        } else {
            EventState::Done
        };
        let failed = failed.into_iter().filter(|run| !run.is_requested());
        let failed = failed.map(|run| run.failed.script).collect();
        Ok(EventHooks { state, acting, done, not_done, failed })
    }
}

pub(crate) fn event_view(merchant: &Key, id: &str, entry: &EventEntry) -> EventView {
    let (stands, told) = match &entry.status {
        EventStatus::Waiting => ("waiting", None),
        EventStatus::OtherMode => ("other_mode", None),
        EventStatus::Forged => ("forged", None),
        EventStatus::Verified(told) => ("told", Some(told)),
    };
    let about = told.into_iter().flat_map(|told| &told.resources);
    EventView {
        merchant: merchant.short(),
        id: id.to_owned(),
        kind: told.map(|told| told.kind.clone()),
        created: told.map(|told| timestamp(&told.created)),
        status: stands.to_owned(),
        freshness: told.map(|told| told.freshness),
        via: told.map(|told| told.via),
        posts: entry.posts,
        first: timestamp(&entry.first),
        about: about.map(Key::short).collect(),
        object: told.and_then(|told| told.object.clone()),
        hooks: None,
    }
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::tests::fixture::StateFixture;
    use crate::engine::tests::records::{action_request, failed_run, hook_run, merchant, now};
    use crate::model::events::event::Via;
    use crate::model::events::hook_run::{ActionRequestId, ActionResult};
    use crate::model::record::Record;
    use crate::model::remote_object::{Freshness, RemoteObject};

    fn event(number: u64, kind: &str, minute: i64) -> Record {
        let created = now() + TimeDelta::minutes(minute);
        let data = json!({"id": format!("t{number}"), "status": "FAILED", "amount": 700,
            "currency": "USD", "failure_code": "card_expired"});
        Record::EventVerified(Box::new(VerifiedEvent {
            merchant: merchant(),
            event: format!("e{number}"),
            object: RemoteObject::of(kind, &data, created),
            kind: kind.to_owned(),
            created,
            via: Via::Poll,
            body: "vault".to_owned(),
            freshness: Freshness::Newer,
            previous: None,
            resources: vec![format!("Contact/c{number}").parse().unwrap()],
            quiet: false,
            at: created,
        }))
    }

    /// Four events, of which the script failed for the first, asked for two actions for the second
    /// and none for the third; it was not run for the fourth.
    fn fixture() -> StateFixture {
        let mut fixture = StateFixture::with_documents(&[]);
        let kinds = [
            "transaction.failed",
            "transaction.failed",
            "transaction.voided",
            "payment_method.expired",
        ];
        for (number, kind) in (1..).zip(kinds) {
            fixture.record(event(number, kind, i64::try_from(number).unwrap()));
        }
        let loaded = crate::model::events::scripts::ScriptsLoaded {
            scripts: vec![crate::engine::tests::records::script_identity("a")],
            begins: Vec::new(),
            at: now(),
        };
        fixture.record(Record::ScriptsLoaded(Box::new(loaded)));
        fixture.record(failed_run(1, "a", None));
        let asked =
            |name: &str| action_request(name, "suspend", json!({"key": "Contact/default/jane"}));
        fixture.record(Record::HooksRun(Box::new(hook_run(
            2,
            "a",
            vec![asked("one"), asked("two")],
        ))));
        fixture.record(Record::HooksRun(Box::new(hook_run(3, "a", Vec::new()))));
        fixture.record(settled("two", ActionOutcome::Done));
        fixture
    }

    fn settled(name: &str, outcome: ActionOutcome) -> Record {
        let id = ActionRequestId {
            merchant: merchant(),
            event: "e2".to_owned(),
            name: name.parse().unwrap(),
        };
        let message = "said".to_owned();
        Record::ActionSettled(Box::new(ActionResult { id, outcome, message, at: now() }))
    }

    fn listed(fixture: &StateFixture, filter: EventFilter) -> Vec<(String, EventState)> {
        let wanted = EventsWanted { most: 10, filter, ..EventsWanted::default() };
        let items = fixture.view().events(&wanted).unwrap().items;
        items.into_iter().map(|item| (item.id, item.hooks.unwrap().state)).collect()
    }

    #[test]
    fn each_event_has_the_state_of_its_hooks_and_is_found_by_it() {
        let mut fixture = fixture();
        let all = [
            ("e4", EventState::ToRun),
            ("e3", EventState::NoAction),
            ("e2", EventState::Acting),
            ("e1", EventState::Failed),
        ]
        .map(|(id, state)| (id.to_owned(), state));
        assert_eq!(listed(&fixture, EventFilter::default()), all);
        for (id, state) in all {
            let filter = EventFilter { states: vec![state], ..EventFilter::default() };
            assert_eq!(listed(&fixture, filter), [(id, state)]);
        }
        fixture.record(settled("one", ActionOutcome::Refused));
        assert_eq!(listed(&fixture, EventFilter::default())[2].1, EventState::NotDone);
        let seen = crate::model::events::hook_run::HooksAcknowledged {
            event: "e2".to_owned(),
            actor: "ann".to_owned(),
            at: now(),
        };
        fixture.record(Record::HooksAcknowledged(Box::new(seen)));
        assert_eq!(listed(&fixture, EventFilter::default())[2].1, EventState::Done);
    }

    #[test]
    fn events_are_found_by_type_resource_and_time() {
        let fixture = fixture();
        let ids = |filter: EventFilter| -> Vec<String> {
            listed(&fixture, filter).into_iter().map(|(id, _)| id).collect()
        };
        let kinds = vec!["transaction".to_owned()];
        assert_eq!(ids(EventFilter { kinds, ..EventFilter::default() }), ["e3", "e2", "e1"]);
        let resources = vec!["Contact/c2".parse().unwrap()];
        assert_eq!(ids(EventFilter { resources, ..EventFilter::default() }), ["e2"]);
        let at = |minute| Some(now() + TimeDelta::minutes(minute));
        let (since, until) = (at(2), at(3));
        assert_eq!(ids(EventFilter { since, until, ..EventFilter::default() }), ["e3", "e2"]);
    }

    #[test]
    fn a_search_ends_at_its_bound_and_tells() {
        let fixture = fixture();
        let wanted = EventsWanted { most: 10, ..EventsWanted::default() };
        let facts = &fixture.view().shared.facts;
        let merchant = merchant();
        let mut search = EventSearch::new(facts, &merchant, &wanted, 2).unwrap();
        search.run().unwrap();
        assert_eq!((search.found.len(), search.searched, search.is_whole), (2, 2, false));
    }
}

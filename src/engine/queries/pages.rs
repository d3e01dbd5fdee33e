//! Parts of long answers: only what is shown is made.

use crate::base::id::Key;
use crate::engine::protocol::pages::{PlanPart, ResourceContext};
use crate::engine::protocol::resources::ListPart;
use crate::engine::queries::plan::{is_settled, step_view, total_views};
use crate::engine::view::EngineView;
use crate::plan::state_view::StateView;

/// Resources that need one, listed at most.
const USERS_MAX: usize = 50;

impl EngineView<'_> {
    /// Returns a part of the plan. Steps outside the part are only counted.
    pub(crate) fn plan_part(&self, part: ListPart) -> PlanPart {
        let (mut steps, mut total) = (Vec::new(), 0_usize);
        for step in self.planner.steps().filter(|step| !is_settled(step)) {
            if part.contains(total)
                && let Some(whole) = self.planner.full_step(self.known_state, &step.key)
            {
                steps.push(step_view(&whole));
            }
            total = total.saturating_add(1);
        }
        let totals = &self.planner.totals;
        let problems = self.known_state.files.problems();
        PlanPart {
            coverage: self.known_state.desired().tree_state,
            commit: self.known_state.files.commit(),
            resources: self.planner.count(),
            changes: totals.changes(),
            total,
            part,
            steps,
            totals: total_views(&totals.money),
            problems: problems.shown,
            omitted: problems.omitted,
        }
    }

    /// Returns one resource and those that need it.
    pub(crate) fn resource_context(&self, key: &Key) -> Option<ResourceContext> {
        Some(ResourceContext {
            resource: self.resource(key)?,
            users: self.planner.users(key).take(USERS_MAX).cloned().collect(),
            users_total: self.planner.users(key).count(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::tests::fixture::StateFixture;
    use crate::engine::tests::records::{card, contact, recurring_charge};

    fn key(text: &str) -> Key {
        text.parse().unwrap()
    }

    #[test]
    fn a_part_of_the_plan_has_its_steps_and_counts_all() {
        let documents = [contact("jane"), contact("joe"), contact("max")];
        let mut fixture = StateFixture::with_documents(&documents.each_ref().map(String::as_str));
        fixture.apply("Contact/joe", "cont_1", json!({}));
        let view = fixture.view();
        let all = view.plan_part(ListPart::default());
        let names =
            |part: &PlanPart| part.steps.iter().map(|step| step.name.clone()).collect::<Vec<_>>();
        assert!(names(&all).contains(&"jane".to_owned()), "{:?}", names(&all));
        assert!(!names(&all).contains(&"joe".to_owned()), "{:?}", names(&all));
        let second = view.plan_part(ListPart { offset: 1, limit: Some(1) });
        assert_eq!((names(&second), second.total), (names(&all)[1..2].to_vec(), all.total));
    }

    #[test]
    fn a_resource_shows_what_it_needs_and_what_needs_it() {
        let documents = [card("card"), recurring_charge("rent", "card")];
        let fixture = StateFixture::with_documents(&documents.each_ref().map(String::as_str));
        let rent = fixture.view().resource_context(&key("RecurringCharge/rent")).unwrap();
        let card =
            rent.resource.needs.iter().find(|need| need.key == key("SavedMethod/card")).unwrap();
        assert!(!card.ready && card.reason != "Missing", "{card:?}");
        let card = fixture.view().resource_context(&card.key).unwrap();
        assert_eq!((card.users_total, &card.users[..]), (1, &[key("RecurringCharge/rent")][..]));
        assert!(fixture.view().resource_context(&key("Contact/nobody")).is_none());
    }
}

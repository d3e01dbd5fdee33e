//! Forms of writes about the whole: freeze and thaw, a read of the tree, the sync of a manual daemon,
//! the approval of a plan.

use maud::{Markup, html};

use crate::base::wording::count_noun;
use crate::control::page_sessions::SessionView;
use crate::engine::protocol::views::PlanView;
use crate::render::page::forms::{
    APPROVE, ActionForm, FREEZE, RECONCILE, SYNC, THAW, reason_field,
};
use crate::render::page::parts::{command, sentence};
use crate::render::page::plan::step_part;
use crate::render::words::{money_text, short_hash};

/// The field that names the plan that was shown.
pub const CHECKSUM: &str = "checksum";
pub const REASON_PROBLEM: &str =
    "The reason is empty or longer than 500 characters. Write the reason, for others to read.";
pub const RECONCILING: &str = "The daemon reads the tree now. This page follows the changes.";
pub const SYNCED: &str = "Recorded: the daemon sends this plan now. This page follows the changes.";
pub const AUTOMATIC: &str = "The daemon sends changes by itself: there is nothing to sync.";
pub const NOTHING_TO_APPROVE: &str =
    "The plan moves no money, removes nothing and sends no e-mail: there is nothing to approve.";
/// Steps that the form of a sync or an approval shows, at most.
const STEPS_SHOWN: usize = 100;

pub fn freeze(session: &SessionView, problem: Option<&str>) -> Markup {
    let effects = html! {
        ul.plain {
            li { "From the answer on, the daemon sends no change to the service: no charge, no refund, no change of an object." }
            li { "Reads and events go on. Effects in flight are settled by reads." }
            li { "The freeze lasts, also over a restart, until a person thaws." }
        }
    };
    let (button, back) = ("Freeze everything", "/");
    ActionForm { action: FREEZE.0, session, problem, effects, fields: reason_field(), button, back }
        .html()
}

pub fn thaw(session: &SessionView) -> Markup {
    let effects = html! {
        p { "Everything that waited is sent again: changes of documents, retries, and actions of hooks. Read the " a href="/plan" { "plan" } " first." }
    };
    let (button, back) = ("Thaw", "/");
    ActionForm { action: THAW.0, session, problem: None, effects, fields: html! {}, button, back }
        .html()
}

pub fn reconcile(session: &SessionView) -> Markup {
    let effects = html! {
        p { "The daemon reads the whole tree again now, and makes the service match, as after each change of a file. Limits, freezes and suspensions stay in force." }
    };
    let (action, button, back) = (RECONCILE.0, "Reconcile now", "/plan");
    ActionForm { action, session, problem: None, effects, fields: html! {}, button, back }.html()
}

/// Shows the plan whose checksum the form sends back.
pub fn sync(session: &SessionView, plan: &PlanView, problem: Option<&str>) -> Markup {
    let effects = html! {
        p { "The daemon sends the steps below. Steps that exceed a limit still wait for an approval. A document that changes later waits for another sync." }
        @if let Some(hold) = &plan.hold { div.notice { (sentence(&hold.sentence())) } }
        (steps_of(plan))
    };
    let fields = checksum_field(plan);
    let (action, button, back) = (SYNC.0, "Send this plan", "/plan");
    ActionForm { action, session, problem, effects, fields, button, back }.html()
}

/// Shows the plan that the approval covers. A plan with more steps than the form shows is approved by
/// its command alone, which shows all of them.
pub fn approve(session: &SessionView, plan: &PlanView, problem: Option<&str>) -> Markup {
    let effects = html! {
        p { "The approval lets the steps below pass the limits, once each, with at most these amounts. It covers no other step. The journal names you." }
        (steps_of(plan))
    };
    if plan.steps.len() > STEPS_SHOWN {
        let line = format!("reckon approve {}", plan.checksum);
        return html! { (effects) p { "A plan of this size is approved by its command, which shows every step:" } (command(&line)) };
    }
    let fields = checksum_field(plan);
    let (action, button, back) = (APPROVE.0, "Approve this plan", "/plan");
    ActionForm { action, session, problem, effects, fields, button, back }.html()
}

fn steps_of(plan: &PlanView) -> Markup {
    let hidden = plan.steps.len().saturating_sub(STEPS_SHOWN);
    html! {
        p { (count_noun(plan.steps.len(), "step")) " of " (count_noun(plan.resources, "resource")) ", plan " code { (short_hash(&plan.checksum)) } "." }
        @if !plan.totals.is_empty() { ul.plain { @for money in &plan.totals { li { (money_text(money)) } } } }
        @for step in plan.steps.iter().take(STEPS_SHOWN) { (step_part(step)) }
        @if hidden > 0 { p { "and " (count_noun(hidden, "step")) " more, which " code { "reckon plan" } " shows." } }
    }
}

/// Returns the hidden field that names the plan that was shown.
fn checksum_field(plan: &PlanView) -> Markup {
    html! { input type="hidden" name=(CHECKSUM) value=(plan.checksum); }
}

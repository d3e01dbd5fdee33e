//! Forms of writes about one thing: suspend and resume a resource, settle an intent in doubt, approve
//! the live accounts of a merchant.

use maud::{Markup, html};

use crate::base::hash::sha256;
use crate::base::id::Key;
use crate::control::page_sessions::SessionView;
use crate::engine::protocol::actions::ResolveResult;
use crate::engine::protocol::intents::IntentView;
use crate::model::state::credentials::LiveBinding;
use crate::render::approvals::live_binding;
use crate::render::intents::resolve_result;
use crate::render::page::forms::{
    ActionForm, CONFIRM, RESUME, SETTLE, SUSPEND, order_path, reason_field,
};
use crate::render::page::intents::facts_of;
use crate::render::page::parts::{key_link, key_path};

/// Fields of the forms.
pub const UNTIL: &str = "until";
pub const OUTCOME: &str = "outcome";
pub const OBJECT: &str = "object";
/// The accounts that were shown, as a digest.
pub const BINDING: &str = "binding";
pub const UNTIL_PROBLEM: &str = "The end is no moment in the future. Write it in UTC, such as `2026-11-30T12:00`, or leave it out.";

/// Returns the address of a resource's page.
pub fn resource_page(key: &Key) -> String {
    key_path(key)
}

pub fn suspend(session: &SessionView, key: &Key, problem: Option<&str>) -> Markup {
    let effects = html! {
        p { (key_link(key)) }
        p { "Nothing new is done to it, for a merchant to none of its resources. Effects in flight are settled. It lasts until a person resumes, or until the end that you write." }
    };
    let fields = html! {
        (reason_field())
        div.field {
            label for=(UNTIL) { "End, in UTC" }
            span.hint id="until-hint" { "Leave it out for a suspension without an end." }
            input id=(UNTIL) name=(UNTIL) type="datetime-local" aria-describedby="until-hint";
        }
    };
    let (action, back) = (order_path(SUSPEND, key), key_path(key));
    let (action, back) = (action.as_str(), back.as_str());
    ActionForm { action, session, problem, effects, fields, button: "Suspend", back }.html()
}

pub fn resume(session: &SessionView, key: &Key) -> Markup {
    let effects = html! {
        p { (key_link(key)) }
        p { "What waited for it is done, within limits. A suspension in its document, or of its merchant, stays in force." }
    };
    let (action, back) = (order_path(RESUME, key), key_path(key));
    let (action, back, problem) = (action.as_str(), back.as_str(), None);
    ActionForm { action, session, problem, effects, fields: html! {}, button: "Resume", back }
        .html()
}

/// Shows the accounts that the approval binds for real money.
pub fn confirm(session: &SessionView, binding: &LiveBinding, problem: Option<&str>) -> Markup {
    let key = &binding.merchant;
    let effects = html! {
        p { (key_link(key)) }
        pre { (live_binding(binding)) }
        p { "Compare name and public keys with what underwriting gave you. From the approval on, the daemon uses these accounts for everything of this merchant." }
    };
    let fields = html! { input type="hidden" name=(BINDING) value=(binding_digest(binding)); };
    let (action, back) = (order_path(CONFIRM, key), key_path(key));
    let (action, back, button) = (action.as_str(), back.as_str(), "Approve these accounts");
    ActionForm { action, session, problem, effects, fields, button, back }.html()
}

/// Returns a digest of accounts, by which a form names those that it showed.
pub fn binding_digest(binding: &LiveBinding) -> String {
    sha256(live_binding(binding).as_bytes()).to_string()
}

/// Shows an intent's evidence beside the outcomes to choose from.
pub fn settle(session: &SessionView, item: &IntentView, problem: Option<&str>) -> Markup {
    let effects = html! {
        (facts_of(item))
        p { "Look for its effect at the service first, by the mark or the source id. The journal names you for the outcome." }
    };
    let action = format!("{}/{}", SETTLE.0, item.id);
    let (button, back) = ("Record the outcome", "/intents");
    ActionForm { action: &action, session, problem, effects, fields: outcomes(), button, back }
        .html()
}

/// The outcomes, each with what it does.
const OUTCOMES: [(&str, &str, &str); 4] = [
    (
        "retry",
        "I do not know: look for it once more",
        "It is settled as its effect defines: looked up, or sent again.",
    ),
    (
        "done",
        "It happened, and the object is below",
        "The object is read at the service and compared. A difference records nothing.",
    ),
    (
        "unverified",
        "It happened, and only I vouch for the object below",
        "The id is recorded as you write it, without a read.",
    ),
    (
        "not-done",
        "It did not happen, and cannot any more",
        "The next plan does it again if a document still asks for it.",
    ),
];

fn outcomes() -> Markup {
    html! {
        fieldset {
            legend { "What happened" }
            @for (value, label, effect) in OUTCOMES {
                @let id = format!("outcome-{value}");
                label.check for=(id) {
                    input type="radio" name=(OUTCOME) value=(value) id=(id) required aria-describedby=(format!("{id}-hint"));
                    (label)
                }
                p.hint id=(format!("{id}-hint")) { (effect) }
            }
        }
        div.field {
            label for=(OBJECT) { "Id of the object at the service" }
            input id=(OBJECT) name=(OBJECT) autocomplete="off" spellcheck="false";
        }
    }
}

/// Returns an answer that settles nothing, with what to do next.
pub fn unsettled(result: &ResolveResult) -> String {
    let next = match result {
        ResolveResult::Busy(_) => "Wait a moment, and load the intents again.",
        ResolveResult::Differs(..) => {
            "Look for the object by the mark. If it does not exist, choose that it did not happen."
        }
        ResolveResult::Unverified(..) => {
            "If you are sure of the object, choose that only you vouch for it."
        }
        ResolveResult::Unsettled(..) => "Try again later, or choose what happened.",
        ResolveResult::Settled(_) | ResolveResult::Unknown => "",
    };
    format!("{}. {next}", resolve_result(result).trim())
}

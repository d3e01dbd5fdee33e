//! The form of a write: what it does, its fields, its button, and the way back.

use maud::{Markup, html};

use crate::base::id::Key;
use crate::control::page_sessions::SessionView;
use crate::render::page::parts::{command, key_path, sentence};

/// The field with the value of the session's forms.
pub const FORM_TOKEN: &str = "form_token";

/// Addresses of the forms, with their titles.
pub const FREEZE: (&str, &str) = ("/do/freeze", "Freeze everything");
pub const THAW: (&str, &str) = ("/do/thaw", "Thaw");
pub const RECONCILE: (&str, &str) = ("/do/reconcile", "Reconcile now");
pub const SYNC: (&str, &str) = ("/do/sync", "Send the plan");
pub const APPROVE: (&str, &str) = ("/do/approve", "Approve the plan");

/// Beginnings of the forms' addresses, with their titles.
pub const SUSPEND: (&str, &str) = ("/do/suspend", "Suspend");
pub const RESUME: (&str, &str) = ("/do/resume", "Resume");
pub const SETTLE: (&str, &str) = ("/do/settle", "Settle an intent");
pub const CONFIRM: (&str, &str) = ("/do/confirm", "Approve live accounts");

/// A form that a person confirms.
#[derive(Debug)]
pub struct ActionForm<'a> {
    /// The address that the form is sent to.
    pub action: &'a str,
    pub session: &'a SessionView,
    /// The reason why the form, as it was sent, did nothing.
    pub problem: Option<&'a str>,
    /// The effects of the form, in words.
    pub effects: Markup,
    pub fields: Markup,
    pub button: &'a str,
    /// The page that the form began from.
    pub back: &'a str,
}

impl ActionForm<'_> {
    pub fn html(&self) -> Markup {
        html! {
            @if let Some(problem) = self.problem { div.notice.bad role="alert" { (sentence(problem)) } }
            (self.effects)
            form method="post" action=(self.action) {
                (form_token(self.session))
                (self.fields)
                div.actions {
                    button type="submit" { (self.button) }
                    a.button.plain href=(self.back) { "Cancel" }
                }
            }
        }
    }
}

/// Returns the hidden field that binds a form to its session.
pub(super) fn form_token(session: &SessionView) -> Markup {
    html! { input type="hidden" name=(FORM_TOKEN) value=(session.form_token.expose()); }
}

/// Returns the address of a form about a resource.
pub(super) fn order_path(order: (&str, &str), key: &Key) -> String {
    key_path(key).replacen("/resources", order.0, 1)
}

/// Returns a link to the form of a write, or, without a session, the command that does the same under
/// the same label.
pub(super) fn order(is_in_session: bool, (path, label): (&str, &str), line: &str) -> Markup {
    html! {
        @if is_in_session { p { a.button.plain href=(path) { (label) } } }
        @else { p { (label.trim_end_matches('…')) ": " (command(line)) } }
    }
}

pub(super) fn reason_field() -> Markup {
    html! {
        div.field {
            label for="reason" { "Reason" }
            span.hint id="reason-hint" { "For others to read, up to 500 characters." }
            input id="reason" name="reason" required maxlength="500" autocomplete="off" aria-describedby="reason-hint";
        }
    }
}

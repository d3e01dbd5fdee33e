//! Renders a live binding for the person who approves it: everything that is approved, and nothing
//! else.

use super::words::{clean, push_line};
use crate::base::id::PublicKey;
use crate::model::state::credentials::{BindingApproval, LiveBinding};

/// Columns of the label before a fact.
const LABEL_WIDTH: usize = 13;

/// Renders the binding to approve.
pub fn live_binding(binding: &LiveBinding) -> String {
    let LiveBinding { merchant, application, generation, mode, name, public_keys } = binding;
    let mut out = format!("{} would be bound for real money to\n", clean(&merchant.short()));
    let name = name.as_deref().map_or_else(|| "not known".to_owned(), clean);
    fact(&mut out, "name", &name);
    let keys: Vec<String> = public_keys.iter().map(PublicKey::as_str).map(clean).collect();
    fact(&mut out, "public keys", &keys.join(", "));
    fact(&mut out, "mode", mode.as_str());
    let by = format!("the code from the approval of {}", clean(&application.short()));
    fact(&mut out, "opened by", &by);
    fact(&mut out, "generation", &generation.to_string());
    out
}

/// Renders the approval with its actor, and the next step.
pub fn approval_result(approval: &BindingApproval, is_running: bool) -> String {
    let next = if is_running { "the daemon continues" } else { "run `reckon apply` to continue" };
    let merchant = clean(&approval.binding.merchant.short());
    format!("{merchant} is approved by {}; {next}\n", clean(&approval.actor))
}

fn fact(out: &mut String, label: &str, text: &str) {
    push_line(out, &format!("  {label:LABEL_WIDTH$}{text}"));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::base::id::Mode;

    #[test]
    fn all_that_is_approved_is_shown_and_steers_no_terminal() {
        let shown = LiveBinding {
            merchant: "Merchant/harbor".parse().unwrap(),
            application: "MerchantApplication/books/harbor".parse().unwrap(),
            generation: 2,
            mode: Mode::Live,
            name: Some("Harbor\u{1b}[2J Books".to_owned()),
            public_keys: BTreeSet::from([
                PublicKey::new("m_2").unwrap(),
                PublicKey::new("m_1").unwrap(),
            ]),
        };
        insta::assert_snapshot!(live_binding(&shown), @r"
        Merchant/harbor would be bound for real money to
          name         Harbor\u{1b}[2J Books
          public keys  m_1, m_2
          mode         live
          opened by    the code from the approval of MerchantApplication/books/harbor
          generation   2
        ");
        let at = "2026-11-21T12:00:00Z".parse().unwrap();
        let approval = BindingApproval { binding: shown, at, actor: "uid 1000".to_owned() };
        let text = "Merchant/harbor is approved by uid 1000; the daemon continues\n";
        assert_eq!(approval_result(&approval, true), text);
        assert!(approval_result(&approval, false).contains("`reckon apply`"));
    }
}

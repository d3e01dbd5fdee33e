//! Checks for calls whose right the configuration grants for no merchant.

use rhai::{Expr, FnCallExpr, Position};

use super::walk::Walk;
use crate::hooks::host::notice::{TO_HELP, to_message};
use crate::hooks::register::HostFn;
use crate::model::issue::Severity;
use crate::policy::Power;

/// Function that sends a notification to a target, and its option for another recipient.
const NOTIFY: &str = "notify";
const TO: &str = "to";
/// Function that makes a payer's link.
const LINK: &str = "intake_link";

impl Walk<'_> {
    /// Reports missing rights of a call. `skipped` is 1 if the first argument is before a dot.
    pub(super) fn rights(&mut self, row: &HostFn, call: &FnCallExpr, skipped: usize, at: Position) {
        if let Some(power) = row.power {
            self.right(power, at);
        }
        if row.name == LINK {
            self.link(at);
        }
        if let (NOTIFY, 0, Some(Expr::StringConstant(target, place))) =
            (row.name, skipped, call.args.first())
        {
            self.mail(target, call, *place);
        }
    }

    fn right(&mut self, power: Power, at: Position) {
        if !self.set.known.rights.opens(power) {
            let (message, help) = power.refusal(None);
            self.tell(at, "right", &message, &help);
        }
    }

    /// Links of test merchants are harmless, and the merchant is known only at run time, so this is
    /// a warning.
    fn link(&mut self, at: Position) {
        let before = self.problems.len();
        self.right(Power::CardLink, at);
        for problem in self.problems.iter_mut().skip(before) {
            problem.severity = Severity::Warning;
            problem.message = format!("{}: no link is made for a live merchant", problem.message);
        }
    }

    fn mail(&mut self, target: &str, call: &FnCallExpr, at: Position) {
        let Some(any) = self.set.known.mail.get(target).copied() else { return };
        self.right(Power::Mail, at);
        let Some(Expr::Map(options, _)) = call.args.last().filter(|_| !any) else { return };
        for (key, value) in options.0.iter().filter(|(key, _)| key.name == TO) {
            if let Expr::StringConstant(to, place) = value
                && to.contains('@')
                && key.name == TO
            {
                self.tell(*place, "recipient", &to_message(target), TO_HELP);
            }
        }
    }
}

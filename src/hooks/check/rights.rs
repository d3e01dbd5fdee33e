//! Calls that need a right which the configuration gives for no merchant.

use rhai::{Expr, FnCallExpr, Position};

use super::walk::Walk;
use crate::hooks::host::notice::{TO_HELP, to_message};
use crate::hooks::register::HostFn;
use crate::model::issue::Severity;
use crate::policy::Power;

/// The function that tells a target something, and its option for somebody else.
const NOTIFY: &str = "notify";
const TO: &str = "to";
/// The function that makes a payer's link.
const LINK: &str = "intake_link";

impl Walk<'_> {
    /// Tells what a call has no right to. `skipped`: 1 where its first argument stands before a dot.
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

    /// Links of test merchants are harmless; which merchant it is shows when it runs.
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

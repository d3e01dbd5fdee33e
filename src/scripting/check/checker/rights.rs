//! Checks for calls whose right the configuration grants for no merchant.

use rhai::{Expr, FnCallExpr, Position};

use super::walk::FileChecker;
use crate::model::spec::issue::Severity;
use crate::policy::ScriptPower;
use crate::scripting::host::functions::notice::{TO_HELP, closed_address_message};
use crate::scripting::host::register::HostFn;

/// Function that sends a notification to a target, and its option for another recipient.
const NOTIFY: &str = "notify";
const TO: &str = "to";
/// Function that makes a payer's link.
const LINK: &str = "intake_link";

impl FileChecker<'_> {
    /// Reports missing rights of a call. `skipped` is 1 if the first argument is before a dot.
    pub(super) fn check_rights(
        &mut self,
        row: &HostFn,
        call: &FnCallExpr,
        skipped: usize,
        at: Position,
    ) {
        if let Some(power) = row.right {
            self.check_right(power, at);
        }
        if row.name == LINK {
            self.check_link(at);
        }
        if let (NOTIFY, 0, Some(Expr::StringConstant(target, place))) =
            (row.name, skipped, call.args.first())
        {
            self.check_mail(target, call, *place);
        }
    }

    fn check_right(&mut self, power: ScriptPower, at: Position) {
        if !self.set.known.rights.allows_any(power) {
            let (message, help) = power.refusal(None);
            self.report(at, "right", &message, &help);
        }
    }

    /// Links of test merchants are harmless, and the merchant is known only at run time, so this is
    /// a warning.
    fn check_link(&mut self, at: Position) {
        let before = self.problems.len();
        self.check_right(ScriptPower::CardLink, at);
        for problem in self.problems.iter_mut().skip(before) {
            problem.severity = Severity::Warning;
            problem.message = format!("{}: no link is made for a live merchant", problem.message);
        }
    }

    fn check_mail(&mut self, target: &str, call: &FnCallExpr, at: Position) {
        let Some(any) = self.set.known.mail.get(target).copied() else { return };
        self.check_right(ScriptPower::Mail, at);
        let Some(Expr::Map(options, _)) = call.args.last().filter(|_| !any) else { return };
        for (key, value) in options.0.iter().filter(|(key, _)| key.name == TO) {
            if let Expr::StringConstant(to, place) = value
                && to.contains('@')
                && key.name == TO
            {
                self.report(*place, "recipient", &closed_address_message(target), TO_HELP);
            }
        }
    }
}

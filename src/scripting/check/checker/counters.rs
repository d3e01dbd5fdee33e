//! Checks counters of a script that runs for several events at once, and bounds of notifications.

use rhai::{Expr, FnCallExpr, Position};

use super::walk::FileChecker;
use crate::base::suggestion;
use crate::model::spec::issue::Severity;
use crate::scripting::host::functions::notice::{AT_MOST, AT_MOST_HELP};

const READ: &str = "kv_get";
const WRITE: &str = "kv_set";
const BOUND: &str = "at_most";

impl FileChecker<'_> {
    /// Records a call of a host function.
    pub(super) fn record_host_call(&mut self, name: &'static str, at: Position) {
        self.host_calls.entry(name).or_insert(at);
    }

    /// Warns about a script that reads and writes a key in concurrent runs, where one run
    /// overwrites the update of another.
    pub(super) fn check_counters(&mut self) {
        let concurrency = super::concurrency(self.unit).unwrap_or(1);
        let (true, true, Some(at)) = (
            concurrency > 1,
            self.host_calls.contains_key(READ),
            self.host_calls.get(WRITE).copied(),
        ) else {
            return;
        };
        let message =
            "`kv_get` and `kv_set` lose updates where the script runs for several events at once";
        let help = "count with `kv_add(key, 1)`, or leave `CONCURRENCY` out";
        self.report(at, "lost_update", message, help);
        if let Some(problem) = self.problems.last_mut() {
            problem.severity = Severity::Warning;
        }
    }

    /// Reports unknown fields of `at_most`.
    pub(super) fn check_at_most(&mut self, call: &FnCallExpr) {
        let Some(Expr::Map(options, _)) = call.args.last() else { return };
        let bounds = options.0.iter().filter(|(key, _)| key.name == BOUND);
        let words =
            bounds.filter_map(
                |(_, value)| {
                    if let Expr::Map(words, _) = value { Some(&words.0) } else { None }
                },
            );
        for (word, _) in words.flatten().filter(|(word, _)| !AT_MOST.contains(&word.name.as_str()))
        {
            let message = format!("`{BOUND}` has no field `{}`", word.name);
            let near = suggestion::nearest(&word.name, AT_MOST);
            let help =
                near.map_or(AT_MOST_HELP.to_owned(), |near| format!("did you mean `{near}`?"));
            self.report(word.pos, "option", &message, &help);
        }
    }
}

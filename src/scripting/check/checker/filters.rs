//! Checks the literal filters of `find`.

use rhai::{Expr, FnCallExpr};

use super::walk::FileChecker;
use crate::policy::ScriptPower;
use crate::scripting::host::filter;

const FIND: &str = "find";

impl FileChecker<'_> {
    /// Reports fields of a filter that no resource of the kind has, or that are closed to scripts.
    pub(super) fn check_filter(&mut self, name: &str, call: &FnCallExpr) {
        if let (FIND, [Expr::StringConstant(kind, _), map]) = (name, &*call.args) {
            self.check_filter_fields(kind, &[], map);
        }
    }

    fn check_filter_fields(&mut self, kind: &str, above: &filter::FieldPath<'_>, value: &Expr) {
        let Expr::Map(map, _) = value else { return };
        let persons = self.set.known.rights.allows_any(ScriptPower::Personal);
        for (key, value) in &map.0 {
            if let Some((message, help)) = filter::field_problem(kind, above, &key.name, persons) {
                self.report(key.pos, "filter", &message, &help);
            } else {
                let below: Vec<&str> = above.iter().copied().chain([key.name.as_str()]).collect();
                self.check_filter_fields(kind, &below, value);
            }
        }
    }
}

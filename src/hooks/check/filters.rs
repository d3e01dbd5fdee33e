//! Checks the literal filters of `find`.

use rhai::{Expr, FnCallExpr};

use super::walk::Walk;
use crate::hooks::filter;
use crate::policy::Power;

const FIND: &str = "find";

impl Walk<'_> {
    /// Reports fields of a filter that no resource of the kind has, or that are closed to scripts.
    pub(super) fn filter(&mut self, name: &str, call: &FnCallExpr) {
        if let (FIND, [Expr::StringConstant(kind, _), map]) = (name, &*call.args) {
            self.filtered(kind, &[], map);
        }
    }

    fn filtered(&mut self, kind: &str, above: &filter::Above<'_>, value: &Expr) {
        let Expr::Map(map, _) = value else { return };
        let persons = self.set.known.rights.opens(Power::Personal);
        for (key, value) in &map.0 {
            if let Some((message, help)) = filter::wrong(kind, above, &key.name, persons) {
                self.tell(key.pos, "filter", &message, &help);
            } else {
                let below: Vec<&str> = above.iter().copied().chain([key.name.as_str()]).collect();
                self.filtered(kind, &below, value);
            }
        }
    }
}

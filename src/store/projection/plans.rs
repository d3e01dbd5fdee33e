//! Folds the use of saved plans.

use super::fold::{FoldError, FoldStep};
use crate::model::operator::plan_use::PlanUse;
use crate::store::read_model::model::{PLANS, ReadModel, ReadModelError, plan_key, write};

impl FoldStep<'_> {
    /// Records the use of a saved plan. Law 5: a plan's token is used once.
    pub(crate) fn use_plan(&mut self, used: &PlanUse) -> Result<(), FoldError> {
        let key = plan_key(&used.token);
        if let Some(before) = self.read::<PlanUse>(&key)? {
            let detail = format!("{} is used again, first at {}", used.plan, before.at);
            return Err(FoldError::Law { law: 5, detail });
        }
        Ok(write(self.batch, &key, used)?)
    }
}

impl ReadModel {
    /// Returns every saved plan that was used.
    pub fn used_plans(&self) -> Result<Vec<PlanUse>, ReadModelError> {
        self.list(PLANS)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::operator::plan_use::PlanUse;
    use crate::model::record::Record;
    use crate::store::index::ordered::{Batch, Index, MemoryIndex};
    use crate::store::projection::fold::{FoldError, fold};
    use crate::store::read_model::model::ReadModel;
    use std::sync::Arc;

    #[test]
    fn a_plan_is_used_once_and_every_rebuilt_index_knows_it() {
        let used = PlanUse {
            plan: "plan-1".to_owned(),
            token: "t".to_owned(),
            checksum: "c".to_owned(),
            actor: "uid 7".to_owned(),
            at: "2026-11-21T12:00:00Z".parse().unwrap(),
        };
        let record = Record::PlanUsed(Box::new(used.clone()));
        let (index, mut batch) = (Arc::new(MemoryIndex::new()), Batch::new());
        fold(&*index, &mut batch, &record).unwrap();
        let again = fold(&*index, &mut batch, &record);
        assert!(matches!(again, Err(FoldError::Law { law: 5, .. })), "{again:?}");
        let facts = ReadModel::new(index.clone());
        let before = facts.digest().unwrap();
        index.apply(batch).unwrap();
        assert_eq!(facts.use_of_plan("t").unwrap(), Some(used));
        assert_eq!(facts.use_of_plan("other").unwrap(), None);
        assert_ne!(facts.digest().unwrap(), before, "it is part of the state");
    }
}

//! Folds suspensions.

use super::fold::{FoldError, FoldStep};
use crate::base::id::Key;
use crate::model::operator::suspension::Suspension;
use crate::store::read_model::model::{suspension_key, write};

impl FoldStep<'_> {
    /// Suspends a resource. A later suspension replaces an earlier one.
    pub(crate) fn suspend(&mut self, suspension: &Suspension) -> Result<(), FoldError> {
        Ok(write(self.batch, &suspension_key(&suspension.key), suspension)?)
    }

    /// Resumes a resource.
    pub(crate) fn resume(&mut self, key: &Key) {
        self.batch.remove(suspension_key(key));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::model::operator::suspension::Suspension;
    use crate::model::record::Record;
    use crate::store::index::ordered::{Batch, Index, MemoryIndex};
    use crate::store::projection::fold::fold;
    use crate::store::read_model::model::ReadModel;

    #[test]
    fn what_is_suspended_is_known_until_it_is_resumed() {
        let index = Arc::new(MemoryIndex::new());
        let facts = ReadModel::new(index.clone());
        let nothing = facts.digest().unwrap();
        let key: crate::base::id::Key = "Invoice/a".parse().unwrap();
        let at = "2026-11-21T12:00:00Z".parse().unwrap();
        let suspension = |reason: &str| Suspension {
            key: key.clone(),
            reason: reason.to_owned(),
            actor: "uid 7".to_owned(),
            until: None,
            at,
        };
        let write = |record: &Record| {
            let mut batch = Batch::new();
            fold(&*index, &mut batch, record).unwrap();
            index.apply(batch).unwrap();
        };
        for reason in ["first", "second"] {
            write(&Record::Suspended(Box::new(suspension(reason))));
        }
        assert_eq!(facts.suspensions().unwrap(), [suspension("second")]);
        assert_eq!(facts.suspension(&key).unwrap(), Some(suspension("second")));
        assert_ne!(facts.digest().unwrap(), nothing);
        write(&Record::Resumed { key: key.clone(), actor: "uid 7".to_owned(), at });
        assert_eq!(facts.suspensions().unwrap(), []);
        assert_eq!(facts.digest().unwrap(), nothing);
    }
}

//! Folds the alerts: the problems that each target knows, and its message without a result.
//!
//! An entry of a problem exists only while the problem does. A message that provably did not arrive
//! puts its changes back.

use chrono::{DateTime, Utc};

use crate::base::id::Key;
use crate::model::alerts::{
    AlertChange, AlertClass, AlertOutcome, AlertPart, AlertRecord, AlertStep, ReportedAlert,
};
use crate::store::error::Folded;
use crate::store::read_model::model::{Changes, Entries as _, decode};
use crate::store::read_model::resources::{ALERTS_REPORTED, ALERTS_SENDING};

pub(crate) fn fold_alert(changes: &mut Changes<'_>, record: &AlertRecord) -> Folded {
    let AlertRecord { target, at, step } = record;
    match step {
        AlertStep::Sending { message, changes: sent } => {
            let part = AlertPart { message: message.clone(), at: *at, changes: sent.clone() };
            begin(changes, target, &part)
        }
        AlertStep::Ended { message, outcome } => end(changes, target, (message, *outcome)),
        AlertStep::Dropped { keys } => {
            for key in keys {
                ALERTS_REPORTED.remove(changes, (target, key));
            }
            Ok(())
        }
        AlertStep::Forgotten => {
            changes.remove_under(ALERTS_REPORTED.under(target).prefix())?;
            Ok(changes.remove_under(ALERTS_SENDING.under(target).prefix())?)
        }
    }
}

/// Notes a part of a message, whose changes count as reported from now on.
fn begin(changes: &mut Changes<'_>, target: &str, part: &AlertPart) -> Folded {
    for AlertChange { key, before: _, after } in &part.changes {
        note_reported(changes, (target, key), *after, part.at)?;
    }
    let number = ALERTS_SENDING
        .under(target)
        .keys(changes)?
        .last()
        .map_or(0_u64, |last| last.saturating_add(1));
    Ok(ALERTS_SENDING.put(changes, (target, number), part)?)
}

fn end(
    changes: &mut Changes<'_>,
    target: &str,
    (message, outcome): (&str, AlertOutcome),
) -> Folded {
    for (key, value) in changes.scan(ALERTS_SENDING.under(target).prefix())? {
        let part: AlertPart = decode(&key, &value)?;
        if part.message != message {
            continue;
        }
        changes.batch.remove(key);
        for AlertChange { key, before, after: _ } in part.changes {
            if outcome == AlertOutcome::NotSent {
                note_reported(changes, (target, &key), before, part.at)?;
            }
        }
    }
    Ok(())
}

fn note_reported(
    changes: &mut Changes<'_>,
    entry: (&str, &Key),
    class: Option<AlertClass>,
    at: DateTime<Utc>,
) -> Folded {
    if let Some(class) = class {
        return Ok(ALERTS_REPORTED.put(changes, entry, &ReportedAlert { class, at })?);
    }
    ALERTS_REPORTED.remove(changes, entry);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::record::Record;
    use crate::store::index::ordered::{Batch, Index as _, MemoryIndex};
    use crate::store::read_model::model::ReadModel;
    use crate::store::tests::support::fold;

    struct State(Arc<MemoryIndex>);

    impl State {
        fn record(&self, step: AlertStep) {
            let at = "2030-01-01T00:00:00Z".parse().unwrap();
            let record = AlertRecord { target: "ops".to_owned(), at, step };
            let mut batch = Batch::new();
            fold(&*self.0, &mut batch, &Record::Alert(Box::new(record))).unwrap();
            self.0.apply(batch).unwrap();
        }

        fn send(&self, message: &str, changes: &[AlertChange]) {
            let changes = changes.to_vec();
            self.record(AlertStep::Sending { message: message.to_owned(), changes });
        }

        fn end(&self, message: &str, outcome: AlertOutcome) {
            self.record(AlertStep::Ended { message: message.to_owned(), outcome });
        }

        fn facts(&self) -> ReadModel {
            ReadModel::new(self.0.clone())
        }

        fn told(&self) -> Vec<(String, AlertClass)> {
            let told = self.facts().reported_alerts().unwrap();
            told.into_iter().map(|((_, key), told)| (key.short(), told.class)).collect()
        }
    }

    fn state() -> State {
        State(Arc::new(MemoryIndex::new()))
    }

    fn change(name: &str, before: Option<AlertClass>, after: Option<AlertClass>) -> AlertChange {
        AlertChange { key: format!("Invoice/{name}").parse().unwrap(), before, after }
    }

    const HELD: Option<AlertClass> = Some(AlertClass::Held);

    #[test]
    fn a_message_that_did_not_arrive_puts_every_change_back() {
        let state = state();
        state.send("m1", &[change("a", None, HELD), change("b", None, Some(AlertClass::Drift))]);
        state.end("m1", AlertOutcome::Delivered);
        let before = (state.told(), state.facts().digest().unwrap());
        state.send("m2", &[change("a", HELD, None)]);
        state.send("m2", &[change("c", None, HELD)]);
        let parts = state.facts().alerts_being_sent().unwrap();
        assert_eq!(parts.iter().map(|((_, number), _)| *number).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(state.told().len(), 2, "they count as reported meanwhile");
        state.end("m2", AlertOutcome::NotSent);
        assert_eq!((state.told(), state.facts().digest().unwrap()), before);
    }

    #[test]
    fn an_entry_ends_with_its_problem_whatever_the_answer() {
        for outcome in [AlertOutcome::Delivered, AlertOutcome::Refused, AlertOutcome::InDoubt] {
            let state = state();
            let nothing = state.facts().digest().unwrap();
            state.send("m1", &[change("a", None, HELD)]);
            state.end("m1", outcome);
            assert_eq!(state.told(), [("Invoice/a".to_owned(), AlertClass::Held)]);
            state.send("m2", &[change("a", HELD, None)]);
            state.end("m2", outcome);
            assert_eq!(state.facts().digest().unwrap(), nothing);
        }
    }

    #[test]
    fn a_dropped_problem_and_a_forgotten_target_leave_nothing() {
        let state = state();
        let nothing = state.facts().digest().unwrap();
        state.send("m1", &[change("a", None, HELD), change("b", None, HELD)]);
        state.end("m1", AlertOutcome::Delivered);
        state.record(AlertStep::Dropped { keys: vec!["Invoice/a".parse().unwrap()] });
        assert_eq!(state.told().len(), 1);
        state.send("m2", &[change("c", None, HELD)]);
        state.record(AlertStep::Forgotten);
        assert_eq!(state.facts().digest().unwrap(), nothing);
    }
}

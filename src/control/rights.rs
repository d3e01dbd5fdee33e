//! Classifies requests: read-only ones, and ones that need the daemon's own machine.

use super::{Control, ControlError, Request};
use crate::engine::{Event, Question};

impl Request {
    /// Returns true if the request is read-only: it changes neither the state nor the service, and
    /// reveals no secret. A request counts as a change unless it is known to be read-only.
    pub fn only_looks(&self) -> bool {
        if let Self::Ask(question) = self {
            // Event data as scripts see it holds names and addresses.
            let whole = matches!(
                question,
                Question::Known(_) | Question::Sought(..) | Question::Rehearsing(_)
            );
            return *question != Question::Settle && !whole;
        }
        if let Self::Look(look) = self {
            return !look.is_secret();
        }
        *self == Self::Verify
    }

    /// Returns true for a request that only a process on the daemon's machine may make: no token is
    /// enough.
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Rekey { .. })
    }
}

impl Control {
    /// Starts a read of the whole tree, and does not wait for its consequences.
    ///
    /// # Errors
    /// The engine ended.
    pub async fn reconcile(&self) -> Result<(), ControlError> {
        let event = Event::Files(Vec::new());
        self.engine.send(event).await.map_err(|_| ControlError::stopped())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::look::Look;
    use crate::engine::Terms;
    use crate::model::epoch::Releasing;
    use crate::model::suspension::Pause;

    #[test]
    fn what_is_not_known_to_look_is_taken_for_a_change() {
        let key: crate::base::id::Key = "Invoice/jane".parse().unwrap();
        let intake = Look::Intake {
            key: key.clone(),
            terms: Terms { generation: 0, replaces: None },
            days: 7,
        };
        let why = Look::Why { what: "i-000001".to_owned(), verify: true };
        for request in [
            Request::Ask(Question::Plan),
            Request::Ask(Question::Resource(key.clone())),
            Request::Verify,
            Request::Look(Box::new(why)),
        ] {
            assert!(request.only_looks(), "{request:?}");
        }
        for request in [
            Request::Ask(Question::Settle),
            Request::Refresh,
            Request::Link(key.clone()),
            Request::Pause(Box::new(Pause::Resume { key })),
            Request::Release(Releasing { keys: Vec::new(), done: false }),
            Request::Look(Box::new(Look::Urls)),
            Request::Look(Box::new(intake)),
        ] {
            assert!(!request.only_looks(), "{request:?}");
        }
    }
}

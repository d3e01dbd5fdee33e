//! Classifies requests: read-only ones, and ones that need the daemon's own machine.

use super::protocol::{Control, ControlError, ControlRequest};
use crate::engine::core::input::EngineInput;
use crate::engine::queries::protocol::EngineQuery;

impl ControlRequest {
    /// Returns true if the request is read-only: it changes neither the state nor the service, and
    /// reveals no secret. A request counts as a change unless it is known to be read-only.
    pub fn is_read_only(&self) -> bool {
        if let Self::Ask(question) = self {
            // Event data as scripts see it holds names and addresses.
            let whole = matches!(
                question,
                EngineQuery::ScriptResource(_)
                    | EngineQuery::ScriptFind(..)
                    | EngineQuery::TrialRun(_)
            );
            return *question != EngineQuery::Settle && !whole;
        }
        if let Self::Local(look) = self {
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
        let event = EngineInput::Files(Vec::new());
        self.engine.send(event).await.map_err(|_| ControlError::engine_stopped())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::local::LocalQuery;
    use crate::engine::commands::intake::IntakeTerms;
    use crate::model::operator::suspension::SuspensionRequest;
    use crate::model::state::epoch::ReleaseRequest;

    #[test]
    fn what_is_not_known_to_look_is_taken_for_a_change() {
        let key: crate::base::id::Key = "Invoice/jane".parse().unwrap();
        let intake = LocalQuery::Intake {
            key: key.clone(),
            terms: IntakeTerms { generation: 0, replaces: None },
            days: 7,
        };
        let why = LocalQuery::Why { what: "i-000001".to_owned(), verify: true };
        for request in [
            ControlRequest::Ask(EngineQuery::Plan),
            ControlRequest::Ask(EngineQuery::Resource(key.clone())),
            ControlRequest::Verify,
            ControlRequest::Local(Box::new(why)),
        ] {
            assert!(request.is_read_only(), "{request:?}");
        }
        for request in [
            ControlRequest::Ask(EngineQuery::Settle),
            ControlRequest::Refresh,
            ControlRequest::Link(key.clone()),
            ControlRequest::Suspend(Box::new(SuspensionRequest::Resume { key })),
            ControlRequest::Release(ReleaseRequest { keys: Vec::new(), done: false }),
            ControlRequest::Local(Box::new(LocalQuery::Urls)),
            ControlRequest::Local(Box::new(intake)),
        ] {
            assert!(!request.is_read_only(), "{request:?}");
        }
    }
}

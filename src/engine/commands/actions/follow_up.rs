//! Reads a merchant's accounts after a command that changed them, before the command is answered:
//! documents choose their accounts by their known state.

use crate::effects::actions::table::ACCOUNT;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::EngineShared;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::commands::action_view::ActionStatus;
use crate::engine::protocol::query::Reply;
use crate::engine::readers::read;
use crate::engine::readers::read::RecordWhen;
use crate::engine::view::EngineView;
use crate::model::intents::effect::{Effect, RemoteReading};
use crate::model::state::observed::AppliedSpec;

/// Readings that follow a finished command; none for most commands.
pub(crate) struct FollowUpReadings {
    readings: Vec<RemoteReading>,
    wallet: CredentialSource,
}

/// Returns true if a command of this sort changes the known state of accounts.
pub(crate) fn is_about_accounts(applied: &AppliedSpec) -> bool {
    applied.spec.get("verb").is_some_and(|verb| verb == ACCOUNT)
}

impl EngineView<'_> {
    /// Returns the readings after an effect that a person asked for.
    pub(crate) fn afterwards(&self, effect: &Effect) -> FollowUpReadings {
        let wanted = is_about_accounts(&effect.applied);
        let readings = if wanted {
            self.planner.refresh_reads(self.known_state, &effect.merchant)
        } else {
            Vec::new()
        };
        FollowUpReadings { readings, wallet: self.known_state.credential_source(&effect.merchant) }
    }
}

impl FollowUpReadings {
    /// Runs the readings if the command is done. After a failed reading the known state stays.
    pub(crate) async fn read(self, shared: &EngineShared, finished: TaskResult) -> TaskResult {
        let TaskResult::WithReply(_, Reply::Action(acted), _) = &finished else { return finished };
        if acted.status != ActionStatus::Done {
            return finished;
        }
        for reading in self.readings {
            let read = read::read(shared, reading, &self.wallet, RecordWhen::IfChanged).await;
            if let TaskResult::Broken(error) = read {
                return TaskResult::Broken(error);
            }
            if !matches!(read, TaskResult::Changed(_)) {
                tracing::warn!(ended = ?read, "cannot read the accounts again");
                break;
            }
        }
        finished
    }
}

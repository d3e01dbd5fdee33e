//! Reads a merchant's accounts after a command that changed them, before the command is answered:
//! documents choose their accounts by their known state.

use super::Engine;
use crate::base::id::Key;
use crate::effects::ACCOUNT;
use crate::engine::access::Wallet;
use crate::engine::read::{self, Write};
use crate::engine::shared::{EngineError, Shared};
use crate::engine::tasks::Finished;
use crate::engine::{Reply, Stands};
use crate::model::action::is_action;
use crate::model::effect::{Effect, Reading};
use crate::model::observed::{Applied, Observed};
use crate::plan::World;

/// Readings that follow a finished command; none for most commands.
pub(super) struct Afterwards {
    readings: Vec<Reading>,
    wallet: Wallet,
}

/// Returns true if a command of this sort changes the known state of accounts.
fn is_about_accounts(applied: &Applied) -> bool {
    applied.spec.get("verb").is_some_and(|verb| verb == ACCOUNT)
}

impl Engine {
    /// Returns the readings after an effect that a person asked for.
    pub(super) fn afterwards(&self, effect: &Effect) -> Afterwards {
        let wanted = is_about_accounts(&effect.applied);
        let readings =
            if wanted { self.planner.again(&self.world, &effect.merchant) } else { Vec::new() };
        Afterwards { readings, wallet: self.wallet(&effect.merchant) }
    }

    /// Applies the readings of a command, once it has ended.
    pub(in crate::engine) fn read_afterwards(&mut self, key: &Key) -> Result<(), EngineError> {
        let known = self.world.observed(key).filter(|_| is_action(key));
        let about = |known: &Observed| {
            known.exists && known.applied.as_ref().is_some_and(is_about_accounts)
        };
        match known.filter(|known| about(known)) {
            Some(known) => self.heard(Some(known.merchant.clone())),
            None => Ok(()),
        }
    }
}

impl Afterwards {
    /// Runs the readings if the command is done. After a failed reading the known state stays.
    pub(super) async fn read(self, shared: &Shared, finished: Finished) -> Finished {
        let Finished::Answered(_, Reply::Acted(acted), _) = &finished else { return finished };
        if acted.stands != Stands::Done {
            return finished;
        }
        for reading in self.readings {
            let read = read::read(shared, reading, &self.wallet, Write::News).await;
            if let Finished::Broken(error) = read {
                return Finished::Broken(error);
            }
            if !matches!(read, Finished::Moved(_)) {
                tracing::warn!(ended = ?read, "the accounts were not read again");
                break;
            }
        }
        finished
    }
}

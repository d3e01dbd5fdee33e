//! What a command changed of a merchant's accounts is read before it is answered: documents choose their accounts by
//! what is known of them.

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

/// What is read once a command is done; nothing after most.
pub(super) struct Afterwards {
    readings: Vec<Reading>,
    wallet: Wallet,
}

/// Whether a command of this sort changes what is known of accounts.
fn is_about_accounts(applied: &Applied) -> bool {
    applied.spec.get("verb").is_some_and(|verb| verb == ACCOUNT)
}

impl Engine {
    /// What has to be read after an effect that a person asked for.
    pub(super) fn afterwards(&self, effect: &Effect) -> Afterwards {
        let wanted = is_about_accounts(&effect.applied);
        let readings =
            if wanted { self.planner.again(&self.world, &effect.merchant) } else { Vec::new() };
        Afterwards { readings, wallet: self.wallet(&effect.merchant) }
    }

    /// Takes in what was read after a command, once that has ended.
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
    /// Reads it, if the command is done. What cannot be read now stays as it is known.
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

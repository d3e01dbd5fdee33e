//! Decides if an action can be sent, and as which effect. Decides only.

use serde_json::{Value, json};

use super::view::{Acted, Stands, done, told, unsettled};
use super::{Asked, Engine};
use crate::base::hash::{Digest, SourceId, canonical, keyed};
use crate::base::id::{Key, Mode, Name};
use crate::effects::{ActionRow, Deed, Obligation, action_row};
use crate::model::action::Action;
use crate::model::effect::Effect;
use crate::model::manifest::{Deletion, OnDoubt};
use crate::model::observed::Applied;
use crate::plan::World;

/// Separates the digests of actions from all others.
const LABEL: &str = "action";

/// An action that can be sent.
pub(super) struct Ready {
    pub(super) effect: Effect,
    pub(super) actor: String,
}

impl Engine {
    /// Builds the effect of an action.
    ///
    /// # Errors
    /// The reason why the action is not sent.
    pub(super) fn ready(&self, asked: &Asked) -> Result<Ready, Box<Acted>> {
        let Asked { action, actor } = asked;
        let invalid = |why: String| Box::new(told(None, &action.verb, Stands::Invalid, why));
        let row = action_row(&action.verb)
            .ok_or_else(|| invalid(format!("there is no action called {}", action.verb)))?;
        let mode = self.may_act(action)?;
        let fields = self.completed(action)?;
        let digest = self.digest(action, &fields);
        let key = name(action, digest).map_err(invalid)?;
        if let Some(stands) = self.stands(&key, digest, action) {
            return Err(Box::new(stands));
        }
        let new = self.obligation(row, &key, action, mode, digest, &fields);
        let Deed { mut effect, money } = (row.make)(new, &fields).map_err(invalid)?;
        effect.moves = money;
        effect.counts.deletes = effect.counts.deletes.max(self.purged_with(&effect));
        Ok(Ready { effect, actor: actor.clone() })
    }

    /// Returns the mode of the merchant.
    ///
    /// # Errors
    /// The merchant is not ready.
    fn may_act(&self, action: &Action) -> Result<Mode, Box<Acted>> {
        let blocked = |why: String| Box::new(told(None, &action.verb, Stands::Blocked, why));
        let step = self.planner.step(&action.merchant);
        let step = step.ok_or_else(|| {
            let why = format!("there is no {}", action.merchant.short());
            Box::new(told(None, &action.verb, Stands::Invalid, why))
        })?;
        if !step.ready {
            return Err(blocked(format!("{} is not ready: {}", step.key.short(), step.reason)));
        }
        if self.is_leaving(&action.merchant) {
            let why = format!("{} gives its authorization back", step.key.short());
            return Err(blocked(why));
        }
        let known = self.world.observed(&action.merchant);
        let known = known.as_ref().map(|known| known.fact("mode").clone()).unwrap_or_default();
        let said = self.world.desired().manifest(&action.merchant);
        let said = said.and_then(|said| said.spec.get("mode").cloned()).unwrap_or(known);
        serde_json::from_value(said).map_err(|_| blocked("its mode is not known".to_owned()))
    }

    /// Digest of an action's request: two actions with one digest ask for the same.
    fn digest(&self, action: &Action, fields: &Value) -> Digest {
        let about = json!([action.verb, action.merchant, fields]);
        keyed(&self.shared.settings.planning.digest_key, LABEL, &canonical(&about))
    }

    /// Returns the state of an action that was requested before under this name; `None`: it may be
    /// sent.
    fn stands(&self, key: &Key, digest: Digest, action: &Action) -> Option<Acted> {
        let known = self.world.observed(key);
        let another = |applied: &Applied| applied.digest != digest;
        let open = self.world.open(key);
        let busy = self.busy.contains(key);
        let before = open.as_ref().map(|open| &open.intent.applied);
        let before = before.or(known.as_ref().and_then(|known| known.applied.as_ref()));
        if before.is_some_and(another) {
            let why = format!(
                "{} was asked for with other fields before: give it another name",
                key.name
            );
            return Some(told(Some(key.clone()), &action.verb, Stands::Invalid, why));
        }
        match open {
            Some(_) if busy => None,
            Some(open) => Some(unsettled(key, &action.verb, &open.state)),
            None => known.filter(|known| known.exists).map(|known| {
                let mut done = done(key, &action.verb, &known);
                done.before = true;
                done.message = format!(
                    "was done before; nothing was sent. To do the same once more, give it a name of its own \
                     ({})",
                    key.name
                );
                done
            }),
        }
    }

    fn obligation(
        &self,
        row: &ActionRow,
        key: &Key,
        action: &Action,
        mode: Mode,
        digest: Digest,
        fields: &Value,
    ) -> Obligation {
        let mut spec = fields.clone();
        for secret in row.secret {
            if let Some(spec) = spec.as_object_mut() {
                spec.remove(*secret);
            }
        }
        let merchant = self.world.desired().manifest(&action.merchant);
        let web_url = merchant.and_then(|one| one.spec.get("web_url")?.as_str().map(str::to_owned));
        Obligation {
            key: key.clone(),
            merchant: action.merchant.clone(),
            mode,
            source_id: SourceId::new(&self.shared.settings.planning.partner, key, 0),
            applied: Applied {
                spec: json!({"verb": action.verb, "fields": spec}),
                digest,
                generation: 0,
                deletion: Deletion::Orphan,
            },
            on_doubt: OnDoubt::Hold,
            account: None,
            web_url,
        }
    }
}

/// The key of an action: its own name, or one made from the request's digest.
fn name(action: &Action, digest: Digest) -> Result<Key, String> {
    let short: String = digest.to_string().chars().take(12).collect();
    let made = || format!("{}-{short}", action.verb).parse::<Name>();
    let name = action.name.clone().map_or_else(made, Ok).map_err(|error| error.to_string())?;
    Ok(Action::key(&action.merchant, &name))
}

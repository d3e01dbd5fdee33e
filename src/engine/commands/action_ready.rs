//! Decides if an action can be sent, and as which effect. Decides only.

use serde_json::{Value, json};

use crate::base::hash::{Digest, SourceId, canonical, keyed_digest};
use crate::base::id::{Key, Mode, Name};
use crate::effects::actions::ActionEffect;
use crate::effects::actions::ActionRow;
use crate::effects::core::context::EffectContext;
use crate::effects::register::action_row;
use crate::engine::commands::action::{report, report_done, report_unsettled};
use crate::engine::protocol::actions::{ActionCommand, ActionReport, ActionStatus};
use crate::engine::view::EngineView;
use crate::model::effect::{Action, Effect};
use crate::model::manifest::{Deletion, OnDoubt};
use crate::model::state::observed::AppliedSpec;
use crate::plan::state_view::StateView;

/// Separates the digests of actions from all others.
const LABEL: &str = "action";

pub(crate) struct ReadyAction {
    pub(crate) effect: Effect,
    pub(crate) actor: String,
}

impl EngineView<'_> {
    pub(crate) fn ready(&self, asked: &ActionCommand) -> Result<ReadyAction, Box<ActionReport>> {
        let ActionCommand { action, actor } = asked;
        let invalid =
            |why: String| Box::new(report(None, &action.verb, ActionStatus::Invalid, why));
        let row = action_row(&action.verb)
            .ok_or_else(|| invalid(format!("there is no action called {}", action.verb)))?;
        let mode = self.may_act(action)?;
        let fields = self.complete_fields(action)?;
        let digest = self.digest(action, &fields);
        let key = action_key(action, digest).map_err(invalid)?;
        if let Some(stands) = self.earlier_report(&key, digest, action) {
            return Err(Box::new(stands));
        }
        let new = self.effect_context(row, &key, action, mode, digest, &fields);
        let ActionEffect { mut effect, money } = (row.make)(new, &fields).map_err(invalid)?;
        effect.moves = money;
        effect.counts.deletes = effect.counts.deletes.max(self.purged_with(&effect));
        Ok(ReadyAction { effect, actor: actor.clone() })
    }

    /// Returns the mode of the merchant.
    fn may_act(&self, action: &Action) -> Result<Mode, Box<ActionReport>> {
        let blocked =
            |why: String| Box::new(report(None, &action.verb, ActionStatus::Blocked, why));
        let step = self.planner.step(&action.merchant);
        let step = step.ok_or_else(|| {
            let why = format!("there is no {}", action.merchant.short());
            Box::new(report(None, &action.verb, ActionStatus::Invalid, why))
        })?;
        if !step.ready {
            return Err(blocked(format!("{} is not ready: {}", step.key.short(), step.reason)));
        }
        if self.snapshot().is_being_removed(&action.merchant) {
            let why = format!("the authorization of {} is being revoked", step.key.short());
            return Err(blocked(why));
        }
        let known = self.known_state.observed(&action.merchant);
        let known = known.as_ref().map(|known| known.fact("mode").clone()).unwrap_or_default();
        let said = self.known_state.desired().manifest(&action.merchant);
        let said = said.and_then(|said| said.spec.get("mode").cloned()).unwrap_or(known);
        serde_json::from_value(said)
            .map_err(|_| blocked("the mode of the merchant is not known".to_owned()))
    }

    /// Digest of an action's request: two actions with one digest ask for the same.
    fn digest(&self, action: &Action, fields: &Value) -> Digest {
        let about = json!([action.verb, action.merchant, fields]);
        keyed_digest(self.digest_key(), LABEL, &canonical(&about))
    }

    /// Returns the state of an action that was requested before under this name; `None`: it may be
    /// sent.
    fn earlier_report(&self, key: &Key, digest: Digest, action: &Action) -> Option<ActionReport> {
        let known = self.known_state.observed(key);
        let another = |applied: &AppliedSpec| applied.digest != digest;
        let open = self.known_state.open_intent(key);
        let busy = self.scheduler.busy.contains(key);
        let before = open.as_ref().map(|open| &open.intent.applied);
        let before = before.or(known.as_ref().and_then(|known| known.applied.as_ref()));
        if before.is_some_and(another) {
            let why = format!(
                "{} was asked for with other fields before: give it another name",
                key.name
            );
            return Some(report(Some(key.clone()), &action.verb, ActionStatus::Invalid, why));
        }
        match open {
            Some(_) if busy => None,
            Some(open) => Some(report_unsettled(key, &action.verb, &open.state)),
            None => known.filter(|known| known.exists).map(|known| {
                let mut done = report_done(key, &action.verb, &known);
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

    fn effect_context(
        &self,
        row: &ActionRow,
        key: &Key,
        action: &Action,
        mode: Mode,
        digest: Digest,
        fields: &Value,
    ) -> EffectContext {
        let mut spec = fields.clone();
        for secret in row.secret {
            if let Some(spec) = spec.as_object_mut() {
                spec.remove(*secret);
            }
        }
        let merchant = self.known_state.desired().manifest(&action.merchant);
        let web_url = merchant.and_then(|one| one.spec.get("web_url")?.as_str().map(str::to_owned));
        EffectContext {
            key: key.clone(),
            merchant: action.merchant.clone(),
            mode,
            source_id: SourceId::new(&self.shared.settings.planning.partner, key, 0),
            applied: AppliedSpec {
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
fn action_key(action: &Action, digest: Digest) -> Result<Key, String> {
    let short: String = digest.to_string().chars().take(12).collect();
    let made = || format!("{}-{short}", action.verb).parse::<Name>();
    let name = action.name.clone().map_or_else(made, Ok).map_err(|error| error.to_string())?;
    Ok(Action::key(&action.merchant, &name))
}

#[cfg(test)]
mod tests;

//! Open intents, possible orphans, and unknown objects with marks of ours, as plain data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::base::wording::count_noun;
use crate::effects::core::row::LostReply;
use crate::effects::register::effect_row;
use crate::engine::protocol::views::MoneyView;
use crate::model::effect::PER_OCCURRENCE;
use crate::model::holds::Freeze;
use crate::model::intent::{Cause, Intent, IntentState};
use crate::store::read_model::model::{ReadModel, ReadModelError};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntentView {
    pub id: String,
    pub key: Key,
    pub effect: String,
    /// `open`, `in_doubt` or `held`.
    pub state: String,
    /// Number of times it was sent.
    pub attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The effect's own name at the service.
    pub source_id: String,
    /// The same name as fields of the service hold it.
    pub mark: String,
    pub at: String,
    #[serde(default)]
    pub evidence: IntentEvidence,
}

/// The known parts of an effect without a known result, and the places where it would show.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntentEvidence {
    pub target: Option<String>,
    /// The expected values of its answer for money and state; nothing private.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub asked: BTreeMap<String, Value>,
    /// The baseline, read just before it was sent.
    #[serde(skip_serializing_if = "Value::is_null", default)]
    pub before: Value,
    /// Method and path of the reads that would show it; empty if the service cannot show it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub shows_at: Vec<String>,
    /// The way in which a lost answer of it is settled, in a sentence.
    pub settled_by: String,
    /// Its origin: a document's file, line and commit, or a person.
    pub caused_by: Option<String>,
}

/// Fields of an answer that may be displayed: money and state.
const ASKED: [&str; 9] = [
    "amount",
    "total_amount",
    "currency",
    "status",
    "type",
    "id",
    "charge_id",
    "account_id",
    "schedule",
];

/// Returns true for a field of an answer that may be displayed to anyone who may read the API: money
/// and state, nothing private.
pub(crate) fn is_displayable(field: &str) -> bool {
    ASKED.contains(&field)
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntentsView {
    /// Intents that are not closed, oldest first.
    pub items: Vec<IntentView>,
    /// Resources that were made again although nothing proved that the first try failed.
    pub remade: Vec<RemadeView>,
    /// Unknown objects with marks of ours that block a resource.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "strays")]
    pub unknown_objects: Vec<UnknownObjectView>,
    /// The freeze in force: an effect that would be sent again waits for its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freeze: Option<Box<Freeze>>,
    /// The last resort, which disowns every unknown object at once; `None` without such an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_resort: Option<DisownPreview>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemadeView {
    /// The intent whose result is not known.
    pub intent: String,
    pub key: Key,
}

/// Returns the evidence for a person who settles an intent.
pub(crate) fn evidence(intent: &Intent) -> IntentEvidence {
    let row = effect_row(&intent.effect);
    let (settled_by, shows_at) =
        row.map_or_else(Default::default, |row| settlement(row.lost_reply, intent));
    let asked = intent.expect.iter().filter(|(name, _)| is_displayable(name));
    IntentEvidence {
        target: intent.target.as_ref().map(ToString::to_string),
        asked: asked.map(|(name, value)| (name.clone(), value.clone())).collect(),
        before: intent.baseline.clone(),
        shows_at,
        settled_by,
        caused_by: caused_by(&intent.cause),
    }
}

/// Returns the reason why an intent is in doubt or on hold.
pub(crate) fn unsettled_reason(state: &IntentState) -> Option<&str> {
    match state {
        IntentState::InDoubt { attempt: _, reason }
        | IntentState::OnHold { attempt: _, reason } => Some(reason),
        IntentState::Open { .. } | IntentState::Closed => None,
    }
}

/// Returns the settlement of a lost answer, and the reads that would show the effect.
fn settlement(doubt: LostReply, intent: &Intent) -> (String, Vec<String>) {
    let told = match doubt {
        LostReply::Retry { max_sends: most, refusal_settles: _ } => {
            let most = count_noun(most, "time");
            format!(
                "the same bytes are sent again, at most {most} in total; this cannot create a \
                duplicate"
            )
        }
        LostReply::RetryUntilGone { max_sends: most, gone_statuses: _ } => {
            let most = count_noun(most, "time");
            format!("it is sent again, at most {most} in total; an ended object cannot end twice")
        }
        LostReply::Lookup(search) => {
            let paths = (search.queries)(intent).into_iter();
            let paths =
                paths.map(|query| format!("{} {}", query.call.method.as_str(), query.call.path));
            return ("by a lookup at the service".to_owned(), paths.collect());
        }
        LostReply::AwaitWebhook => "by a webhook of the service".to_owned(),
        LostReply::Undecidable => "nothing the service shows can prove it".to_owned(),
    };
    (told, Vec::new())
}

fn caused_by(cause: &Cause) -> Option<String> {
    let place = cause.file.as_ref().zip(cause.line).map(|(file, line)| format!("{file}:{line}"));
    let state = if cause.uncommitted { "uncommitted change after " } else { "" };
    let commit = cause.commit.as_ref().map(|commit| format!("{state}commit {commit}"));
    let parts: Vec<String> = [cause.actor.clone(), place, commit].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownObjectView {
    pub id: String,
    pub list: String,
    pub mark: String,
    pub key: Key,
    /// True if it is a second object with that mark.
    pub second: bool,
    /// Commands that resolve it, as alternatives.
    pub way_out: Vec<String>,
}

/// Every object with an unknown mark that one command would disown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DisownPreview {
    pub command: String,
    pub objects: Vec<DisownedView>,
    /// Money that the service goes on collecting: one occurrence of each `ACTIVE` charge.
    pub totals: Vec<MoneyView>,
    /// Number of those recurring charges.
    pub active: usize,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DisownedView {
    pub id: String,
    pub list: String,
    pub merchant: Key,
    /// Its status at the service, if it collects money.
    pub status: Option<String>,
    pub money: Option<MoneyView>,
}

pub(crate) fn collected_money(currency: Currency, mode: Mode, amount: i64) -> MoneyView {
    MoneyView { currency: currency.to_string(), mode, meaning: PER_OCCURRENCE.to_owned(), amount }
}

/// Returns the mode that a merchant was connected in; if unknown, live as the more cautious one.
pub(crate) fn merchant_mode(facts: &ReadModel, merchant: &Key) -> Result<Mode, ReadModelError> {
    let known = facts.observed_state(merchant)?;
    let mode = |known: &crate::model::state::observed::Observed| {
        let fact = Some(known.fact("mode")).filter(|mode| !mode.is_null());
        let applied = || known.applied.as_ref().and_then(|applied| applied.spec.get("mode"));
        serde_json::from_value::<Mode>(fact.or_else(applied).cloned().unwrap_or(Value::Null)).ok()
    };
    Ok(known.as_ref().and_then(mode).unwrap_or(Mode::Live))
}

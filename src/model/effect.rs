//! One change of the service, or one reading of it, as plain data: the effect of a document with its
//! exposure, and requests without a document (actions and reads).
//!
//! The exposure of an effect is money, removed objects and e-mails. Limits and approvals consider
//! nothing else. A sum counts the money that we move, in any direction: two directions never cancel
//! each other. An occurrence's amount counts once, with the effect that creates the schedule, and
//! only where that effect charges nothing now. The later occurrences are the service's own.
//!
//! An action is a change that a person's command or a hook requests.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::call::{Auth, Host, Method};
use crate::base::hash::{Digest, SourceId};
use crate::base::id::{Key, Kind, Mode, Name, RemoteId};
use crate::base::money::{Currency, Money};
use crate::model::manifest::OnDoubt;
use crate::model::state::observed::AppliedSpec;

/// Work that an executor can do for a resource now.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each step that can be done, and never a list"
)]
pub enum StepWork {
    Effect(Effect),
    Read(RemoteReading),
    /// Record, without any call, that the service already matches the file.
    Record(AppliedSpec),
}

/// A reading; its named row in the register defines its calls and their results.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteReading {
    /// The row, such as `merchant.credentials`.
    pub name: &'static str,
    pub key: Key,
    /// The merchant whose credentials it uses.
    pub merchant: Key,
    pub mode: Mode,
    /// The manifest that requires the reading.
    pub applied: AppliedSpec,
    /// Further arguments, as its row requires them; null for most.
    pub subject: Value,
}

/// A request, in one of two forms: with its JSON body, or as it is stored. `Debug` leaves the body
/// out, which may hold personal values.
#[serde_with::skip_serializing_none]
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, derive_more::Debug)]
#[debug("Request({} {path})", method.as_str())]
pub struct ServiceRequest<B> {
    pub endpoint: String,
    pub method: Method,
    pub host: Host,
    pub path: String,
    pub auth: Auth,
    /// The merchant's account whose own key authenticates the call; `None` for the merchant's key.
    pub account: Option<String>,
    /// The address of the web host, where it is not the configured one.
    pub web_url: Option<String>,
    pub body: B,
}

/// A request before its secrets are put in. A JSON value `{"$secret": SOURCE}` in the body
/// represents a secret that is resolved as late as possible; null for no body.
pub type EffectRequest = ServiceRequest<Value>;

/// One change of the service as plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The effect's row in the register, such as `contact.create`.
    pub name: &'static str,
    pub key: Key,
    pub merchant: Key,
    pub mode: Mode,
    pub target: Option<RemoteId>,
    pub source_id: SourceId,
    pub request: EffectRequest,
    /// The body holds private values and has to be sealed.
    pub sealed: bool,
    /// Required values of the answer, by path (law 4).
    pub expect: BTreeMap<String, Value>,
    pub applied: AppliedSpec,
    /// Further arguments besides its resource, as its row requires them; null for most. Two effects
    /// of one name with equal arguments do the same.
    pub subject: Value,
    /// A single-use value in the body, such as a one-time token.
    pub single_use: Option<Box<SingleUse>>,
    pub on_doubt: OnDoubt,
    /// The money that the effect moves; empty for an effect that moves none. Limits count it.
    pub moves: Vec<MoneyMove>,
    pub counts: ExposureCounts,
}

impl Effect {
    pub(crate) fn targeting(mut self, target: &RemoteId) -> Self {
        self.target = Some(target.clone());
        self
    }

    pub(crate) fn with_sealed_body(self) -> Self {
        Self { sealed: true, ..self }
    }

    pub(crate) fn with_single_use(self, once: SingleUse) -> Self {
        Self { single_use: Some(Box::new(once)), ..self }
    }

    pub(crate) fn with_subject(self, subject: Value) -> Self {
        Self { subject, ..self }
    }

    /// Requires `value` at `path` of the answer; null requires nothing.
    pub(crate) fn expecting(mut self, path: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.expect.insert(path.to_owned(), value);
        }
        self
    }

    /// Requires these fields of `asked` in the answer; an absent one requires nothing.
    pub(crate) fn expecting_fields(self, asked: &Value, fields: &[&str]) -> Self {
        let field = |name: &str| asked.get(name).cloned().unwrap_or_default();
        fields.iter().fold(self, |effect, name| effect.expecting(name, field(name)))
    }
}

/// A value that works once and only for a short time. One intent uses it, regardless of the
/// outcome; an expired value is never used. Either way the resource forgets it. A value with
/// `again` is forgotten only by the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleUse {
    pub expires_at: DateTime<Utc>,
    /// The facts that make the resource forget it.
    pub clearing_facts: Value,
    /// A failed try leaves the value to the next one: the service itself accepts it once, and the
    /// created object is found by its mark.
    pub is_reusable: bool,
}

/// Prefix of the meanings of money that every occurrence of a schedule collects.
pub const PER_OCCURRENCE: &str = "collected_per_occurrence";

/// Money that an effect moves, as an intent stores it. Its mode is the intent's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedMove {
    pub amount: Money,
    pub meaning: String,
}

impl From<&MoneyMove> for RecordedMove {
    fn from(money: &MoneyMove) -> Self {
        Self { amount: money.amount, meaning: money.meaning.to_owned() }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exposure {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<RecordedMove>,
    #[serde(default)]
    pub counts: ExposureCounts,
    /// The run that it counts towards: one state of the files on one day. `None` without limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The approvals that let it pass a limit. An approved effect counts towards no run and no day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<String>,
}

impl Exposure {
    pub fn new(moves: &[MoneyMove], counts: ExposureCounts) -> Self {
        let moves = moves.iter().map(RecordedMove::from).collect();
        Self { moves, counts, ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.moves.is_empty() && self.counts == ExposureCounts::default()
    }

    /// Returns the amounts that it adds to a run and to a day, in minor units.
    pub fn sums(&self) -> BTreeMap<Currency, i64> {
        let later = |moved: &RecordedMove| moved.meaning.starts_with(PER_OCCURRENCE);
        let only_later = self.moves.iter().all(later);
        let mut sums = BTreeMap::new();
        for moved in self.moves.iter().filter(|moved| only_later || !later(moved)) {
            let sum: &mut i64 = sums.entry(moved.amount.currency()).or_default();
            *sum = sum.saturating_add(moved.amount.minor().saturating_abs());
        }
        sums
    }
}

/// One planned effect, as limits and approvals see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpendRequest {
    pub key: Key,
    pub merchant: Key,
    pub mode: Mode,
    pub generation: u32,
    /// A keyed digest of its document without the amounts: another payer gives another digest.
    #[serde(rename = "rest")]
    pub amountless_digest: Option<Digest>,
    #[serde(rename = "stake")]
    pub exposure: Exposure,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningTotals {
    /// In minor units.
    pub money: BTreeMap<Currency, i64>,
    pub deletes: u32,
    pub emails: u32,
}

impl RunningTotals {
    pub fn add(&mut self, stake: &Exposure) {
        self.apply(stake, i64::saturating_add, u32::saturating_add);
    }

    /// Subtracts an exposure that was counted and did not happen.
    pub fn subtract(&mut self, stake: &Exposure) {
        self.apply(stake, |sum, amount| sum.saturating_sub(amount).max(0), u32::saturating_sub);
    }

    fn apply(&mut self, stake: &Exposure, money: fn(i64, i64) -> i64, count: fn(u32, u32) -> u32) {
        for (currency, amount) in stake.sums() {
            let sum = self.money.entry(currency).or_default();
            *sum = money(*sum, amount);
        }
        self.deletes = count(self.deletes, stake.counts.deletes);
        self.emails = count(self.emails, stake.counts.emails);
    }

    pub fn sum(&self, currency: Currency) -> i64 {
        self.money.get(&currency).copied().unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MoneyMove {
    pub amount: Money,
    pub mode: Mode,
    /// The kind of the movement: `invoiced`, `charged_now`, `collected_per_occurrence`. Money into
    /// a trust account has a meaning of its own, so that sums keep it apart.
    pub meaning: &'static str,
}

/// Quantities besides money that limits count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExposureCounts {
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deletes: u32,
    /// E-mails that the service sends for the effect, one for each address.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub emails: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
pub(crate) fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Kind of the keys of actions in the journal. No document is of this kind.
pub const ACTION: &str = "Action";

/// One requested change. Its name is its identity, for ever: the same name never does a second
/// thing. `Debug` leaves the fields out: a signature is a secret.
#[derive(Clone, PartialEq, Serialize, Deserialize, derive_more::Debug)]
#[debug("Action({verb} at {merchant})")]
pub struct Action {
    /// The action's row in the register, such as `refund`.
    pub verb: String,
    pub merchant: Key,
    /// The action's name; derived from its content by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    pub fields: Value,
}

impl Action {
    /// Returns the key of an action of this name; it has the namespace of its merchant.
    pub fn key(merchant: &Key, name: &Name) -> Key {
        Key::new(Kind::new(ACTION), &merchant.namespace, name)
    }
}

pub fn is_action(key: &Key) -> bool {
    key.kind.as_str() == ACTION
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemoteGet {
    pub merchant: Key,
    pub read: String,
    pub parameters: Vec<String>,
    pub query: Vec<(String, String)>,
    pub body: Option<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stake(moves: &[(i64, &'static str)]) -> Exposure {
        let moves: Vec<MoneyMove> = moves
            .iter()
            .map(|(minor, meaning)| MoneyMove {
                amount: Money::new(*minor, Currency::USD),
                mode: Mode::Test,
                meaning,
            })
            .collect();
        Exposure::new(&moves, ExposureCounts { deletes: 1, emails: 2 })
    }

    #[test]
    fn a_schedule_counts_once_and_a_charge_now_counts_instead_of_it() {
        let usd = |stake: Exposure| stake.sums().get(&Currency::USD).copied();
        assert_eq!(usd(stake(&[(500, "collected_per_occurrence_into_trust")])), Some(500));
        assert_eq!(
            usd(stake(&[(700, "charged_now"), (500, "collected_per_occurrence")])),
            Some(700)
        );
        assert_eq!(usd(stake(&[(-300, "refunded"), (300, "charged")])), Some(600));
        assert_eq!(usd(stake(&[])), None);
    }

    #[test]
    fn what_is_given_back_is_what_was_counted() {
        let mut tally = RunningTotals::default();
        tally.add(&stake(&[(700, "charged")]));
        tally.add(&stake(&[(100, "charged")]));
        tally.subtract(&stake(&[(700, "charged")]));
        assert_eq!((tally.sum(Currency::USD), tally.deletes, tally.emails), (100, 1, 2));
    }
}

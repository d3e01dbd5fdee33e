//! Faults on demand: lost answers, errors, delays, resets, throttling.
//!
//! Faults strike only the emulated service, never a control path. The seed decides which requests
//! they strike, so the same scenario has the same faults.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::base::hash::keyed_digest;
use crate::sandbox::answer::{Result, SandboxRefusal};

pub(crate) const FAULTS: &str = "meta/faults";

/// Marks, in an answer's extensions, an answer that must not arrive. A server closes the connection
/// instead of sending it; an in-process transport turns it into an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    /// The effect was performed; the answer is lost.
    Answer,
    /// The connection broke before anything was done.
    Connection,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FaultKind {
    /// Performs the effect, loses the answer.
    DropAfter,
    /// Answers an error, performs nothing.
    ErrorBefore,
    /// Performs the effect, answers an error.
    ErrorAfter,
    Delay,
    /// Breaks the connection, performs nothing.
    Reset,
    /// Answers 429, or another status, with `Retry-After`; performs nothing.
    Throttle,
    WebhookLost,
    WebhookDoubled,
    /// Holds a webhook back until later ones have arrived.
    WebhookReordered,
}

impl FaultKind {
    /// Every fault, with its meaning for people.
    pub(crate) const ALL: [(Self, &'static str); 9] = [
        (Self::DropAfter, "does the work, loses the answer"),
        (Self::ErrorBefore, "answers an error, does nothing"),
        (Self::ErrorAfter, "does the work, answers an error"),
        (Self::Delay, "answers late"),
        (Self::Reset, "breaks the connection, does nothing"),
        (Self::Throttle, "answers 429 with Retry-After, does nothing"),
        (Self::WebhookLost, "sends a webhook never"),
        (Self::WebhookDoubled, "sends a webhook twice"),
        (Self::WebhookReordered, "sends a webhook after later ones"),
    ];

    /// Returns the word of orders and lists.
    pub(crate) fn word(self) -> String {
        let word = serde_json::to_value(self).ok();
        word.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn is_of_webhooks(self) -> bool {
        matches!(self, Self::WebhookLost | Self::WebhookDoubled | Self::WebhookReordered)
    }

    pub(crate) fn copies(self) -> usize {
        if self == Self::WebhookLost {
            return 0;
        }
        if self == Self::WebhookDoubled { 2 } else { 1 }
    }

    /// Returns the way in which the answer does not arrive.
    pub(crate) fn dropped(self) -> Option<Dropped> {
        let after = (self == Self::DropAfter).then_some(Dropped::Answer);
        after.or_else(|| (self == Self::Reset).then_some(Dropped::Connection))
    }
}

const MILLION: u32 = 1_000_000;

#[skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FaultRule {
    pub(crate) id: String,
    method: Option<String>,
    /// Prefix of the path.
    path: Option<String>,
    #[serde(rename = "fault")]
    pub(crate) kind: FaultKind,
    pub(crate) status: Option<u16>,
    /// Duration of a delay, or the `Retry-After` of a throttled request.
    pub(crate) delay_ms: Option<u64>,
    /// Share of the matching requests that it strikes, in millionths.
    per_million: u32,
    seed: u64,
    /// Maximum number of strikes.
    times: Option<u64>,
    /// Matching requests so far.
    seen: u64,
    struck: u64,
}

impl FaultRule {
    /// Parses a rule: `{"method","path","fault","status","delay_ms","probability","seed","times"}`.
    /// 400 for a field that makes no sense, since it would mislead a test.
    pub(crate) fn read(id: String, order: &Value) -> Result<Self> {
        let kind = FaultKind::deserialize(order.get("fault").unwrap_or(&Value::Null))
            .map_err(|_| SandboxRefusal::invalid("Unknown fault"))?;
        let given = order.get("probability").filter(|value| !value.is_null());
        let per_million = given.map_or(Some(MILLION), probability);
        let per_million = per_million.ok_or_else(|| SandboxRefusal::invalid("Bad probability"))?;
        let text = |name: &str| typed::<String>(order, name, "a text");
        let number = |name: &str| typed::<u64>(order, name, "a whole number");
        Ok(Self {
            id,
            method: text("method")?.map(|method| method.to_uppercase()),
            path: text("path")?,
            kind,
            status: number("status")?.map(status).transpose()?,
            delay_ms: number("delay_ms")?,
            per_million,
            seed: number("seed")?.unwrap_or(0),
            times: number("times")?,
            seen: 0,
            struck: 0,
        })
    }

    /// Returns true if the fault strikes this request. Counts every matching request.
    fn strikes(&mut self, method: &str, path: &str) -> bool {
        let matches = self.method.as_deref().is_none_or(|own| own == method)
            && self.path.as_deref().is_none_or(|own| path.starts_with(own))
            && self.times.is_none_or(|times| self.struck < times);
        if !matches {
            return false;
        }
        self.seen = self.seen.saturating_add(1);
        let strikes = self.draw() < self.per_million;
        self.struck = self.struck.saturating_add(u64::from(strikes));
        strikes
    }

    /// Draws a number below a million from the seed and the count.
    fn draw(&self) -> u32 {
        let mut key = [0_u8; 32];
        key.iter_mut().zip(self.seed.to_be_bytes()).for_each(|(slot, byte)| *slot = byte);
        let digest = keyed_digest(&key, "fault", &self.seen.to_be_bytes());
        let bytes = digest.as_bytes().first_chunk::<4>().copied().unwrap_or_default();
        u32::from_be_bytes(bytes).checked_rem(MILLION).unwrap_or(0)
    }

    pub(crate) fn show(&self) -> Value {
        let probability = decimal(self.per_million);
        let mut shown = serde_json::to_value(self).unwrap_or_else(|_| json!({}));
        if let Some(map) = shown.as_object_mut() {
            map.shift_remove("per_million");
            map.insert("probability".to_owned(), Value::String(probability));
        }
        shown
    }
}

/// Returns the first fault that strikes this request, or a webhook to a URL with this path.
pub(crate) fn pick(
    faults: &mut [FaultRule],
    is_webhook: bool,
    method: &str,
    path: &str,
) -> Option<FaultRule> {
    let mut faults = faults.iter_mut().filter(|fault| fault.kind.is_of_webhooks() == is_webhook);
    faults.find_map(|fault| fault.strikes(method, path).then(|| fault.clone()))
}

/// Returns a field of an order; `what` names its type in the refusal of another.
fn typed<T: DeserializeOwned>(order: &Value, name: &str, what: &str) -> Result<Option<T>> {
    let value = order.get(name).cloned().map(serde_json::from_value).transpose();
    value.map_err(|_| SandboxRefusal::invalid(&format!("`{name}` is {what}")))
}

fn status(number: u64) -> Result<u16> {
    let status = u16::try_from(number).ok().filter(|status| (200..600).contains(status));
    status.ok_or_else(|| SandboxRefusal::invalid("`status` is between 200 and 599"))
}

/// Parses a number from 0 to 1, or its text, in millionths.
fn probability(value: &Value) -> Option<u32> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let digits: String = part.chars().chain(std::iter::repeat('0')).take(6).collect();
    let whole = whole.parse::<u32>().ok()?.checked_mul(MILLION)?;
    let parts = whole.checked_add(digits.parse::<u32>().ok()?)?;
    (parts <= MILLION).then_some(parts)
}

fn decimal(per_million: u32) -> String {
    let whole = per_million.checked_div(MILLION).unwrap_or(0);
    let part = per_million.checked_rem(MILLION).unwrap_or(0);
    format!("{whole}.{part:06}")
}

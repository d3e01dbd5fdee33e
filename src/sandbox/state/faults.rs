//! Faults on demand: lost answers, errors, delays, resets, throttling.
//!
//! Faults strike only the emulated service, never a control path. The seed decides which requests
//! they strike, so the same scenario has the same faults.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

/// Types of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FaultKind {
    /// Performs the effect, loses the answer.
    DropAfter,
    /// Answers an error, performs nothing.
    ErrorBefore,
    /// Performs the effect, answers an error.
    ErrorAfter,
    /// Delays the answer.
    Delay,
    /// Breaks the connection, performs nothing.
    Reset,
    /// Answers 429, or another status, with `Retry-After`; performs nothing.
    Throttle,
    /// Loses an attempt to deliver a webhook.
    WebhookLost,
    /// Delivers a webhook twice.
    WebhookDoubled,
    /// Holds a webhook back until later ones have arrived.
    WebhookReordered,
}

impl FaultKind {
    /// Returns true for a fault that strikes webhooks, not requests.
    fn is_of_webhooks(self) -> bool {
        match self {
            Self::WebhookLost | Self::WebhookDoubled | Self::WebhookReordered => true,
            Self::DropAfter
            | Self::ErrorBefore
            | Self::ErrorAfter
            | Self::Delay
            | Self::Reset
            | Self::Throttle => false,
        }
    }

    /// Returns the number of copies of a webhook that are sent.
    pub(crate) fn copies(self) -> usize {
        match self {
            Self::WebhookLost => 0,
            Self::WebhookDoubled => 2,
            Self::WebhookReordered
            | Self::DropAfter
            | Self::ErrorBefore
            | Self::ErrorAfter
            | Self::Delay
            | Self::Reset
            | Self::Throttle => 1,
        }
    }
}

const MILLION: u32 = 1_000_000;

/// A fault rule.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FaultRule {
    pub(crate) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// Prefix of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(rename = "fault")]
    pub(crate) kind: FaultKind,
    /// Status of an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// Duration of a delay, or the `Retry-After` of a throttled request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delay_ms: Option<u64>,
    /// Share of the matching requests that it strikes, in millionths.
    per_million: u32,
    seed: u64,
    /// Maximum number of strikes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<u64>,
    /// Matching requests so far.
    seen: u64,
    /// Struck requests so far.
    struck: u64,
}

impl FaultRule {
    /// Parses a rule: `{"method","path","fault","status","delay_ms","probability","seed","times"}`.
    ///
    /// # Errors
    ///
    /// 400 for a field that makes no sense. A rule that does something other than it says misleads
    /// a test.
    pub(crate) fn read(id: String, order: &Value) -> Result<Self> {
        let word = order.get("fault").cloned().unwrap_or(Value::Null);
        let trouble =
            serde_json::from_value(word).map_err(|_| SandboxRefusal::invalid("Unknown fault"))?;
        let per_million = match order.get("probability") {
            None | Some(Value::Null) => MILLION,
            Some(value) => {
                probability(value).ok_or_else(|| SandboxRefusal::invalid("Bad probability"))?
            }
        };
        Ok(Self {
            id,
            method: text(order, "method")?.map(|method| method.to_uppercase()),
            path: text(order, "path")?,
            kind: trouble,
            status: number(order, "status")?.map(status).transpose()?,
            delay_ms: number(order, "delay_ms")?,
            per_million,
            seed: number(order, "seed")?.unwrap_or(0),
            times: number(order, "times")?,
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
        for (slot, byte) in key.iter_mut().zip(self.seed.to_be_bytes()) {
            *slot = byte;
        }
        let digest = keyed_digest(&key, "fault", &self.seen.to_be_bytes());
        let bytes = digest.as_bytes().first_chunk::<4>().copied().unwrap_or_default();
        u32::from_be_bytes(bytes).checked_rem(MILLION).unwrap_or(0)
    }

    /// Renders the rule and its counts, for people.
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

/// Returns the first fault that strikes this request.
pub(crate) fn pick(faults: &mut [FaultRule], method: &str, path: &str) -> Option<FaultRule> {
    let mut faults = faults.iter_mut().filter(|fault| !fault.kind.is_of_webhooks());
    faults.find_map(|fault| fault.strikes(method, path).then(|| fault.clone()))
}

/// Returns the first fault that strikes a webhook to a URL with this path.
pub(crate) fn pick_for_delivery(faults: &mut [FaultRule], path: &str) -> Option<FaultRule> {
    let mut faults = faults.iter_mut().filter(|fault| fault.kind.is_of_webhooks());
    faults.find_map(|fault| fault.strikes("POST", path).then(|| fault.clone()))
}

fn text(order: &Value, name: &str) -> Result<Option<String>> {
    let Some(value) = order.get(name) else {
        return Ok(None);
    };
    let wrong = || SandboxRefusal::invalid(&format!("`{name}` is a text"));
    value.as_str().map(|text| Some(text.to_owned())).ok_or_else(wrong)
}

fn number(order: &Value, name: &str) -> Result<Option<u64>> {
    let Some(value) = order.get(name) else {
        return Ok(None);
    };
    value
        .as_u64()
        .map(Some)
        .ok_or_else(|| SandboxRefusal::invalid(&format!("`{name}` is a whole number")))
}

/// Parses a status that a server can answer with.
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

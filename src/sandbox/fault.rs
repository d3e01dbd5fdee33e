//! Trouble on order: lost answers, errors, delays, resets, throttling.
//!
//! Faults strike the emulated service alone, never a control path. Which requests they strike follows
//! from their seed, so that the same story has the same trouble.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::hash::keyed;
use crate::sandbox::refusal::Refusal;

/// In an answer's extensions: this answer must not arrive. A server closes the connection instead of
/// sending it; an in-process transport makes it an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    /// The effect was performed; the answer is lost.
    Answer,
    /// The connection broke before anything was done.
    Connection,
}

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trouble {
    /// Perform the effect, lose the answer.
    DropAfter,
    /// Answer an error, perform nothing.
    ErrorBefore,
    /// Perform the effect, answer an error.
    ErrorAfter,
    /// Answer later.
    Delay,
    /// Break the connection, perform nothing.
    Reset,
    /// 429, or another status, with `Retry-After`; perform nothing.
    Throttle,
    /// An attempt at a notification reaches nobody.
    WebhookLost,
    /// A notification arrives twice.
    WebhookDoubled,
    /// A notification waits until later ones have arrived.
    WebhookReordered,
}

impl Trouble {
    /// Does it strike notifications, not requests?
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

    /// How many copies of a notification go out.
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

/// One order of trouble.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Fault {
    pub(crate) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// A prefix of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(rename = "fault")]
    pub(crate) trouble: Trouble,
    /// The status of an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// How long a delay lasts, or how long a throttled caller is told to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delay_ms: Option<u64>,
    /// Parts in a million of the matching requests that it strikes.
    per_million: u32,
    seed: u64,
    /// How often it strikes at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<u64>,
    /// Requests that matched so far.
    seen: u64,
    /// Requests that it struck so far.
    struck: u64,
}

impl Fault {
    /// Reads an order: `{"method","path","fault","status","delay_ms","probability","seed","times"}`. Errors: 400
    /// for a field that makes no sense, since an order that does something else than it says misleads a test.
    pub(crate) fn read(id: String, order: &Value) -> Result<Self, Refusal> {
        let word = order.get("fault").cloned().unwrap_or(Value::Null);
        let trouble =
            serde_json::from_value(word).map_err(|_| Refusal::invalid("Unknown fault"))?;
        let per_million = match order.get("probability") {
            None | Some(Value::Null) => MILLION,
            Some(value) => probability(value).ok_or_else(|| Refusal::invalid("Bad probability"))?,
        };
        Ok(Self {
            id,
            method: text(order, "method")?.map(|method| method.to_uppercase()),
            path: text(order, "path")?,
            trouble,
            status: number(order, "status")?.map(status).transpose()?,
            delay_ms: number(order, "delay_ms")?,
            per_million,
            seed: number(order, "seed")?.unwrap_or(0),
            times: number(order, "times")?,
            seen: 0,
            struck: 0,
        })
    }

    /// Does it strike this request? Counts it either way, if it matches.
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

    /// A number below a million, from the seed and the count.
    fn draw(&self) -> u32 {
        let mut key = [0_u8; 32];
        for (slot, byte) in key.iter_mut().zip(self.seed.to_be_bytes()) {
            *slot = byte;
        }
        let digest = keyed(&key, "fault", &self.seen.to_be_bytes());
        let bytes = digest.as_bytes().first_chunk::<4>().copied().unwrap_or_default();
        u32::from_be_bytes(bytes).checked_rem(MILLION).unwrap_or(0)
    }

    /// The order as it stands, for people.
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

/// The first fault that strikes this request.
pub(crate) fn pick(faults: &mut [Fault], method: &str, path: &str) -> Option<Fault> {
    let mut faults = faults.iter_mut().filter(|fault| !fault.trouble.is_of_webhooks());
    faults.find_map(|fault| fault.strikes(method, path).then(|| fault.clone()))
}

/// The first fault that strikes a notification to a URL of this path.
pub(crate) fn pick_for_delivery(faults: &mut [Fault], path: &str) -> Option<Fault> {
    let mut faults = faults.iter_mut().filter(|fault| fault.trouble.is_of_webhooks());
    faults.find_map(|fault| fault.strikes("POST", path).then(|| fault.clone()))
}

fn text(order: &Value, name: &str) -> Result<Option<String>, Refusal> {
    let Some(value) = order.get(name) else {
        return Ok(None);
    };
    let wrong = || Refusal::invalid(&format!("`{name}` is a text"));
    value.as_str().map(|text| Some(text.to_owned())).ok_or_else(wrong)
}

fn number(order: &Value, name: &str) -> Result<Option<u64>, Refusal> {
    let Some(value) = order.get(name) else {
        return Ok(None);
    };
    value.as_u64().map(Some).ok_or_else(|| Refusal::invalid(&format!("`{name}` is a whole number")))
}

/// A status that a server can answer with.
fn status(number: u64) -> Result<u16, Refusal> {
    let status = u16::try_from(number).ok().filter(|status| (200..600).contains(status));
    status.ok_or_else(|| Refusal::invalid("`status` is between 200 and 599"))
}

/// A number from 0 to 1, or its text, in parts of a million.
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

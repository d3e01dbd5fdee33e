//! Storms: for minutes the service answers only 429, 503 or 401, or breaks every connection.

use std::fmt;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};

use crate::api::LostReplyMarker;
use crate::sim::actors::merchant_commands;
use crate::sim::faults::call_fault::{CALLS, CallFault, READ};
use crate::sim::world::dice::Dice;

/// Changes that use a one-time token: a storm that outlives the token leaves them in doubt.
const BY_TOKEN: [&str; 3] = ["card.change", "bank.change", "recurring.change"];

/// Calls with a merchant's credential.
const OF_MERCHANTS: [&str; 6] = [
    "contact.create",
    "invoice.create",
    "card.save",
    "bank.save",
    "card.change",
    "recurring.create",
];

/// Answer of the service in a storm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StormAnswer {
    /// 429, with a wait in seconds or without one.
    Throttled(Option<u64>),
    /// 503.
    Error,
    /// The connection breaks.
    Reset,
    /// 401: the credential is refused.
    Refused,
}

/// Calls that a storm meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StormScope {
    /// All calls.
    All,
    /// Calls with the credential of the call with which the storm began.
    Caller,
    /// Calls beyond this number within one second.
    Beyond(u32),
}

/// One storm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storm {
    /// Effect of the call that starts the storm.
    pub effect: &'static str,
    /// Number of that call among those of its effect, from 1.
    pub nth: u32,
    /// Set if the storm also meets that call, and not only later ones.
    pub with_it: bool,
    /// Duration in seconds.
    pub seconds: u64,
    pub scope: StormScope,
    pub answer: StormAnswer,
}

/// Draws the storms of a seed.
pub(crate) fn draw_storms(dice: &mut Dice) -> Vec<Storm> {
    let count = if dice.percent(35) { dice.between(1, 2) } else { 0 };
    (0..count).map(|_| draw_storm(dice)).collect()
}

fn draw_storm(dice: &mut Dice) -> Storm {
    if dice.percent(15) {
        return draw_refusal(dice);
    }
    let gust = if dice.percent(50) { StormAnswer::Error } else { StormAnswer::Reset };
    if dice.percent(60) {
        let effect = dice.pick(&BY_TOKEN).copied().unwrap_or(READ);
        let (nth, seconds) = (u32::from(dice.percent(30)), dice.between(330, 900));
        let nth = nth.saturating_add(1);
        let with_it = dice.percent(75);
        return Storm { effect, nth, with_it, seconds, scope: StormScope::All, answer: gust };
    }
    let (effect, most) = if dice.percent(50) {
        (dice.pick(&start_effects()).copied().unwrap_or(READ), 3)
    } else {
        (READ, 30)
    };
    let nth = u32::try_from(dice.between(1, most)).unwrap_or(1);
    let (with_it, seconds) = (dice.percent(50), dice.between(20, 600));
    if dice.percent(35) {
        return Storm { effect, nth, with_it, seconds, scope: StormScope::All, answer: gust };
    }
    let gust = StormAnswer::Throttled(dice.percent(50).then(|| dice.between(1, 90)));
    let whose = match dice.below(3) {
        0 => StormScope::All,
        1 => StormScope::Caller,
        _ => StormScope::Beyond(u32::try_from(dice.between(1, 4)).unwrap_or(1)),
    };
    Storm { effect, nth, with_it, seconds, scope: whose, answer: gust }
}

/// Returns the effects that may start a storm. Rare effects are left to the storms that other
/// effects start.
fn start_effects() -> Vec<&'static str> {
    let all = CALLS.iter().map(|(effect, _, _)| *effect);
    all.filter(|effect| !merchant_commands::EFFECTS.contains(effect)).collect()
}

/// Draws a storm in which a merchant's credential is refused for a while.
fn draw_refusal(dice: &mut Dice) -> Storm {
    let effect = dice.pick(&OF_MERCHANTS).copied().unwrap_or(READ);
    let nth = u32::try_from(dice.between(1, 3)).unwrap_or(1);
    let (with_it, seconds) = (dice.percent(50), dice.between(30, 2_400));
    Storm { effect, nth, with_it, seconds, scope: StormScope::Caller, answer: StormAnswer::Refused }
}

impl StormAnswer {
    /// Returns the fault as which the answer counts.
    pub(crate) fn fault(self) -> CallFault {
        match self {
            Self::Throttled(_) => CallFault::Throttle,
            Self::Error | Self::Refused => CallFault::ErrorBefore,
            Self::Reset => CallFault::Reset,
        }
    }
}

/// Returns the answer itself.
pub(crate) fn response(gust: StormAnswer) -> Response {
    let mut response = Response::new(Body::empty());
    match gust {
        StormAnswer::Throttled(asked) => {
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            let asked = asked.map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds)));
            response.headers_mut().extend(asked);
        }
        StormAnswer::Error => *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE,
        StormAnswer::Refused => *response.status_mut() = StatusCode::UNAUTHORIZED,
        StormAnswer::Reset => drop(response.extensions_mut().insert(LostReplyMarker)),
    }
    response
}

impl fmt::Display for Storm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { effect, nth, with_it, seconds, scope: whose, answer: gust } = self;
        let begins = if *with_it { "with" } else { "after" };
        write!(f, "{begins} {effect} number {nth}, for {seconds} s, ")?;
        match whose {
            StormScope::All => f.write_str("all calls: ")?,
            StormScope::Caller => f.write_str("all calls with its credential: ")?,
            StormScope::Beyond(most) => write!(f, "calls beyond {most} a second: ")?,
        }
        match gust {
            StormAnswer::Throttled(Some(asked)) => write!(f, "429, retry after {asked} s"),
            StormAnswer::Throttled(None) => f.write_str("429"),
            StormAnswer::Error => f.write_str("503"),
            StormAnswer::Reset => f.write_str("the connection breaks"),
            StormAnswer::Refused => f.write_str("401"),
        }
    }
}

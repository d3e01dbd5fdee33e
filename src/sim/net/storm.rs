//! Storms: for minutes the service answers only 429, 503 or 401, or breaks every connection.

use std::fmt;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};

use crate::api::DroppedAnswer;
use crate::sim::dice::Dice;
use crate::sim::faults::{CALLS, Fault, READ};
use crate::sim::till;

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
pub enum Gust {
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
pub enum Whose {
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
    pub whose: Whose,
    pub gust: Gust,
}

/// Draws the storms of a seed.
pub(super) fn storms(dice: &mut Dice) -> Vec<Storm> {
    let count = if dice.percent(35) { dice.between(1, 2) } else { 0 };
    (0..count).map(|_| storm(dice)).collect()
}

fn storm(dice: &mut Dice) -> Storm {
    if dice.percent(15) {
        return refusal(dice);
    }
    let gust = if dice.percent(50) { Gust::Error } else { Gust::Reset };
    if dice.percent(60) {
        let effect = dice.pick(&BY_TOKEN).copied().unwrap_or(READ);
        let (nth, seconds) = (u32::from(dice.percent(30)), dice.between(330, 900));
        let nth = nth.saturating_add(1);
        let with_it = dice.percent(75);
        return Storm { effect, nth, with_it, seconds, whose: Whose::All, gust };
    }
    let (effect, most) = if dice.percent(50) {
        (dice.pick(&common()).copied().unwrap_or(READ), 3)
    } else {
        (READ, 30)
    };
    let nth = u32::try_from(dice.between(1, most)).unwrap_or(1);
    let (with_it, seconds) = (dice.percent(50), dice.between(20, 600));
    if dice.percent(35) {
        return Storm { effect, nth, with_it, seconds, whose: Whose::All, gust };
    }
    let gust = Gust::Throttled(dice.percent(50).then(|| dice.between(1, 90)));
    let whose = match dice.below(3) {
        0 => Whose::All,
        1 => Whose::Caller,
        _ => Whose::Beyond(u32::try_from(dice.between(1, 4)).unwrap_or(1)),
    };
    Storm { effect, nth, with_it, seconds, whose, gust }
}

/// Returns the effects that may start a storm. Rare effects are left to the storms that other
/// effects start.
fn common() -> Vec<&'static str> {
    let all = CALLS.iter().map(|(effect, _, _)| *effect);
    all.filter(|effect| !till::EFFECTS.contains(effect)).collect()
}

/// Draws a storm in which a merchant's credential is refused for a while.
fn refusal(dice: &mut Dice) -> Storm {
    let effect = dice.pick(&OF_MERCHANTS).copied().unwrap_or(READ);
    let nth = u32::try_from(dice.between(1, 3)).unwrap_or(1);
    let (with_it, seconds) = (dice.percent(50), dice.between(30, 2_400));
    Storm { effect, nth, with_it, seconds, whose: Whose::Caller, gust: Gust::Refused }
}

impl Gust {
    /// Returns the fault as which the answer counts.
    pub(super) fn fault(self) -> Fault {
        match self {
            Self::Throttled(_) => Fault::Throttle,
            Self::Error | Self::Refused => Fault::ErrorBefore,
            Self::Reset => Fault::Reset,
        }
    }
}

/// Returns the answer itself.
pub(super) fn answer(gust: Gust) -> Response {
    let mut response = Response::new(Body::empty());
    match gust {
        Gust::Throttled(asked) => {
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            let asked = asked.map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds)));
            response.headers_mut().extend(asked);
        }
        Gust::Error => *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE,
        Gust::Refused => *response.status_mut() = StatusCode::UNAUTHORIZED,
        Gust::Reset => drop(response.extensions_mut().insert(DroppedAnswer)),
    }
    response
}

impl fmt::Display for Storm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { effect, nth, with_it, seconds, whose, gust } = self;
        let begins = if *with_it { "with" } else { "after" };
        write!(f, "{begins} {effect} number {nth}, for {seconds} s, ")?;
        match whose {
            Whose::All => f.write_str("all calls: ")?,
            Whose::Caller => f.write_str("all calls with its credential: ")?,
            Whose::Beyond(most) => write!(f, "calls beyond {most} a second: ")?,
        }
        match gust {
            Gust::Throttled(Some(asked)) => write!(f, "429, come again in {asked} s"),
            Gust::Throttled(None) => f.write_str("429"),
            Gust::Error => f.write_str("503"),
            Gust::Reset => f.write_str("the connection breaks"),
            Gust::Refused => f.write_str("401"),
        }
    }
}

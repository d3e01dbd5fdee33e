//! Chance in a run: the seeded dice, the faults between us and the service, call by call, and the
//! crashes of the machine at chosen points.

use std::fmt;

use derive_more::Display;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::Value;

use crate::effects::register::EFFECTS;

/// A way in which one call fails.
#[derive(Debug, Display, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallFault {
    /// The effect happens, and the answer is lost.
    #[display("lost answer")]
    LostAnswer,
    /// The service answers 500, and the effect does not happen.
    #[display("error before")]
    ErrorBefore,
    /// The effect happens, and the service answers 500.
    #[display("error after")]
    ErrorAfter,
    /// The effect happens, and the answer arrives after the caller has given up.
    #[display("late answer")]
    LateAnswer,
    /// The effect happens after the caller has given up, within the grace.
    #[display("late effect")]
    LateEffect,
    /// The connection breaks before the service gets the request.
    #[display("reset before")]
    Reset,
    /// The service answers 429 with `Retry-After`, and the effect does not happen.
    #[display("throttled")]
    Throttle,
    /// The effect happens, and the answer names another amount.
    #[display("other amount")]
    OtherAmount,
}

pub const FAULTS: &[CallFault] = &[
    CallFault::LostAnswer,
    CallFault::ErrorBefore,
    CallFault::ErrorAfter,
    CallFault::LateAnswer,
    CallFault::LateEffect,
    CallFault::Reset,
    CallFault::Throttle,
    CallFault::OtherAmount,
];

/// Name of a call that changes nothing.
pub const READ: &str = "read";

/// Effects with an amount in the answer, and its field.
pub const AMOUNTS: &[(&str, &str)] = &[
    ("invoice.create", "total_amount"),
    ("recurring.create", "amount"),
    ("recurring.change", "amount"),
    ("charge.recur", "amount"),
    ("charge.create", "amount"),
    ("charge.capture", "amount"),
    ("charge.refund", "amount"),
    ("credit.create", "amount"),
    ("occurrence.pay", "amount"),
    ("charge.schedule", "amount"),
];

/// Returns the effect of a request, or `None` for a request that we must never send.
pub fn effect_of(method: &str, path: &str) -> Option<&'static str> {
    if method == "GET" {
        return Some(READ);
    }
    let fits = |pattern: &str| {
        let (wanted, parts) = (pattern.split('/'), path.split('/'));
        let mut both = wanted.clone().zip(parts.clone()).skip(1);
        wanted.count() == parts.count()
            && both.all(
                |(wanted, part)| {
                    if wanted.starts_with('{') { !part.is_empty() } else { wanted == part }
                },
            )
    };
    EFFECTS.iter().find(|row| row.method.as_str() == method && fits(row.path)).map(|row| row.name)
}

/// Returns the effect of a request, also by its body: a charge that begins a recurring charge is an
/// effect of its own.
pub fn effect_of_call(method: &str, path: &str, body: &[u8]) -> Option<&'static str> {
    let effect = effect_of(method, path);
    if effect != Some("charge.recur") {
        return effect;
    }
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let recurs = body.get("recur").is_some_and(|recur| !recur.is_null());
    Some(if recurs { "charge.recur" } else { "charge.create" })
}

impl CallFault {
    /// Returns true if the fault can strike a call of this effect.
    pub fn strikes(self, effect: &str) -> bool {
        match self {
            Self::OtherAmount => AMOUNTS.iter().any(|(name, _)| *name == effect),
            Self::LateEffect => effect != READ,
            Self::LostAnswer
            | Self::ErrorBefore
            | Self::ErrorAfter
            | Self::LateAnswer
            | Self::Reset
            | Self::Throttle => true,
        }
    }
}

/// A fault that strikes one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strike {
    pub effect: &'static str,
    /// Number of the call among those of its effect, from 1; 0 for every call.
    pub nth: u32,
    pub fault: CallFault,
    /// Duration of the fault, in seconds, if it takes time.
    pub seconds: u64,
}

impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { effect, nth, fault, seconds } = self;
        match nth {
            0 => write!(f, "{effect} every time: {fault} ({seconds} s)"),
            nth => write!(f, "{effect} number {nth}: {fault} ({seconds} s)"),
        }
    }
}

/// Returns the effect of a request where the path alone is ambiguous: a change of nothing but the
/// schedule's last day ends a recurring charge.
pub(crate) fn refine_effect(effect: Option<&'static str>, body: &[u8]) -> Option<&'static str> {
    if effect != Some("recurring.change") {
        return effect;
    }
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let is_alone = |object: &Value, field: &str| {
        object.as_object().is_some_and(|fields| fields.len() == 1 && fields.contains_key(field))
    };
    let ends = is_alone(&body, "schedule")
        && body.get("schedule").is_some_and(|schedule| is_alone(schedule, "end"));
    if ends { Some("recurring.end") } else { effect }
}

#[derive(Debug, Display, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CrashSide {
    #[display("before")]
    Before,
    #[display("after")]
    After,
}

/// A place at which a process can die.
#[derive(Debug, Display, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[display("{when} {place}{}{effect}", if effect.is_empty() { "" } else { " " })]
pub struct CrashPoint {
    pub when: CrashSide,
    /// Operation at the place: `journal.write`, or `send` with the name of an effect.
    pub place: &'static str,
    /// Effect that is sent; empty for the disk.
    pub effect: &'static str,
}

#[derive(Debug, Display, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// The process alone dies: its writes reach the disk, and the index stays as it was.
    #[display("the process dies")]
    Process,
    /// The power fails: any part of the unsynced bytes may be lost, and the index is not trusted.
    #[display("the power fails")]
    Power,
}

/// A planned crash, counted from the last start of the machine.
#[derive(Debug, Display, Clone, Copy, PartialEq, Eq)]
#[display("{death} {point} number {nth}, down for {down_s} s")]
pub struct Crash {
    pub point: CrashPoint,
    /// Number of the passing of that place, from 1.
    pub nth: u32,
    pub death: Death,
    /// Seconds that the machine stays down.
    pub down_s: u64,
}

/// Crash points of the disk, with the number of times that a short life passes each.
pub const DISK_PLACES: &[(&str, u64)] = &[
    ("journal.write", 30),
    ("journal.sync", 30),
    ("journal.change", 2),
    ("vault.write", 8),
    ("vault.sync", 8),
    ("vault.change", 2),
];

/// Name of the crash point at the sending of a call.
pub const SEND_POINT: &str = "send";

/// Crash point at which a notification leaves the machine.
pub const NOTIFY_POINT: &str = "tell";

/// Generator of small decisions. Equal seeds and labels give equal decisions.
#[derive(Debug, Clone)]
pub(crate) struct Dice(ChaCha20Rng);

impl Dice {
    /// Returns the generator of one part of a run; each label has a sequence of its own.
    pub(crate) fn new(seed: u64, label: u64) -> Self {
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ label;
        Self(ChaCha20Rng::seed_from_u64(mixed))
    }

    pub(crate) fn into_rng(self) -> ChaCha20Rng {
        self.0
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64().checked_rem(end).unwrap_or(0)
    }

    /// Returns a number from `from` to `to`, both included.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        let span = to.saturating_sub(from).saturating_add(1);
        from.saturating_add(self.below(span))
    }

    /// Returns a number from `from` to `to`, both included, of a narrower type.
    pub(crate) fn number<T: TryFrom<u64> + Default>(&mut self, from: u64, to: u64) -> T {
        T::try_from(self.between(from, to)).unwrap_or_default()
    }

    /// Returns an index below `length`, or 0 if `length` is 0.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        usize::try_from(self.below(length)).unwrap_or(0)
    }

    /// Returns one of two values, each with the same probability.
    pub(crate) fn either<T>(&mut self, one: T, other: T) -> T {
        if self.percent(50) { one } else { other }
    }

    /// Returns true with a probability of `percent` in 100.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one element, or `None` if there is none.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.index(from.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_known_by_method_and_path() {
        assert_eq!(effect_of("POST", "/v1/cards"), Some("card.save"));
        assert_eq!(effect_of("DELETE", "/v1/cards/abc"), Some("card.delete"));
        assert_eq!(effect_of("GET", "/v1/cards"), Some(READ));
        assert_eq!(effect_of("POST", "/v1/charges"), Some("charge.recur"));
        assert_eq!(effect_of("POST", "/v1/charges/abc/schedule"), Some("charge.schedule"));
        assert_eq!(effect_of("POST", "/contacts"), Some("contact.create"));
        assert_eq!(effect_of("POST", "/contacts/p_1/files"), Some("file.upload"));
        assert_eq!(effect_of("PATCH", "/v1/recurring/charges/a"), Some("recurring.change"));
        let ignore = "/v1/recurring/charges/a/occurrences/b/ignore";
        assert_eq!(effect_of("POST", ignore), Some("occurrence.ignore"));
        assert_eq!(effect_of("PATCH", "/v1/merchant"), Some("merchant.change"));
        assert_eq!(effect_of("PATCH", "/v1/ach-accounts/a"), Some("ach_account.change"));
        assert_eq!(effect_of("POST", "/v1/merchant/purge-test-data"), Some("merchant.purge"));
        assert_eq!(effect_of("DELETE", "/v1/recurring/charges/a"), Some("recurring.delete"));
        assert_eq!(effect_of("POST", "/contacts/a/payment-methods"), Some("vault.save"));
        for (method, path) in [
            ("POST", "/v1/charges/"),
            ("PATCH", "/v1/cards"),
            ("DELETE", "/v1/cards/a/b"),
            ("DELETE", "/v1/cards/"),
        ] {
            assert_eq!(effect_of(method, path), None, "{method} {path}");
        }
    }

    #[test]
    fn a_last_day_is_set_by_a_change_of_nothing_else() {
        let told = |body: &str| refine_effect(Some("recurring.change"), body.as_bytes());
        assert_eq!(told(r#"{"schedule": {"end": "2030-01-01"}}"#), Some("recurring.end"));
        for other in [
            r#"{"schedule": {"end": "2030-01-01", "interval_delay": 1}}"#,
            r#"{"schedule": {"end": "2030-01-01"}, "amount": 1}"#,
            r#"{"amount": 1}"#,
            "",
        ] {
            assert_eq!(told(other), Some("recurring.change"), "{other}");
        }
        let end = br#"{"schedule": {"end": "2030-01-01"}}"#;
        assert_eq!(refine_effect(Some("recurring.create"), end), Some("recurring.create"));
    }
}

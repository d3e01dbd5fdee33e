//! Faults between us and the service, call by call, and crashes of the machine at chosen points.

use std::fmt;

use derive_more::Display;
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
    let same = |(wanted, part): (&str, &str)| {
        if wanted.starts_with('{') { !part.is_empty() } else { wanted == part }
    };
    let fits = |pattern: &str| {
        let (wanted, parts) = (pattern.split('/'), path.split('/'));
        wanted.clone().count() == parts.clone().count() && wanted.zip(parts).skip(1).all(same)
    };
    EFFECTS.iter().find(|row| row.method.as_str() == method && fits(row.path)).map(|row| row.name)
}

/// Returns the effect of a request, also by its body: `recur` makes a charge an effect of its own.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths are written here again, so that a mistake in an endpoint is found: the simulator takes
    /// its calls from the register, whose endpoints send them.
    #[test]
    fn every_effect_has_its_own_call_in_the_order_of_the_draws() {
        let calls = [
            ("application.submit", "POST", "/api/v1/merchant_applications"),
            ("application.sign_up", "POST", "/api/v1/merchant_applications/sign_up"),
            ("code.exchange", "POST", "/oauth/token"),
            ("contact.create", "POST", "/contacts"),
            ("invoice.create", "POST", "/invoices"),
            ("card.save", "POST", "/v1/cards"),
            ("card.change", "PATCH", "/v1/cards/a"),
            ("card.delete", "DELETE", "/v1/cards/a"),
            ("bank.save", "POST", "/v1/banks"),
            ("bank.change", "PATCH", "/v1/banks/a"),
            ("bank.delete", "DELETE", "/v1/banks/a"),
            ("token.create", "POST", "/v1/tokens"),
            ("recurring.create", "POST", "/v1/recurring/charges"),
            ("recurring.change", "PATCH", "/v1/recurring/charges/a"),
            ("charge.recur", "POST", "/v1/charges"),
            ("charge.schedule", "POST", "/v1/charges/a/schedule"),
            ("charge.create", "POST", "/v1/charges"),
            ("charge.capture", "POST", "/v1/charges/a/capture"),
            ("charge.refund", "POST", "/v1/charges/a/refund"),
            ("credit.create", "POST", "/v1/credits"),
            ("transaction.void", "POST", "/v1/transactions/a/void"),
            ("transaction.sign", "POST", "/v1/transactions/a/sign"),
            ("recurring.cancel", "POST", "/v1/recurring/charges/a/cancel"),
            ("recurring.end", "PATCH", "/v1/recurring/charges/a"),
            ("occurrence.pay", "POST", "/v1/recurring/charges/a/occurrences/b/pay"),
            ("occurrence.ignore", "POST", "/v1/recurring/charges/a/occurrences/b/ignore"),
            ("merchant.deauthorise", "DELETE", "/api/v1/merchants/a/deauthorize_application"),
            ("file.upload", "POST", "/contacts/a/files"),
            ("contact.hash", "POST", "/contacts/a/hash"),
            ("merchant.change", "PATCH", "/v1/merchant"),
            ("account.change", "PATCH", "/v1/accounts/a"),
            ("ach_account.change", "PATCH", "/v1/ach-accounts/a"),
            ("merchant.purge", "POST", "/v1/merchant/purge-test-data"),
            ("vault.save", "POST", "/contacts/a/payment-methods"),
            ("recurring.delete", "DELETE", "/v1/recurring/charges/a"),
        ];
        let names: Vec<&str> = calls.iter().map(|(name, ..)| *name).collect();
        assert_eq!(EFFECTS.iter().map(|row| row.name).collect::<Vec<_>>(), names);
        for (name, method, path) in calls {
            // The body, or the caller, tells these from the first effect with their path.
            let first = match name {
                "charge.create" => "charge.recur",
                "recurring.end" => "recurring.change",
                name => name,
            };
            assert_eq!(effect_of(method, path), Some(first), "{method} {path}");
        }
    }

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

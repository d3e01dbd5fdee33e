//! Hook runs: one execution of a script for one event: reads, action requests and kept values.
//!
//! Plain data. The same script, event and answers give the same run, so that runs can be compared.
//!
//! A notification can have a bound: a maximum count within a span of the events' own time.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use data_encoding::BASE32_NOPAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::hash::{Digest, canonical, sha256};
use crate::base::id::{Key, Name, NameError};

/// The verb of an action request that suspends a resource (the script function `suspend`).
pub const SUSPEND: &str = "suspend";
/// The verb of an action request that resumes a resource (the script function `resume`).
pub const RESUME: &str = "resume";
/// The verb of an action request that reconciles a resource at once.
pub const RECONCILE: &str = "reconcile";
/// The verb of an action request that sends a notification.
pub const NOTIFY: &str = "notify";
/// The field of an action in the journal with its sealed words, as `Vault::unseal_text` takes it.
pub const SEALED: &str = "$sealed";
/// The field beside it: true if the action's name is derived from its content, which is sealed.
pub const NAMED_BY_CONTENT: &str = "$named_by_content";

/// One action request of a run. No action is done before the whole run succeeded. `Debug` leaves
/// the fields out: they may hold a payer's own text.
#[serde_with::skip_serializing_none]
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, derive_more::Debug)]
#[debug("Wish({verb} {name})")]
pub struct ActionRequest {
    /// Chosen by the script, or derived from the content. One name does one thing, once.
    pub name: Name,
    /// A row of the register of actions, or one of the verbs above.
    pub verb: String,
    /// `None` where neither event nor script names one, as for a notification.
    pub merchant: Option<Key>,
    /// Arguments, as the verb requires them. Of `suspend`: `{key, reason, until?}`; of `resume` and
    /// `reconcile`: `{key}`; of `notify`: `{target, body, html?, subject?, to?}`. In the journal,
    /// words are sealed under [`SEALED`].
    pub fields: Value,
    pub at: Option<DateTime<Utc>>,
    pub at_most: Option<AtMost>,
    /// A digest of the request, where the script chose the name: the same name cannot request
    /// anything else. SHA-256, keyed with the vault's key where words are sealed.
    pub content: Option<Digest>,
}

/// Characters of the digest in a name that is derived from content.
const DIGEST_LENGTH: usize = 16;

impl ActionRequest {
    /// Derives a name where the script chose none: the verb, and a digest of everything else.
    ///
    /// # Errors
    /// The verb cannot begin a name.
    pub fn content_name(
        verb: &str,
        merchant: Option<&Key>,
        fields: &Value,
        at: Option<DateTime<Utc>>,
    ) -> Result<Name, NameError> {
        let content = canonical(&json!([verb, merchant, fields, at]));
        format!("{verb}-{}", name_digest(&content, DIGEST_LENGTH)).parse()
    }

    /// Adds the digest of the content, where the name is not derived from it.
    #[must_use]
    pub fn with_content_digest(self) -> Self {
        let content = (!self.is_named_by_content()).then(|| self.digest());
        Self { content, ..self }
    }

    fn digest(&self) -> Digest {
        let Self { name: _, verb, merchant, fields, at, at_most: _, content: _ } = self;
        sha256(&canonical(&json!([verb, merchant, fields, at])))
    }

    /// Returns whether another action of the same name requests the same. Records without digests,
    /// from older versions, count as equal.
    pub fn requests_same(&self, content: Option<Digest>) -> bool {
        content.is_none() || self.content.is_none() || self.content == content
    }

    pub fn is_named_by_content(&self) -> bool {
        if let Some(known) = self.fields.get(NAMED_BY_CONTENT).and_then(Value::as_bool) {
            return known;
        }
        let Self { name, verb, merchant, fields, at, at_most: _, content: _ } = self;
        Self::content_name(verb, merchant.as_ref(), fields, *at).is_ok_and(|made| made == *name)
    }
}

/// Returns the first characters of a digest in lower-case base 32, for a name.
pub(super) fn name_digest(content: &[u8], length: usize) -> String {
    let digest = BASE32_NOPAD.encode(sha256(content).as_bytes()).to_ascii_lowercase();
    digest.chars().take(length).collect()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookRead {
    /// The name of the read function, such as `transaction`.
    pub what: String,
    pub arguments: Value,
    /// SHA-256 of the answer as canonical JSON.
    pub answer: Digest,
}

/// One successful run. `Debug` leaves out the values that it read and kept.
#[derive(Clone, PartialEq, Serialize, Deserialize, derive_more::Debug)]
#[debug("Run({script}: {function}, {requests:?})")]
pub struct HookRun {
    /// The script: the name of its file without `.rhai`.
    pub script: String,
    pub function: String,
    /// SHA-256 of the script and of all its imports.
    pub hash: Digest,
    #[serde(rename = "wishes")]
    pub requests: Vec<ActionRequest>,
    pub kept: Vec<(String, Value)>,
    /// Additions to kept values, by key: whole numbers and amounts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<(String, Value)>,
    #[serde(rename = "looks")]
    pub reads: Vec<HookRead>,
    pub log: Vec<String>,
    pub operations: u64,
    /// The vault's name of the answers, in order; `None`: all are null, or too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
    /// The answers until they are sealed: with names and addresses, so in no journal.
    #[serde(skip)]
    pub answers: Vec<Value>,
}

pub const COUNT_MAX: u32 = 1000;
/// The newest ones of a key and length. An event of an older span sends no notification.
pub const SPANS_MAX: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtMost {
    pub key: String,
    pub count: u32,
    pub seconds: u64,
    pub span: i64,
}

/// Returns the span of `seconds` seconds of a moment; `None` if it is empty or too long.
pub fn span_number(at: DateTime<Utc>, seconds: u64) -> Option<i64> {
    let seconds = i64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?;
    Some(at.timestamp().div_euclid(seconds))
}

/// Parses a span such as `1d`, `12h` or `30m` into seconds; `None` for any other text.
pub fn parse_span(text: &str) -> Option<u64> {
    let unit = text.find(|found: char| !found.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(unit)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(seconds).filter(|seconds| *seconds > 0)
}

/// Notifications of one key, by the length and the number of their span.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationCounts(BTreeMap<u64, BTreeMap<i64, u32>>);

impl NotificationCounts {
    /// Counts one more notification if the bound allows it, and returns whether it does.
    pub fn allows(&mut self, bound: &AtMost) -> bool {
        let spans = self.0.entry(bound.seconds).or_default();
        let oldest = spans.keys().next().copied().filter(|_| spans.len() >= SPANS_MAX);
        if oldest.is_some_and(|oldest| bound.span < oldest) {
            return false;
        }
        let count = spans.entry(bound.span).or_default();
        if *count >= bound.count {
            return false;
        }
        *count = count.saturating_add(1);
        while spans.len() > SPANS_MAX {
            spans.pop_first();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S3: journals hold names that were derived from content, so derived names never change, byte
    /// for byte.
    #[test]
    fn the_name_that_content_gives_never_changes() {
        let merchant = "Merchant/acme".parse().unwrap();
        let fields = json!({"transaction": "t1", "amount": "5.00 USD"});
        let name = ActionRequest::content_name("refund", Some(&merchant), &fields, None).unwrap();
        assert_eq!(name.as_str(), "refund-bocrq33ipfnrcvca");
    }

    fn bound(span: i64) -> AtMost {
        AtMost { key: "ops".to_owned(), count: 2, seconds: 60, span }
    }

    #[test]
    fn k16_a_span_allows_its_count_in_whatever_order_events_come() {
        let mut counted = NotificationCounts::default();
        let allowed: Vec<bool> = [5, 4, 5, 5, 4, 4, 6].map(|at| counted.allows(&bound(at))).into();
        assert_eq!(allowed, [true, true, true, false, true, false, true]);
        for at in 100..200 {
            assert!(counted.allows(&bound(at)));
        }
        assert!(!counted.allows(&bound(100)), "the count of a dropped span is unknown");
    }

    #[test]
    fn k16_spans_are_cut_by_the_events_own_time() {
        let at = |text: &str| DateTime::parse_from_rfc3339(text).unwrap().to_utc();
        let day = parse_span("1d").unwrap();
        let of = |text: &str| span_number(at(text), day);
        assert_eq!(of("2026-11-30T00:00:00Z"), of("2026-11-30T23:59:59Z"));
        assert_ne!(of("2026-11-30T23:59:59Z"), of("2026-12-01T00:00:00Z"));
        assert_eq!(of("1969-12-31T23:59:59Z"), Some(-1));
        assert_eq!(
            ["1", "d", "0d", "1y", "-1d", "99999999999999999999d"].map(parse_span),
            [None; 6]
        );
        assert_eq!(parse_span("2w"), Some(1_209_600));
    }
}

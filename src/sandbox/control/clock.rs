//! `/_sandbox/clock`: reads the sandbox's time, and turns it forward.

use chrono::{DateTime, Months, TimeDelta, Utc};
use serde_json::json;

use crate::base::clock::timestamp;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::body::ControlOrder;
use crate::sandbox::server::Sandbox;
use crate::sandbox::state::store::ChangeUnit;

pub(super) fn show(cx: &ChangeUnit) -> Result<SandboxAnswer> {
    SandboxAnswer::json(&json!({ "now": timestamp(&cx.now) }))
}

/// `{"advance":"P30D"}` or `{"set":"2027-01-01T00:00:00Z"}`; everything due in between runs first.
pub(super) fn turn(sandbox: &Sandbox, order: &ControlOrder) -> Result<SandboxAnswer> {
    let target = {
        let mut live = sandbox.lock();
        let now = sandbox.now(&live);
        let target = match (order.text("advance"), order.text("set")) {
            (Some(duration), None) => add_duration(now, duration),
            (None, Some(time)) => {
                DateTime::parse_from_rfc3339(time).ok().map(|time| time.with_timezone(&Utc))
            }
            (Some(_), Some(_)) | (None, None) => None,
        };
        let wrong = "Give either `advance` (an ISO 8601 duration) or `set` (a time)";
        let target = target.ok_or_else(|| SandboxRefusal::invalid(wrong))?;
        sandbox.move_to(&mut live, target)?;
        target
    };
    sandbox.inner.index.flush()?;
    SandboxAnswer::json(&json!({ "now": timestamp(&target) }))
}

/// Adds an ISO 8601 duration such as `P30D`, `P1M` or `PT5M`; `None` for an invalid one.
fn add_duration(time: DateTime<Utc>, duration: &str) -> Option<DateTime<Utc>> {
    let text = duration.strip_prefix('P').filter(|text| !text.is_empty())?;
    let (date, clock) = text.split_once('T').unwrap_or((text, ""));
    let date = parts(date)?.into_iter().map(|part| (true, part));
    let clock = parts(clock)?.into_iter().map(|part| (false, part));
    let (mut months, mut seconds) = (0_u32, 0_i64);
    for (is_date, (number, unit)) in date.chain(clock) {
        let (of_month, of_second) = match (is_date, unit) {
            (true, 'Y') => (12, 0),
            (true, 'M') => (1, 0),
            (true, 'W') => (0, 604_800),
            (true, 'D') => (0, 86_400),
            (false, 'H') => (0, 3600),
            (false, 'M') => (0, 60),
            (false, 'S') => (0, 1),
            _ => return None,
        };
        months = months.checked_add(number.checked_mul(of_month)?)?;
        seconds = seconds.checked_add(i64::from(number).checked_mul(of_second)?)?;
    }
    let time = time.checked_add_months(Months::new(months))?;
    time.checked_add_signed(TimeDelta::try_seconds(seconds)?)
}

fn parts(text: &str) -> Option<Vec<(u32, char)>> {
    let mut parts = Vec::new();
    let mut digits = String::new();
    for character in text.chars() {
        if character.is_ascii_digit() {
            digits.push(character);
        } else {
            parts.push((digits.parse().ok()?, character));
            digits.clear();
        }
    }
    digits.is_empty().then_some(parts)
}

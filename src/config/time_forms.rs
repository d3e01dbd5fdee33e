//! The forms of `policy.windows` and `policy.freezes`: the texts of days, times, zones and merchants,
//! and the schema of the rules. All of them are written in the file itself, never in a variable.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::path::Path;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, Weekday};
use chrono_tz::Tz;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::base::id::{Key, Name};
use crate::config::setting::{FromText, InvalidValue, parse_word, text_schema, word_schema};
use crate::kinds::merchant::zone;
use crate::kinds::planning::step::MERCHANT;
use crate::policy::time_rules::MerchantPattern;

pub(crate) const DAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Mon),
    ("tue", Weekday::Tue),
    ("wed", Weekday::Wed),
    ("thu", Weekday::Thu),
    ("fri", Weekday::Fri),
    ("sat", Weekday::Sat),
    ("sun", Weekday::Sun),
];

/// The form of a value that no variable may hold.
#[derive(Debug)]
pub struct WrittenValue<T>(PhantomData<T>);

impl<T: FromText> JsonSchema for WrittenValue<T> {
    fn schema_name() -> Cow<'static, str> {
        "WrittenValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::try_from(T::schema()).unwrap_or_default()
    }
}

/// The form of a window.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "declares a schema")]
pub(crate) struct WindowForm {
    /// The name of the window in messages and metrics; no other window or freeze has it.
    name: WrittenValue<Name>,
    /// The days on which the window begins; every day if left out.
    days: Option<Vec<WrittenValue<Weekday>>>,
    /// The time of day at which the window opens.
    from: WrittenValue<ClockTime>,
    /// The time of day at which the window closes; earlier than `from`: on the next day.
    to: WrittenValue<ClockTime>,
    /// The time zone; that of the policy if left out.
    zone: Option<WrittenValue<ZoneName>>,
    /// The merchants that the window covers; everything if left out.
    merchants: Option<Vec<WrittenValue<MerchantPattern>>>,
}

/// The form of a freeze.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "declares a schema")]
pub(crate) struct FreezeForm {
    /// The name of the freeze in messages and metrics; no other window or freeze has it.
    name: WrittenValue<Name>,
    /// The local time at which the freeze begins.
    from: WrittenValue<LocalMoment>,
    /// The local time at which the freeze ends.
    to: WrittenValue<LocalMoment>,
    /// The reason, for every screen.
    reason: Option<WrittenValue<String>>,
    /// The time zone; that of the policy if left out.
    zone: Option<WrittenValue<ZoneName>>,
    /// The merchants that the freeze covers; everything if left out.
    merchants: Option<Vec<WrittenValue<MerchantPattern>>>,
}

pub(crate) const WINDOW_KEYS: [&str; 6] = ["name", "days", "from", "to", "zone", "merchants"];
pub(crate) const FREEZE_KEYS: [&str; 6] = ["name", "from", "to", "reason", "zone", "merchants"];

#[derive(Debug, Clone, Copy)]
pub(crate) struct ZoneName(pub(crate) Tz);

/// A time of day, to the minute; `24:00` is the end of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockTime {
    pub(crate) time: NaiveTime,
    pub(crate) is_end_of_day: bool,
}

/// A local time, to the minute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalMoment(pub(crate) NaiveDateTime);

impl FromText for ZoneName {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        zone::find(text).map(Self).ok_or_else(|| {
            let (message, help) = zone::unknown(text);
            InvalidValue::new(message, help)
        })
    }

    fn schema() -> Value {
        json!({ "title": "time zone", "type": "string" })
    }
}

impl FromText for Weekday {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        parse_word(text, &DAYS)
    }

    fn schema() -> Value {
        word_schema(&DAYS.map(|(word, _)| word))
    }
}

impl FromText for ClockTime {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        if text == "24:00" {
            return Ok(Self { time: NaiveTime::MIN, is_end_of_day: true });
        }
        let time = NaiveTime::parse_from_str(text, "%H:%M");
        time.map(|time| Self { time, is_end_of_day: false }).map_err(|_| {
            let help = "write hours and minutes, such as `\"09:00\"`; `\"24:00\"` ends a day";
            InvalidValue::new(format!("`{text}` is not a time of day"), help)
        })
    }

    fn schema() -> Value {
        json!({ "title": "time of day", "type": "string", "pattern": "^[0-9]{1,2}:[0-9]{1,2}$" })
    }
}

impl FromText for LocalMoment {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let date = || text.parse::<NaiveDate>().ok().map(|date| date.and_time(NaiveTime::MIN));
        let moment = |form: &&str| NaiveDateTime::parse_from_str(text, form).ok();
        let moment = ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"].iter().find_map(moment);
        moment.or_else(date).map(Self).ok_or_else(|| {
            let help = "write a date and a time of the zone, such as `2026-12-20 18:00`, or a date alone: its 00:00";
            InvalidValue::new(format!("`{text}` is not a local time"), help)
        })
    }

    fn schema() -> Value {
        json!({ "title": "local time", "type": "string" })
    }
}

impl FromText for MerchantPattern {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let is_prefix = text.ends_with('*');
        let (start, name) = text.rsplit_once('/').unwrap_or(("", text));
        let name = name.strip_suffix('*').unwrap_or(name);
        let slash = if start.is_empty() { "" } else { "/" };
        // A name may end in `-`, its beginning may not: a letter replaces the rest.
        let rest = if is_prefix { "a" } else { "" };
        let key = format!("{MERCHANT}/{start}{slash}{name}{rest}").parse::<Key>();
        let is_everything = is_prefix && name.is_empty() && start.is_empty();
        match key {
            Ok(key) if !is_everything => {
                Ok(Self { namespace: key.namespace.clone(), name: name.to_owned(), is_prefix })
            }
            Ok(_) => Err(InvalidValue::new(
                "`*` would cover only merchants of the default namespace",
                "leave out `merchants` to cover everything, or write `default/*`",
            )),
            Err(_) => {
                let help = "write a name or its beginning and `*`: `shop`, `cafe-*`, `books/shop` or `books/*`";
                Err(InvalidValue::new(format!("`{text}` is not the name of a merchant"), help))
            }
        }
    }

    fn schema() -> Value {
        text_schema("merchant")
    }
}

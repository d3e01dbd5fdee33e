//! Host functions that request actions without money: notify people, store values, write the log,
//! suspend a resource, resume it, or reconcile it at once.

use rhai::Dynamic;
use serde_json::Value;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::model::events::hook::{AtMost, COUNT_MAX, RESUME, SUSPEND, parse_span, span_number};
use crate::policy::ScriptPower;
use crate::scripting::host::argument_type::ArgumentType;
use crate::scripting::host::call::{
    Argument, COMMON, CallResult, HostCall, HostFn, HostOption, action, argument, fields, option,
    parse_moment,
};
use crate::scripting::host::reads::stored_value;
use crate::scripting::host::session::HostError;
use crate::scripting::language::json;
use crate::scripting::language::template::FilledTemplate;
use crate::scripting::language::values::parse;

pub(crate) static NOTIFICATIONS: &[HostFn] = &[
    action(
        "notify",
        &[argument("target", ArgumentType::Target), argument("body", ArgumentType::Body)],
        &[
            &[
                option(
                    "subject",
                    ArgumentType::Text,
                    "the subject of a mail; the template's by default",
                ),
                option(
                    "template",
                    ArgumentType::Template,
                    "the template that the body, a map, fills in: `templates/NAME.txt` in the \
                    scripts folder, and for mails also `templates/NAME.html`",
                ),
                option(
                    "to",
                    ArgumentType::Text,
                    "the recipient of a mail, an address or a contact (`Contact/NAME`), in place \
                    of the target's own",
                ),
            ],
            &[option(
                "at_most",
                ArgumentType::Map,
                "`#{count: 1, per: \"1d\"}`: the most notifications in a span of the events' own \
                time. Days are UTC days; other spans (`30m`, `12h`, `1w`) follow one another from \
                1970-01-01. Notifications of the same merchant, script and `key` count together; \
                the key is the target's name by default",
            )],
            COMMON,
        ],
        notify,
        "Sends a notification to a target of the configuration: a text, or a map for a program.",
    ),
    action(
        "kv_set",
        &[argument("key", ArgumentType::Text), argument("value", ArgumentType::Any)],
        &[],
        |call| {
            call.session.store(&call.text(0), json::to_stored_json(&call.argument(1))?)?;
            Ok(Dynamic::UNIT)
        },
        "Stores a value for later runs of this script, if this run succeeds.",
    ),
    action(
        "kv_add",
        &[argument("key", ArgumentType::Text), argument("number", ArgumentType::Number)],
        &[],
        kv_add,
        "Adds a whole number or money to the stored value of a key, or stores it as the \
            first value. No update is lost if the script runs for several events at once.",
    ),
    action(
        "kv_delete",
        &[argument("key", ArgumentType::Text)],
        &[],
        |call| {
            call.session.store(&call.text(0), Value::Null)?;
            Ok(Dynamic::UNIT)
        },
        "Deletes the stored value of a key.",
    ),
    action(
        "log",
        &[argument("text", ArgumentType::Any)],
        &[],
        |call| {
            call.session.log(&call.text(0));
            Ok(Dynamic::UNIT)
        },
        "Writes a line to the run's log.",
    ),
];

/// Fix for a closed address.
pub(crate) const TO_HELP: &str = "write `to: \"Contact/NAME\"`, or let the target take any address: `mail: {to: [any, …]}` in reckon.yaml";

/// Message for a closed address: a script's mail goes only to contacts of the event's merchant,
/// unless its target takes any address.
pub(crate) fn closed_address_message(target: &str) -> String {
    format!("`to` of a mail by `{target}` is a contact of the event's merchant, not an address")
}

fn notify(call: &HostCall<'_>) -> CallResult {
    let target = call.text(0);
    if let Some(any) = call.session.names.configured.mail.get(&target) {
        call.session.require_right(ScriptPower::Mail, call.session.merchant())?;
        let address = call.option_text("to").filter(|to| to.contains('@') && !any);
        if address.is_some() {
            let message = closed_address_message(&target);
            return Err(HostError::Invalid(format!("{message}; {TO_HELP}")));
        }
    }
    let body = json::to_json(&call.argument(1))?;
    let filled =
        call.option_text("template").map(|name| fill_template(call, &name, &body)).transpose()?;
    let (body, html, subject) = match filled {
        None => (body, None, None),
        Some(FilledTemplate { subject, text, html }) => (Value::String(text), html, subject),
    };
    let at_most =
        call.option("at_most").map(|bound| parse_at_most(call, &bound, &target)).transpose()?;
    let fields = fields([
        ("target", Some(target.into())),
        ("body", Some(body)),
        ("html", html.map(Value::String)),
        ("subject", call.option_text("subject").or(subject).map(Value::String)),
        ("to", call.option_text("to").map(Value::String)),
    ]);
    call.request_at_most(call.session.merchant().cloned(), fields, at_most)
}

/// Fills in a template; an error if the body is not a map, or lacks a value.
fn fill_template(
    call: &HostCall<'_>,
    name: &str,
    values: &Value,
) -> Result<FilledTemplate, String> {
    let template = call.session.names.templates.get(name);
    let template = template.ok_or_else(|| format!("there is no template `{name}`"))?;
    if !values.is_object() {
        return Err(format!("the template `{name}` is filled in by a map: `#{{…}}`"));
    }
    template.fill(values).map_err(|why| format!("template `{name}`: {why}"))
}

pub(crate) const AT_MOST: [&str; 3] = ["count", "per", "key"];
/// Example of `at_most`.
pub(crate) const AT_MOST_HELP: &str = "write `at_most: #{count: 1, per: \"1d\"}`, with `key: …` where not all notifications of the target count together";

/// Parses a bound on notifications.
fn parse_at_most(call: &HostCall<'_>, value: &Dynamic, target: &str) -> Result<AtMost, String> {
    let wrong = |why: &str| format!("`at_most` {why}; {AT_MOST_HELP}");
    let fields = value.as_map_ref().map_err(|_| wrong("is a map"))?;
    if let Some(name) = fields.keys().find(|name| !AT_MOST.contains(&name.as_str())) {
        return Err(wrong(&format!("has no field `{name}`")));
    }
    let count = fields.get("count").and_then(|count| count.as_int().ok());
    let count = count.and_then(|count| u32::try_from(count).ok());
    let count = count.filter(|count| (1..=COUNT_MAX).contains(count));
    let count = count.ok_or_else(|| wrong(&format!("has a `count` of 1 to {COUNT_MAX}")))?;
    let per = fields.get("per").map(ToString::to_string).unwrap_or_default();
    let bad = || wrong("has a `per` such as `\"1d\"`, `\"12h\"` or `\"30m\"`");
    let seconds = parse_span(&per).ok_or_else(bad)?;
    let created = call.session.origin.created.ok_or("the event does not say when it happened")?;
    let span = span_number(created, seconds).ok_or_else(bad)?;
    let key = fields.get("key").map_or_else(|| target.to_owned(), ToString::to_string);
    Ok(AtMost { key, count, seconds, span })
}

fn kv_add(call: &HostCall<'_>) -> CallResult {
    let (key, number) = (call.text(0), json::to_stored_json(&call.argument(1))?);
    let before = if call.session.stored_value(&key).is_some() {
        Value::Null
    } else {
        stored_value(call, &key)?
    };
    call.session.add(&key, &before, &number)?;
    Ok(Dynamic::UNIT)
}

const RESOURCE: &[Argument] = &[argument("resource", ArgumentType::Resource)];

const ENDS: HostOption = HostOption {
    former_name: Some("until"),
    ..option(
        "ends",
        ArgumentType::Moment,
        "the end of the suspension; by default a person or a script ends it",
    )
};

pub(crate) static SUSPENSIONS: &[HostFn] = &[
    action(
        "suspend",
        &[argument("resource", ArgumentType::Resource), argument("reason", ArgumentType::Text)],
        &[&[ENDS], COMMON],
        suspend,
        "Suspends a resource, or everything of a merchant, as `reckon suspend` does.",
    )
    .renamed("hold", Some(SUSPEND)),
    action(
        "resume",
        RESOURCE,
        &[COMMON],
        request_for_key,
        "Resumes a resource, as `reckon resume` does.",
    )
    .renamed("release", Some(RESUME)),
    action(
        "reconcile",
        RESOURCE,
        &[COMMON],
        request_for_key,
        "Plans a resource again at once, and does what is due.",
    ),
];

fn resource_key(call: &HostCall<'_>) -> Result<Value, String> {
    let key: Key = parse(&call.text(0))?;
    Ok(Value::String(key.to_string()))
}

fn suspend(call: &HostCall<'_>) -> CallResult {
    let until = call.option("ends").map(|until| parse_moment(&until)).transpose()?;
    let until = until.map(|until| Value::String(timestamp(&until.0)));
    let fields = fields([
        ("key", Some(resource_key(call)?)),
        ("reason", Some(call.text(1).into())),
        ("until", until),
    ]);
    call.request(call.session.merchant().cloned(), fields)
}

/// Requests an action whose only field is the resource.
fn request_for_key(call: &HostCall<'_>) -> CallResult {
    let fields = fields([("key", Some(resource_key(call)?))]);
    call.request(call.session.merchant().cloned(), fields)
}

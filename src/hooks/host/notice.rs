//! What tells somebody something, and what a script tells itself.

use rhai::Dynamic;
use serde_json::Value;

use super::{Call, fields, json_of};
use crate::hooks::session::Refused;
use crate::hooks::template::Filled;
use crate::model::hook::NOTIFY;

type Answer = Result<Dynamic, Refused>;

pub(in crate::hooks) fn notify(call: &Call<'_>) -> Answer {
    let body = json_of(&call.argument(1))?;
    let filled = call.option_text("template").map(|name| filled(call, &name, &body)).transpose()?;
    let (body, html, subject) = match filled {
        None => (body, None, None),
        Some(Filled { subject, text, html }) => (Value::String(text), html, subject),
    };
    let fields = fields([
        ("target", Some(call.text(0).into())),
        ("body", Some(body)),
        ("html", html.map(Value::String)),
        ("subject", call.option_text("subject").or(subject).map(Value::String)),
        ("to", call.option_text("to").map(Value::String)),
    ]);
    call.wish(NOTIFY, call.session.merchant().cloned(), fields)
}

/// A template, filled in. Errors: the body is no map, or something is missing in it.
fn filled(call: &Call<'_>, name: &str, values: &Value) -> Result<Filled, String> {
    let template = call.session.names().templates.get(name);
    let template = template.ok_or_else(|| format!("there is no template `{name}`"))?;
    if !values.is_object() {
        return Err(format!("the template `{name}` is filled in by a map: `#{{…}}`"));
    }
    template.fill(values).map_err(|why| format!("template `{name}`: {why}"))
}

pub(in crate::hooks) fn kv_set(call: &Call<'_>) -> Answer {
    call.session.keep(&call.text(0), json_of(&call.argument(1))?)?;
    Ok(Dynamic::UNIT)
}

#[expect(clippy::unnecessary_wraps, reason = "every row of the register answers alike")]
pub(in crate::hooks) fn log(call: &Call<'_>) -> Answer {
    call.session.log(&call.text(0));
    Ok(Dynamic::UNIT)
}

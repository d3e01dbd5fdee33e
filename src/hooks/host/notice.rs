//! What tells somebody something, and what a script tells itself.

use rhai::Dynamic;
use serde_json::Value;

use super::{Call, fields, json_of};
use crate::hooks::session::Refused;
use crate::model::hook::NOTIFY;

type Answer = Result<Dynamic, Refused>;

pub(in crate::hooks) fn notify(call: &Call<'_>) -> Answer {
    let fields = fields([
        ("target", Some(call.text(0).into())),
        ("body", Some(json_of(&call.argument(1))?)),
        ("subject", call.option_text("subject").map(Value::String)),
        ("to", call.option_text("to").map(Value::String)),
    ]);
    call.wish(NOTIFY, call.session.merchant().cloned(), fields)
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

//! Host functions that read through [`crate::hooks::Reads`].

use rhai::Dynamic;
use serde_json::{Value, json};

use super::{Call, id_in, json_of};
use crate::api::reads::Read;
use crate::hooks::json::foreign;
use crate::hooks::session::Refused;
use crate::hooks::{filter, kept, private};
use crate::model::kept::sum;

type Answer = Result<Dynamic, Refused>;

pub(in crate::hooks) fn resource(call: &Call<'_>) -> Answer {
    let key = call.text(0);
    let arguments = json!([key]);
    call.session
        .look("resource", arguments, |reads, _| reads.resource(&key))
        .map(|answer| foreign(&private::resource(answer, call.session.sees_persons())))
}

pub(in crate::hooks) fn find(call: &Call<'_>) -> Answer {
    let (kind, filter) = (call.text(0), json_of(&call.argument(1))?);
    filter::check(&kind, &filter, call.session.sees_persons())?;
    let arguments = json!([kind, filter]);
    call.session
        .look("find", arguments, |reads, _| reads.find(&kind, &filter))
        .map(|answer| foreign(&private::resource(answer, call.session.sees_persons())))
}

pub(in crate::hooks) fn transaction(call: &Call<'_>) -> Answer {
    let id = id_in(&call.argument(0))?;
    let arguments = json!([id]);
    call.session
        .look("transaction", arguments, |reads, _| reads.transaction(&id))
        .map(|answer| closed(call, &answer, None))
}

pub(in crate::hooks) fn remote(call: &Call<'_>) -> Answer {
    let (name, mut args) = (call.text(0), json_of(&call.argument(1))?);
    if let (Some(args), Some(merchant)) = (args.as_object_mut(), call.session.merchant()) {
        let named = merchant.short();
        let named = named.strip_prefix("Merchant/").unwrap_or(&named).to_owned();
        args.entry("merchant").or_insert(Value::String(named));
    }
    let arguments = json!([name, args]);
    call.session
        .look("remote", arguments, |reads, _| reads.remote(&name, &args))
        .map(|answer| closed(call, &answer, Read::named(&name).and_then(|read| read.secret)))
}

/// Returns a record of the service without the values that are closed to scripts.
fn closed(call: &Call<'_>, answer: &Value, also: Option<&str>) -> Dynamic {
    let mut answer = foreign(answer);
    private::close(&mut answer, call.session.sees_persons(), also);
    answer
}

/// Returns a stored value. A value of this run itself is not recorded as a read, since no other run
/// can have changed it.
pub(in crate::hooks) fn kv_get(call: &Call<'_>) -> Answer {
    let key = call.text(0);
    if let Some(kept) = call.session.kept(&key) {
        return Ok(kept::read(&kept));
    }
    let stored = stored(call, &key)?;
    let added = call.session.added(&key).and_then(|added| sum(&stored, &added));
    Ok(kept::read(&added.unwrap_or(stored)))
}

/// Returns the value that earlier runs stored under a key.
pub(in crate::hooks) fn stored(call: &Call<'_>, key: &str) -> Result<Value, Refused> {
    call.session.look("kv_get", json!([key]), |reads, script| reads.kv(script, key))
}

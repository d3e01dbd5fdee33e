//! `events trigger`: the sandbox sends an event, so that operators see the answer of their scripts.

use serde_json::{Map, Value, json};

use super::urls;
use crate::base::id::{Key, Mode};
use crate::base::wording;
use crate::cli::args::events::TriggerArgs;
use crate::cli::commands::gateway_actions;
use crate::cli::commands::sandbox::env::control;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, Exit, local_only};
use crate::cli::print::Printer;
use crate::scripting::language::events::EVENTS;

/// Prefixes of types that the service sends to the partner, when an application is decided.
const PARTNERS: [&str; 2] = ["merchant.", "merchant_application."];

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &TriggerArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    if setup.server.is_some() {
        return Err(local_only("`events trigger`", "it uses the sandbox on this machine"));
    }
    check_type(&args.event)?;
    let (merchant, mode) = merchant(setup, args.merchant.as_deref())?;
    let set = args.set.iter().map(|field| parse_pair(field)).collect::<Result<Map<_, _>, _>>()?;
    let order = json!({"merchant": merchant.name, "mode": mode, "type": args.event, "set": set});
    let event = control(setup, "events", &order).await?;
    let id = event.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    out.result(&event, || {
        format!(
            "{} was sent as {id}; see `reckon events show {id}` and `reckon events failed`",
            args.event
        )
    })?;
    Ok(Exit::Done)
}

/// Checks that this type exists, and that the service sends it to a merchant's address.
fn check_type(kind: &str) -> Result<(), CommandFailure> {
    let names = EVENTS.iter().map(|row| row.name);
    if !names.clone().any(|name| name == kind) {
        let failure =
            CommandFailure::input("reckon::events::type", format!("there is no event type {kind}"));
        return Err(failure.help(wording::suggestion_help(kind, names)));
    }
    if PARTNERS.iter().any(|begin| kind.starts_with(begin)) {
        let message = format!(
            "{kind} cannot be fired: the service sends it to the partner when an application \
            is decided"
        );
        return Err(CommandFailure::input("reckon::events::type", message)
            .help("decide an application: POST /_sandbox/applications/ID/decision"));
    }
    Ok(())
}

/// Returns the named merchant, or the only one, with its mode.
fn merchant(setup: &Context, named: Option<&str>) -> Result<(Key, Mode), CommandFailure> {
    let all = urls::merchants(setup);
    let named = named.map(gateway_actions::merchant).transpose()?;
    let wrong = |what: String| {
        let list: Vec<String> = all.iter().map(|(key, _)| key.name.to_string()).collect();
        let failure = CommandFailure::input("reckon::events::merchant", what);
        failure.help(format!("name one: --merchant {}", list.join(", --merchant ")))
    };
    match (&named, all.as_slice()) {
        (None, [one]) => Ok(one.clone()),
        (None, []) => Err(CommandFailure::input(
            "reckon::events::merchant",
            "the documents contain no merchant",
        )),
        (None, _) => Err(wrong("no merchant named: the documents contain several".to_owned())),
        (Some(named), all) => {
            let found = all.iter().find(|(key, _)| key == named).cloned();
            found.ok_or_else(|| wrong(format!("there is no merchant {}", named.short())))
        }
    }
}

/// Parses `path=value`; the value is JSON, or else a text.
fn parse_pair(text: &str) -> Result<(String, Value), CommandFailure> {
    let (path, value) =
        text.split_once('=').filter(|(path, _)| !path.is_empty()).ok_or_else(|| {
            CommandFailure::input("reckon::events::set", format!("--set {text}: there is no `=`")).help(
                "write the field and its value, such as --set amount=1200 or --set status=FAILED",
            )
        })?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((path.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_is_misspelt_is_told_with_the_one_that_was_meant() {
        assert!(check_type("transaction.failed").is_ok());
        let help = |kind: &str| check_type(kind).unwrap_err().help.unwrap_or_default();
        assert_eq!(help("transaction.fialed"), "did you mean `transaction.failed`?");
        assert!(help("merchant.provisioned").contains("decision"));
    }

    #[test]
    fn a_field_is_json_or_else_a_text() {
        let read = |text: &str| parse_pair(text).ok();
        assert_eq!(read("amount=1200"), Some(("amount".to_owned(), json!(1200))));
        assert_eq!(read("status=FAILED"), Some(("status".to_owned(), json!("FAILED"))));
        assert_eq!(read("method.name=a=b"), Some(("method.name".to_owned(), json!("a=b"))));
        assert_eq!((read("amount"), read("=1")), (None, None));
    }
}

//! Tests of the rights of scripts, and of the values that they never see.

use crate::scripting::hooks::tests::*;

/// Returns a set of one script under these rights, with a mail target.
fn righted(body: &str, rights: Rights, any: bool) -> Result<Hooks, Vec<PlacedIssue>> {
    let mail = [("payers".to_owned(), any)].into();
    let known = ConfiguredNames { mail, rights, targets: ["payers".to_owned()].into(), ..known() };
    Hooks::load(&[source("a.rhai", &format!("fn on_event(event) {{\n{body}\n}}\n"))], &known)
}

/// Closes S7: rights by verb and merchant, at load and at run.
#[test]
fn s7_what_moves_money_or_mail_is_opened_by_name() {
    use crate::policy::{AllowedMerchants, ScriptPower};
    let all = [
        ("refund(event.data);", ScriptPower::Refund),
        ("void(event.data);", ScriptPower::Refund),
        ("capture(event.data);", ScriptPower::Charge),
        ("charge(\"jane\", \"1.00 USD\");", ScriptPower::Charge),
        ("pay_occurrence(event.data, #{ recurring: \"r1\" });", ScriptPower::Charge),
        ("credit(\"jane\", \"1.00 USD\");", ScriptPower::Credit),
        ("notify(\"payers\", \"x\");", ScriptPower::Mail),
    ];
    for (body, power) in all {
        let problems = righted(body, Rights::default(), false).unwrap_err();
        let told: Vec<&str> = problems.iter().map(|problem| problem.code.as_str()).collect();
        assert_eq!(told, ["reckon::hooks::right"], "{body}");
        assert!(problems[0].help.contains(&format!("{{{}: [MERCHANT]}}", power.word())), "{body}");
        let other = Rights::new([(
            power,
            AllowedMerchants::Some(["Merchant/other".parse().unwrap()].into()),
        )]);
        let failure =
            ran_with(&righted(body, other, false).unwrap(), CaseState::default()).unwrap_err();
        let expected = format!("scripts have no right to `{}` at Merchant/acme", power.word());
        assert!(failure.message.starts_with(&expected), "{failure}");
        let own = Rights::new([(
            power,
            AllowedMerchants::Some(["Merchant/acme".parse().unwrap()].into()),
        )]);
        let run = ran_with(&righted(body, own, false).unwrap(), CaseState::default());
        assert_eq!(run.unwrap().requests.len(), 1, "{body}");
    }
    let harmless = "suspend(\"Invoice/a\", \"why\"); reconcile(\"Invoice/a\"); cancel_recurring(\"r1\"); log(find(\"Invoice\", #{}).len());";
    assert!(
        ran_with(&righted(harmless, Rights::default(), false).unwrap(), CaseState::default())
            .is_ok()
    );
}

/// Closes S7: only targets that declare it take an address.
#[test]
fn s7_a_mail_goes_to_contacts_unless_its_target_takes_any_address() {
    let literal = "notify(\"payers\", \"x\", #{ to: \"attacker@x.example\" });";
    let problems = righted(literal, Rights::all(), false).unwrap_err();
    assert_eq!(problems[0].code, "reckon::hooks::recipient");
    let hidden = "let to = \"attacker@\" + \"x.example\"; notify(\"payers\", \"x\", #{ to: to });";
    let failure = ran_with(&righted(hidden, Rights::all(), false).unwrap(), CaseState::default())
        .unwrap_err();
    assert!(failure.message.contains("is a contact of the event's merchant"), "{failure}");
    for body in [literal, hidden] {
        let run =
            ran_with(&righted(body, Rights::all(), true).unwrap(), CaseState::default()).unwrap();
        assert_eq!(run.requests[0].fields["to"], "attacker@x.example");
    }
}

/// Closes S7: values that scripts see.
#[test]
fn s7_scripts_see_no_secret_and_persons_only_where_they_are_opened() {
    let state: CaseState = serde_json::from_value(json!({
        "resources": [{"kind": "MerchantApplication", "name": "a", "labels": {}, "spec": {
            "email": "jane@x.example", "federal_tax_id": "12-3456789"}}],
        "transactions": [{"id": "t1", "method": {"number": "4242424242424242", "fingerprint": "f", "name": "Jane"}}],
        "remote": [{"read": "credentials.get", "answer": {"accounts": [{"secret_key": "sk"}]}}],
    }))
    .unwrap();
    let body = "log(find(\"MerchantApplication\", #{})[0].spec.keys()); log(transaction(\"t1\").method.keys());
        log(remote(\"credentials.get\", #{}).accounts[0].keys());";
    let seen =
        |rights| ran_with(&righted(body, rights, false).unwrap(), state.clone()).unwrap().log;
    assert_eq!(seen(Rights::default()), ["[]", "[\"fingerprint\"]", "[]"]);
    assert_eq!(seen(Rights::all()), ["[\"email\"]", "[\"fingerprint\",\"name\"]", "[]"]);
    let told = |body| {
        ran_with(&righted(body, Rights::default(), false).unwrap(), state.clone())
            .unwrap_err()
            .message
    };
    let message = told("log(find(\"MerchantApplication\", #{})[0].spec.email);");
    assert!(
        message.contains("it is personal") && message.contains("allow: {personal:"),
        "{message}"
    );
    let message = told("log(find(\"MerchantApplication\", #{})[0].spec.federal_tax_id);");
    assert!(message.contains("secret values never reach a script"), "{message}");
}

/// Closes S7: a link of a live merchant needs an explicit right, and one of a test merchant does
/// not.
#[test]
fn s7_a_live_link_is_opened_by_name() {
    let set =
        righted("log(new_card_link(\"SavedMethod/jane\"));", Rights::default(), false).unwrap();
    assert_eq!(set.warnings()[0].code, "reckon::hooks::right");
    let ran = |mode: &str| {
        let mut event = event();
        event["mode"] = json!(mode);
        let reads: Arc<dyn Reads> = Arc::new(CaseState::default());
        let handler = EventHandler { script: "a".to_owned(), function: "on_event".to_owned() };
        on_stack(|| set.run(&handler, &event, &reads, None)).unwrap()
    };
    assert!(ran("test").is_ok());
    assert!(ran("live").unwrap_err().message.contains("no right to `card_link` at Merchant/acme"));
}

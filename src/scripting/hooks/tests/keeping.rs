//! Tests of stored values, counters, splits, suspensions and filters.

use crate::scripting::hooks::tests::*;

/// Closes K1 of the list of findings.
#[test]
fn k1_money_that_is_kept_adds_up_and_text_never_joins_money() {
    let state: CaseState =
        serde_json::from_value(json!({"kv": {"sum": {"$money": "3.50 USD"}}})).unwrap();
    let sums = hooks(
        "kv_set(\"sum\", kv_get(\"sum\") + money(\"3.50 USD\")); kv_set(\"sum\", kv_get(\"sum\") * 2);",
    );
    let run = ran_with(&sums, state.clone()).unwrap();
    assert_eq!(run.kept, [("sum".to_owned(), json!({"$money": "14.00 USD"}))]);
    let dates = hooks(
        "kv_set(\"at\", date(event.created)); log(add_days(kv_get(\"at\"), 1) > kv_get(\"at\"));",
    );
    assert_eq!(ran_with(&dates, state).unwrap().log, ["true"]);
    for joined in [
        "let a = [\"sum: \"]; log(a[0] + money(\"1.00 USD\"));",
        "let a = [\"sum: \"]; log(amount_of(event.data) + a[0]);",
        "let a = [\"sum: \"]; let all = a[0]; all += amount_of(event.data);",
        "let a = ['c']; log(a[0] + money(\"1.00 USD\"));",
    ] {
        assert!(failed(joined).starts_with("a text and money do not add up"), "{}", failed(joined));
    }
    assert_eq!(logged("log(`${amount_of(event.data)} is due`);"), ["125.00 USD is due"]);
}

/// Closes K3.
#[test]
fn k3_a_suspension_ends_by_the_option_ends_and_its_former_key_still_counts() {
    for option in ["ends", "\"until\""] {
        let run =
            ran(&format!("suspend(\"Invoice/a\", \"why\", #{{ {option}: \"2026-12-01\" }});"));
        let wish = run.unwrap().requests.remove(0);
        assert_eq!(wish.fields["until"], json!("2026-12-01T00:00:00.000Z"), "{option}");
    }
}

/// Closes K4 at run time: the kind or the filter is not a literal.
#[test]
fn k4_a_filter_of_find_that_names_what_no_resource_has_fails_the_run() {
    let told = failed("let filter = #{ contact: \"jane\" }; find(\"Invoice\", filter);");
    assert_eq!(
        told,
        "a resource has no field `contact`; write `#{spec: #{contact: …}}`: the document of Invoice has it"
    );
    let told = failed("let filter = #{ spec: #{ conatct: \"jane\" } }; find(\"Invoice\", filter);");
    assert!(told.contains("did you mean `contact`?"), "{told}");
    let told = failed(
        "let filter = #{ spec: #{ source: #{ card: #{ number: \"4242\" } } } }; find(\"SavedMethod\", filter);",
    );
    assert!(told.contains("`spec.source.card.number` is secret: no script sees it"), "{told}");
    assert!(ran("find(\"Invoice\", #{ labels: #{ any: \"x\" }, spec: #{ contact: \"jane\" }, ready: true });").is_ok());
}

/// Closes K10 and K16: a run sees its own additions and deletions.
#[test]
fn k10_k16_values_are_added_to_and_deleted() {
    let state: CaseState =
        serde_json::from_value(json!({"kv": {"n": 4, "m": {"$money": "1.00 USD"}, "t": "x"}}))
            .unwrap();
    let set = hooks(
        "kv_add(\"n\", 2); kv_add(\"n\", 1); log(kv_get(\"n\")); kv_add(\"new\", money(\"2.00 USD\"));
        kv_add(\"m\", money(\"0.50 USD\")); log(kv_get(\"m\")); kv_delete(\"t\"); log(kv_get(\"t\") == ());
        kv_set(\"own\", 1); kv_add(\"own\", 1);",
    );
    let run = ran_with(&set, state.clone()).unwrap();
    assert_eq!(run.log, ["7", "1.50 USD", "true"]);
    assert_eq!(run.kept, [("own".to_owned(), json!(2)), ("t".to_owned(), Value::Null)]);
    let money = |text: &str| json!({ "$money": text });
    let added = [("m", money("0.50 USD")), ("n", json!(3)), ("new", money("2.00 USD"))];
    assert_eq!(run.added, added.map(|(key, value)| (key.to_owned(), value)));
    for wrong in ["kv_add(\"t\", 1);", "kv_add(\"m\", 1);", "kv_add(\"m\", money(\"1.00 EUR\"));"] {
        let told = ran_with(&hooks(wrong), state.clone()).unwrap_err().message;
        assert!(told.starts_with("`kv_add` adds a whole number to a whole number"), "{told}");
    }
    assert!(failed("kv_add(\"n\", event.data.id);").contains("takes a whole number or money"));
}

/// Closes K16: the parts of an amount sum up to it, the larger ones first.
#[test]
fn k16_money_is_split_without_a_rest() {
    let split = |text: &str, count: i64| {
        logged(&format!("for part in money(\"{text}\").split({count}) {{ log(part); }}"))
    };
    assert_eq!(split("10.00 USD", 3), ["3.34 USD", "3.33 USD", "3.33 USD"]);
    assert_eq!(split("-0.05 USD", 2), ["-0.02 USD", "-0.03 USD"]);
    assert_eq!(split("0.02 USD", 3), ["0.01 USD", "0.01 USD", "0.00 USD"]);
    assert!(failed("money(\"1.00 USD\").split(0);").contains("1 to 1000 parts"));
    assert_eq!(logged("log(\"a b\".split(\" \").len());"), ["2"]);
}

/// Closes K16: a bound of notifications names exactly what it counts.
#[test]
fn k16_at_most_says_what_it_counts_and_by_which_time() {
    let run = ran("notify(\"ops\", \"x\", #{ at_most: #{ count: 1, per: \"1d\" } });").unwrap();
    let bound = run.requests[0].at_most.clone().unwrap();
    assert_eq!((bound.key.as_str(), bound.count, bound.seconds), ("ops", 1, 86_400));
    assert_eq!(bound.span, 1_796_040_000 / 86_400, "the event's own day");
    for (wrong, told) in [
        ("#{ count: 0, per: \"1d\" }", "`count` of 1 to 1000"),
        ("#{ count: 1, per: \"1y\" }", "has a `per` such as"),
        ("#{ count: 1 }", "has a `per` such as"),
    ] {
        let message = failed(&format!("notify(\"ops\", \"x\", #{{ at_most: {wrong} }});"));
        assert!(message.contains(told), "{message}");
    }
}

/// A world in which scripts have used their whole quota.
struct Full(CaseState);

impl Reads for Full {
    fn resource(&self, key: &str) -> Result<Value, String> {
        self.0.resource(key)
    }
    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String> {
        self.0.find(kind, filter)
    }
    fn transaction(&self, id: &str) -> Result<Value, String> {
        self.0.transaction(id)
    }
    fn remote(&self, name: &str, args: &Value) -> Result<Value, String> {
        self.0.remote(name, args)
    }
    fn kv(&self, script: &str, key: &str) -> Result<Value, String> {
        self.0.kv(script, key)
    }
    fn kept_size(&self, _script: &str) -> Result<(ScriptValuesSize, ScriptValuesSize), String> {
        let own = ScriptValuesSize { keys: KEYS_MAX, bytes: 1000 };
        Ok((own, own))
    }
}

/// Closes the quotas of K11.
#[test]
fn k11_a_run_that_would_keep_too_much_fails_and_one_that_keeps_less_does_not() {
    let ran = |body: &str| {
        let state = serde_json::from_value(json!({"kv": {"old": 1}})).unwrap();
        let reads: Arc<dyn Reads> = Arc::new(Full(state));
        let handler = EventHandler { script: "a".to_owned(), function: "on_event".to_owned() };
        on_stack(|| hooks(body).run(&handler, &event(), &reads, None)).unwrap()
    };
    let failure = ran("kv_set(\"new\", 1);").unwrap_err();
    assert_eq!(failure.cause, FailureCause::LimitExceeded);
    assert!(failure.message.contains("10001 keys of one script"), "{failure}");
    for fits in
        ["kv_set(\"old\", 22);", "kv_delete(\"old\");", "kv_delete(\"old\"); kv_set(\"new\", 1);"]
    {
        assert!(ran(fits).is_ok(), "{fits}");
    }
}

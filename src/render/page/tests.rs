//! Tests of the page's markup: text from outside is text, and every page keeps the rules of pages.

use maud::Markup;
use serde_json::{Value, json};

use crate::base::page_style::tests::outline::faults;
use crate::control::testing::overview;
use crate::engine::protocol::graph::{GraphNode, GraphSubject, GraphView};
use crate::engine::protocol::next_steps::{NeedView, NextStep};
use crate::engine::protocol::pages::{MoneyOutlook, PlanPart, ResourceContext};
use crate::engine::protocol::resources::{ListPart, ResourceList};
use crate::engine::protocol::views::{DownHostView, Overview, ResourceView};
use crate::model::plan::Standing;
use crate::render::page::audit::WrittenSearch;
use crate::render::page::events::WrittenEventFilter;
use crate::render::page::frame::{OperatorPage, POLICY, PageSection};
use crate::render::page::overview::OverviewParts;
use crate::render::page::parts::paging;
use crate::render::page::resources::WrittenFilter;
use crate::render::page::{audit, event, events, graph, intents, plan, resource, resources, why};

mod forms;

/// A text of an attacker: markup, the end of an attribute, and a change of the direction of writing.
const HOSTILE: &str = "\"><script>alert(1)</script>\u{202e}\u{1b}[31m";

fn of<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// Checks a page of hostile texts: none of them is markup, and all of them are shown.
fn check(title: &str, inner: Markup) -> String {
    let html = OperatorPage {
        title,
        section: Some(PageSection::Audit),
        holds: Vec::new(),
        session: None,
        inner,
    }
    .html()
    .into_string();
    assert_eq!(faults(&html), Vec::<String>::new(), "{title}");
    assert!(!html.contains("<script>"), "{title}: markup from outside: {html}");
    assert!(!html.contains(['\u{202e}', '\u{1b}']), "{title}: control characters");
    assert!(html.contains("&lt;script&gt;"), "{title}: the text is shown");
    assert!(!html.contains(" on") || !html.contains("=\"javascript:"), "{title}");
    html
}

fn hostile_resource() -> ResourceView {
    of(json!({
        "kind": "Invoice", "namespace": "default", "name": "jane", "ready": false, "standing": "needs_attention", "reason": HOSTILE,
        "message": format!("{HOSTILE}; run `reckon approve Merchant/acme`"), "verdict": HOSTILE, "remote_id": HOSTILE,
        "file": HOSTILE, "line": 3, "merchant": HOSTILE, "labels": {HOSTILE: HOSTILE},
        "amount": 1250, "currency": "USD", "facts": {HOSTILE: {"a": HOSTILE}},
        "conditions": [{"type": "Synced", "status": "False", "reason": HOSTILE, "message": HOSTILE, "since": HOSTILE}],
        "payments": {"last": {"id": HOSTILE, "result": "declined", "amount": 5, "currency": "USD", "reason": HOSTILE, "at": HOSTILE},
            "failures": 2, "next": HOSTILE},
    }))
}

fn list(items: &[ResourceView]) -> ResourceList {
    of(json!({"items": items, "total": 120, "at": "2026-11-20T12:00:00Z"}))
}

#[test]
fn a_list_of_resources_shows_hostile_text_as_text_and_keeps_its_filter_in_its_links() {
    let hostile = Some(HOSTILE.to_owned());
    let filter = WrittenFilter {
        search: hostile.clone(),
        labels: hostile,
        not_ready: true,
        ..WrittenFilter::default()
    };
    let part = ListPart { offset: 50, limit: Some(50) };
    let html = check("list", resources::list(&filter, part, &list(&[hostile_resource()])));
    assert!(html.contains("51–51 of 120"), "{html}");
    assert!(html.contains("&amp;not_ready=true&amp;offset=51\""), "{html}");
    assert!(html.contains("href=\"/resources/Invoice/default/jane\""), "{html}");
    check("refusal", resources::refusal(&filter, HOSTILE));
}

#[test]
fn one_resource_shows_its_command_its_needs_and_its_records() {
    let need = |needs| NeedView {
        key: "Contact/jane".parse().unwrap(),
        ready: false,
        reason: HOSTILE.to_owned(),
        message: HOSTILE.to_owned(),
        needs,
        is_cut: false,
    };
    let mut resource = hostile_resource();
    resource.needs = vec![need(vec![need(Vec::new())])];
    resource.next = vec![NextStep {
        command: "reckon approve Merchant/acme".to_owned(),
        purpose: HOSTILE.to_owned(),
    }];
    let context =
        ResourceContext { resource, users: vec!["Invoice/other".parse().unwrap()], users_total: 3 };
    let html = check("one", resource::page(&context, &of(trail()), false));
    assert!(html.contains("<code class=\"command\">reckon approve Merchant/acme</code>"), "{html}");
    assert!(html.contains("and 2 more") && html.contains("12.50 USD"), "{html}");
    assert_eq!(html.matches("ul class=\"tree\"").count(), 2, "a tree of two levels");
}

#[test]
fn a_graph_is_a_drawing_with_links_and_the_same_as_a_table() {
    let node = |name: &str, standing| GraphNode {
        key: name.parse().unwrap(),
        standing,
        reason: HOSTILE.to_owned(),
        message: HOSTILE.to_owned(),
    };
    let long = "RecurringCharge/a-name-that-is-longer-than-a-box";
    let nodes = vec![
        node("Merchant/acme", Some(Standing::Ready)),
        node(long, Some(Standing::Waiting)),
        node("SavedMethod/gone", None),
    ];
    let view = GraphView { nodes, edges: vec![(0, 1), (2, 1)], left_out: 7, is_cut: false };
    let subject = GraphSubject::Resource(long.parse().unwrap());
    let html = check("graph", graph::page(&subject, &view));
    let (drawing, table) = html.split_once("The same as a list").unwrap();
    for name in ["acme", "a-name-that-is-longer-than-a-box"] {
        let link = format!("/default/{name}\"");
        assert!(drawing.contains(&link) && table.contains(&link), "{name}: {html}");
    }
    for part in ["✓ Merchant · ready", "✗ SavedMethod · missing", ">a-name-that-is-longer-th…<"]
    {
        assert!(drawing.contains(part), "{part}: {drawing}");
    }
    assert_eq!(
        (drawing.matches("class=\"line ").count(), drawing.matches("<rect").count()),
        (2, 3)
    );
    assert!(!html.contains("/default/gone\""), "what has no document has no page");
    assert!(html.contains("7 others are left out"), "{html}");
    assert_eq!(
        graph::graph_path(&subject),
        format!("/graph?resource={}", long.replace('/', "%2F"))
    );
}

fn trail() -> Value {
    let entry = json!({
        "record": 7, "hash": "0".repeat(64), "at": "2026-11-20T12:00:00Z", "kind": HOSTILE,
        "key": "Invoice/default/jane", "intent": "i-000012", "actor": HOSTILE, "detail": HOSTILE,
    });
    json!({"items": [entry], "next": 7, "position": 9, "dropped": 0})
}

#[test]
fn the_audit_trail_shows_its_records_and_keeps_its_search() {
    let search = WrittenSearch { actor: Some(HOSTILE.to_owned()), ..WrittenSearch::default() };
    let html = check("audit", audit::page(&search, &of(trail())));
    assert!(html.contains("before=7") && html.contains("/why?what=i-000012"), "{html}");
    check("refused", audit::refusal(&search, HOSTILE));
}

#[test]
fn the_plan_shows_each_step_with_its_fields_and_money() {
    let step = json!({
        "kind": "Invoice", "namespace": "default", "name": "jane", "verdict": "create", "reason": HOSTILE,
        "message": HOSTILE, "stuck": true, "file": HOSTILE, "line": 3, "waits_for": ["Contact/default/jane"],
        "changes": [{"path": HOSTILE, "before": null, "after": HOSTILE}],
        "money": [{"currency": "USD", "mode": "test", "meaning": "invoiced", "amount": 1000}],
    });
    let plan: PlanPart = of(json!({
        "coverage": "partial", "commit": null, "resources": 3, "changes": 1, "total": 1,
        "part": {"offset": 0, "limit": 50}, "steps": [step],
        "totals": [{"currency": "USD", "mode": "test", "meaning": "invoiced", "amount": 1000}],
        "problems": [], "omitted": {"errors": 0, "warnings": 0},
    }));
    let html = check("plan", plan::page(&plan, true, false));
    assert!(html.contains("10.00 USD invoiced (test)") && html.contains("(none)"), "{html}");
}

#[test]
fn an_intent_in_doubt_shows_its_evidence_and_the_commands() {
    let intent = json!({
        "id": "i-000012", "key": "Invoice/default/jane", "effect": HOSTILE, "state": "held", "attempts": 1,
        "reason": HOSTILE, "source_id": HOSTILE, "mark": HOSTILE, "at": "2026-11-20T12:00:00Z",
        "evidence": {"asked": {"amount": 5}, "settled_by": HOSTILE, "shows_at": [HOSTILE]},
    });
    let object = json!({"id": HOSTILE, "list": HOSTILE, "mark": HOSTILE, "key": "Invoice/default/jane",
        "second": false, "way_out": ["reckon forget x", HOSTILE]});
    let view = json!({"items": [intent], "remade": [{"intent": "i-000002", "key": "Invoice/default/joe"}], "strays": [object]});
    let html = check("intents", intents::page(&of(view), false));
    assert!(html.contains("reckon intents resolve i-000012 --as not-done"), "{html}");
    assert!(html.contains("reckon forget x"), "{html}");
}

#[test]
fn effects_events_and_hooks_are_shown() {
    let effect = json!({
        "position": 7, "at": HOSTILE, "verb": "refused", "intent": "i-000002", "key": "Action/default/back",
        "effect": HOSTILE, "refusal": HOSTILE, "cause": {"file": null, "line": null, "commit": null},
    });
    let event = json!({"merchant": HOSTILE, "id": HOSTILE, "type": HOSTILE, "created": HOSTILE, "stands": "told",
        "standing": null, "via": null, "posts": 1, "first": HOSTILE, "about": [HOSTILE, "Invoice/jane"], "object": null});
    let run = json!({"merchant": HOSTILE, "event": HOSTILE, "script": HOSTILE, "message": HOSTILE, "tries": 3, "again": null});
    let action = json!({"merchant": HOSTILE, "event": HOSTILE, "name": HOSTILE, "verb": HOSTILE, "script": HOSTILE,
        "at": null, "since": HOSTILE, "held": HOSTILE});
    let hooks = json!({"scripts": [], "loaded": null, "files": null, "problems": 1, "waiting": [action], "failed": [],
        "dead": [run], "undone": []});
    let filter = WrittenEventFilter { kind: HOSTILE.to_owned(), ..WrittenEventFilter::default() };
    let view = json!({"receivers": [], "away": HOSTILE, "items": [event], "waiting": [], "forged": [],
        "ignored": [{"at": HOSTILE, "reference": HOSTILE, "reason": HOSTILE}]});
    let html =
        check("events", events::page(&filter, &[of(effect)], (&of(view), Some(200)), &of(hooks)));
    assert!(html.contains("limit=200"), "{html}");
    assert!(!html.contains("/resources/Action/"), "an action has no page");
}

#[test]
fn one_event_is_shown_with_its_runs_and_actions() {
    let action = json!({"name": HOSTILE, "verb": HOSTILE, "fields": {}, "due": HOSTILE, "state": "refused",
        "message": HOSTILE, "settled": HOSTILE, "key": HOSTILE,
        "effects": [{"intent": "i-000012", "effect": HOSTILE, "state": HOSTILE, "at": HOSTILE}],
        "attempts": [{"at": HOSTILE, "started": true}]});
    let run = json!({"at": HOSTILE, "record": 7, "script": HOSTILE, "function": HOSTILE, "outcome": "failed",
        "tries": 2, "message": HOSTILE, "again": HOSTILE, "log": [HOSTILE], "log_omitted": 3,
        "reads": [{"read": HOSTILE, "arguments": HOSTILE}], "operations": 7, "stored": [HOSTILE], "actions": [action]});
    let detail = json!({"merchant": HOSTILE, "id": HOSTILE, "type": HOSTILE, "created": HOSTILE, "stands": "told",
        "standing": null, "via": "poll", "posts": 1, "first": HOSTILE, "about": [HOSTILE, "Invoice/jane"],
        "object": null, "at": HOSTILE, "data": {"text": HOSTILE}, "verified": {"at": HOSTILE, "without_hooks": true},
        "deliveries": [{"at": HOSTILE, "record": 3, "other_mode": true}], "runs": [run],
        "replays": [{"at": HOSTILE, "actor": HOSTILE}], "not_known": [HOSTILE],
        "next": [{"command": HOSTILE, "purpose": HOSTILE}]});
    let html = check("event", event::page(&of(detail)));
    assert!(html.contains("/why?what=i-000012") && html.contains("try 2"), "{html}");
}

#[test]
fn the_first_page_begins_with_the_service_and_its_counts_add_up() {
    let silent = DownHostView {
        host: HOSTILE.to_owned(),
        since: "2026-11-22T10:02:00.000Z".to_owned(),
        next: "2026-11-22T10:03:00.000Z".to_owned(),
    };
    let mut overview = Overview { ready: 3, ..overview() };
    overview.traffic.silent.push(silent);
    overview.alerts = of(
        json!([{"target": HOSTILE, "since": "2026-11-22T10:02:00.000Z", "reason": HOSTILE, "waiting": 1}]),
    );
    let money: MoneyOutlook =
        of(json!({"counted": 4, "resources": 5, "rows": [{"currency": "USD", "mode": "test",
        "collected_30_days": 100, "due_30_days": 250, "due_12_months": 1250,
        "months": [{"month": "2030-01", "amount": 250}, {"month": "2030-02", "amount": 1000}]}]}));
    let parts = OverviewParts {
        overview: &overview,
        receivers: &[],
        not_ready: &[hostile_resource()],
        intents: &of(json!({"items": [], "remade": []})),
        money: &money,
    };
    let html = check("overview", super::overview::page(&parts, false));
    let text = html.replace(['<', '>'], " ");
    assert!(html.contains(" silent since <time"), "{html}");
    assert!(html.contains("Alerts are not delivered to <code"), "{html}");
    assert!(html.find("silent since") < html.find("All resources"), "the service comes first");
    for count in ["class=\"sum\"> 3", "class=\"sum\"> 2", "class=\"sum\"> 5"] {
        assert!(text.contains(&count.replace("> ", " ")), "3 ready, 2 not ready, 5 in all: {text}");
    }
    assert!(html.contains("12.50 USD"), "{html}");
    assert!(html.contains("<rect") && html.contains("4 of 5 resources"), "{html}");
}

#[test]
fn a_problem_of_many_resources_is_shown_once() {
    let mut overview = overview();
    overview.standings.needs_attention = 120;
    let many = vec![hostile_resource(); 12];
    let parts = OverviewParts {
        overview: &overview,
        receivers: &[],
        not_ready: &many,
        intents: &of(json!({"items": [], "remade": []})),
        money: &of(json!({"counted": 0, "resources": 0, "rows": []})),
    };
    let html = check("many", super::overview::page(&parts, false));
    assert_eq!(html.matches("reckon describe Invoice/jane").count(), 1, "{html}");
    assert!(
        html.contains("and 9 more with this problem") && html.contains("and 108 more<"),
        "{html}"
    );
}

#[test]
fn reasons_name_the_request_and_its_line() {
    let record = json!({"record": 7, "hash": "0".repeat(64)});
    let progress =
        json!({"stands": record, "at": "2026-11-20T12:00:00Z", "what": HOSTILE, "detail": HOSTILE});
    let effect = json!({"intent": "i-000012", "effect": HOSTILE, "outcome": HOSTILE,
        "money": [{"currency": "USD", "mode": "test", "meaning": "invoiced", "amount": 1000}], "expected": [["a", HOSTILE], ["description", "private words"], ["total_amount", 1000]],
        "progress": [progress], "request": HOSTILE, "source_id": HOSTILE, "mark": HOSTILE, "at": "2026-11-20T12:00:00Z",
        "stands": record, "approval": null, "file": "specs/jane.yaml", "line": 4, "commit": "abc", "author": null});
    let view = json!({"version": 1, "about": [HOSTILE], "position": 9, "head": "00ff",
        "resources": [{"key": "Invoice/default/jane", "effects": [effect], "others": [], "verified": []}]});
    let html = check("why", why::page("i-000012", Some(&of(view))));
    assert!(
        html.contains("specs/jane.yaml:4") && html.contains("10.00 USD invoiced (test)"),
        "{html}"
    );
    assert!(html.contains("total_amount = 1000") && !html.contains("private words"), "{html}");
    check("unknown", why::page(HOSTILE, None));
}

#[test]
fn a_page_may_load_only_from_its_own_origin() {
    assert!(POLICY.starts_with("default-src 'none'") && !POLICY.contains("unsafe"));
    assert!(!POLICY.contains("http") && !POLICY.contains('*'));
}

#[test]
fn the_first_and_the_last_part_of_a_list_have_one_link_each() {
    let html = |offset, shown| {
        let part = ListPart { offset, limit: Some(50) };
        paging(part, (shown, 60), &|offset| format!("/x?{offset}")).into_string()
    };
    assert!(html(0, 50).contains("/x?50") && !html(0, 50).contains("Previous"));
    assert!(html(50, 10).contains("/x?0") && !html(50, 10).contains("Next"));
    assert!(html(90, 0).contains("Nothing here"));
}

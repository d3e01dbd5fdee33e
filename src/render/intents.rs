//! Renders intents that are not settled, with the next step for each.

use crate::base::wording::count_noun;
use crate::engine::protocol::actions::ResolveResult;
use crate::engine::protocol::intents::{IntentEvidence, IntentView, IntentsView};
use crate::render::table::{Column, Line, push_table};
use crate::render::words::{Screen, clean, push_line, value_text, wrap};

const SENTENCE_WIDTH: usize = 80;
const COLUMNS: [Column; 6] = [
    Column::new("INTENT"),
    Column::new("RESOURCE").elastic(),
    Column::new("EFFECT"),
    Column::new("STATE"),
    Column::new("SENT").dispensable(),
    Column::new("SINCE").dispensable(),
];

pub fn resolve_result(resolved: &ResolveResult) -> String {
    match resolved {
        ResolveResult::Unknown => "there is no such intent\n".to_owned(),
        ResolveResult::Busy(key) => {
            format!("{} is being settled now; nothing was recorded\n", clean(&key.short()))
        }
        ResolveResult::Settled(key) => format!("{} is settled\n", clean(&key.short())),
        ResolveResult::Differs(key, why) | ResolveResult::Unverified(key, why) => {
            let (name, why) = (clean(&key.short()), clean(why));
            format!("{name} is not settled, and nothing was recorded: {why}\n")
        }
        ResolveResult::Unsettled(key, why) => {
            format!("{} is still not settled: {}\n", clean(&key.short()), clean(why))
        }
    }
}

/// Renders unknown objects, open intents, and effects that were made again.
pub fn text(view: &IntentsView, screen: Screen) -> String {
    let frozen = view.freeze.as_ref().map(|freeze| clean(&freeze.sentence()));
    let frozen = frozen.map(|line| format!("{line}\n")).unwrap_or_default();
    if view.items.is_empty() && view.remade.is_empty() && view.unknown_objects.is_empty() {
        return format!("{frozen}Every intent is settled.\n");
    }
    let mut out = frozen;
    if !view.unknown_objects.is_empty() {
        super::actions::unknown_objects(&mut out, view);
    }
    if !view.items.is_empty() {
        push_table(&mut out, screen, &COLUMNS, view.items.iter().map(row).collect());
        for item in &view.items {
            advice(&mut out, screen, item);
        }
    }
    if !view.remade.is_empty() {
        recreated(&mut out, screen, view);
    }
    out
}

fn row(item: &IntentView) -> Line {
    let sent = count_noun(item.attempts, "time");
    let state = clean(&item.state).replace('_', " ");
    let cells = [&item.id, &item.key.short(), &item.effect].map(|text| clean(text));
    let cells = cells.into_iter().chain([state, sent, clean(&item.at)]);
    cells.collect::<Vec<_>>().into()
}

fn advice(out: &mut String, screen: Screen, item: &IntentView) {
    push_line!(out, "\n{} {}", screen.bold(&clean(&item.id)), clean(&item.key.short()));
    if let Some(reason) = &item.reason {
        sentence(out, reason);
    }
    let todo = match item.state.as_str() {
        "open" => "In flight. If no process runs, `reckon apply` continues it.".to_owned(),
        "in_doubt" => {
            "An answer was lost. `reckon apply` or the daemon settles the intent in the way that \
            `settled` names."
                .to_owned()
        }
        _ => format!(
            "Needs attention: nothing is sent until you resolve it. Look for its effect at the \
            service, then run `reckon intents resolve {} --as done:REMOTE_ID`, `--as not-done`, \
            or `--as retry`.",
            item.id
        ),
    };
    sentence(out, &todo);
    push_line!(out, "  mark       {}", clean(&item.mark));
    push_line!(out, "  source id  {}", clean(&item.source_id));
    evidence(out, &item.evidence);
}

/// Renders the evidence on an intent, and the places at the service that would show its effect.
fn evidence(out: &mut String, evidence: &IntentEvidence) {
    let IntentEvidence { target, asked, before, shows_at, settled_by, caused_by } = evidence;
    let asked: Vec<String> =
        asked.iter().map(|(name, asked)| format!("{name} {}", value_text(asked))).collect();
    let facts = [
        ("target", target.clone()),
        ("asked", (!asked.is_empty()).then(|| asked.join(", "))),
        ("before", (!before.is_null()).then(|| before.to_string())),
        ("settled", (!settled_by.is_empty()).then(|| settled_by.clone())),
        ("shows at", (!shows_at.is_empty()).then(|| shows_at.join(", "))),
        ("cause", caused_by.clone()),
    ];
    for (label, text) in facts {
        if let Some(text) = text {
            push_line!(out, "  {label:10} {}", clean(&text));
        }
    }
}

fn recreated(out: &mut String, screen: Screen, view: &IntentsView) {
    if !view.items.is_empty() {
        out.push('\n');
    }
    let lines = view.remade.iter();
    let lines = lines.map(|one| Line::from(vec![clean(&one.intent), clean(&one.key.short())]));
    push_table(out, screen, &["INTENT", "MADE AGAIN"].map(Column::new), lines.collect());
    out.push('\n');
    sentence(
        out,
        "No proof that the first try failed, so these may exist twice at the service. Look for a \
        second one there, remove it by hand, and run `reckon intents dismiss ID --reason TEXT`. \
        With `reckon.dev/on-doubt: hold` in its document, a resource is put on hold instead.",
    );
}

fn sentence(out: &mut String, text: &str) {
    for row in wrap(text, SENTENCE_WIDTH) {
        push_line!(out, "  {row}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::intents::RemadeView;

    fn item(state: &str, reason: Option<&str>) -> IntentView {
        IntentView {
            id: "7".to_owned(),
            key: "Invoice/jane".parse().unwrap(),
            effect: "invoice.create".to_owned(),
            state: state.to_owned(),
            attempts: 1,
            reason: reason.map(str::to_owned),
            source_id: "acme:Invoice/default/jane".to_owned(),
            mark: "rkabcdefghijklmnopqrstuvwxyz".to_owned(),
            at: "2026-11-20T12:00:00.000Z".to_owned(),
            evidence: IntentEvidence {
                target: Some("t1".to_owned()),
                shows_at: vec!["GET /v1/transactions/t1".to_owned()],
                settled_by: "it is looked for".to_owned(),
                caused_by: Some("specs/jane.yaml:3".to_owned()),
                ..IntentEvidence::default()
            },
        }
    }

    #[test]
    fn every_intent_says_what_to_do() {
        let view = IntentsView {
            items: vec![item("held", Some("the answer names another amount"))],
            remade: vec![RemadeView { intent: "3".to_owned(), key: "Contact/jo".parse().unwrap() }],
            last_resort: None,
            unknown_objects: Vec::new(),
            freeze: None,
        };
        insta::assert_snapshot!(text(&view, Screen::PLAIN), @r#"
        INTENT  RESOURCE      EFFECT          STATE  SENT    SINCE
        7       Invoice/jane  invoice.create  held   1 time  2026-11-20T12:00:00.000Z

        7 Invoice/jane
          the answer names another amount
          Needs attention: nothing is sent until you resolve it. Look for its effect at
          the service, then run `reckon intents resolve 7 --as done:REMOTE_ID`, `--as
          not-done`, or `--as retry`.
          mark       rkabcdefghijklmnopqrstuvwxyz
          source id  acme:Invoice/default/jane
          target     t1
          settled    it is looked for
          shows at   GET /v1/transactions/t1
          cause      specs/jane.yaml:3

        INTENT  MADE AGAIN
        3       Contact/jo

          No proof that the first try failed, so these may exist twice at the service.
          Look for a second one there, remove it by hand, and run `reckon intents dismiss
          ID --reason TEXT`. With `reckon.dev/on-doubt: hold` in its document, a resource
          is put on hold instead.
        "#);
        for state in ["open", "in_doubt", "held"] {
            let one = IntentsView { items: vec![item(state, None)], ..IntentsView::default() };
            let shown = text(&one, Screen::PLAIN);
            assert_eq!(shown.contains("`reckon apply`"), state != "held", "{state}");
            assert!(shown.contains(state.replace('_', " ").as_str()));
        }
    }

    #[test]
    fn nothing_open_is_one_line() {
        assert_eq!(
            text(&IntentsView::default(), Screen { color: true, ..Screen::PLAIN }),
            "Every intent is settled.\n"
        );
    }
}

//! The pending plan, a part at a time, with its money.

use maud::{Markup, html};

use crate::base::wording::count_noun;
use crate::engine::protocol::pages::PlanPart;
use crate::engine::protocol::views::StepView;
use crate::model::manifest::TreeState;
use crate::model::state::drift::FieldChange;
use crate::render::page::forms::{APPROVE, RECONCILE, SYNC, order};
use crate::render::page::parts::{
    address, command, key_link, paging, resource_link, sentence, state,
};
use crate::render::words::{clean, file_place, money_text, problem_line, short_hash, value_text};

pub fn page(plan: &PlanPart, awaits_sync: bool, is_in_session: bool) -> Markup {
    let link =
        |offset: usize| address("/plan", &[("offset", (offset > 0).then(|| offset.to_string()))]);
    html! {
        div #plan data-live {
            p {
                (count_noun(plan.changes, "resource")) " to change, "
                (count_noun(plan.total, "step")) " not settled, of "
                (count_noun(plan.resources, "resource")) "."
                @if let Some(commit) = &plan.commit { " Commit " code { (short_hash(commit)) } "." }
            }
            @if plan.coverage == TreeState::Incomplete {
                div.notice.bad { "Some files are invalid: nothing is removed until " code { "reckon validate" } " passes." }
            }
            @if awaits_sync {
                div.notice { "The daemon waits for a person before it sends these changes." }
                (order(is_in_session, (SYNC.0, "Send this plan…"), "reckon sync"))
            }
            (problems(plan))
            (totals(plan))
            @if plan.total == 0 { p { "Nothing to do: every resource matches its document." } }
            @for step in &plan.steps { (step_part(step)) }
            @if plan.total > 0 { (paging(plan.part, (plan.steps.len(), plan.total), &link)) }
        }
        h2 { "Reconcile" }
        (order(is_in_session, (RECONCILE.0, "Reconcile now…"), "reckon reconcile"))
        h2 { "Whole plan" }
        p { "With field changes of all steps, and the checksum that an approval names:" }
        (command("reckon plan"))
        @if is_in_session && plan.total > 0 {
            p { "An approval lets what exceeds a limit pass, once, with at most the amounts of this plan." }
            (order(true, (APPROVE.0, "Approve this plan…"), ""))
        }
    }
}

fn problems(plan: &PlanPart) -> Markup {
    html! {
        @if !plan.problems.is_empty() {
            h2 { "Problems of the files" }
            ul.plain { @for problem in &plan.problems { li { (clean(&problem_line(problem))) } } }
        }
    }
}

fn totals(plan: &PlanPart) -> Markup {
    html! {
        @if !plan.totals.is_empty() {
            h2 { "Money of the whole plan" }
            ul.plain { @for money in &plan.totals { li { (money_text(money)) } } }
        }
    }
}

pub(super) fn step_part(step: &StepView) -> Markup {
    let verdict = format!("{:?}", step.verdict);
    let place = file_place(step.file.as_deref(), step.line);
    html! {
        section.step {
            h2 { (resource_link(&step.kind, &step.namespace, &step.name)) }
            p { (state(!step.stuck, &verdict)) " " strong { (clean(&step.reason)) } ": " (sentence(&step.message)) }
            @if let Some(place) = place { p.quiet { code { (place) } } }
            @if !step.money.is_empty() { ul.plain { @for money in &step.money { li { (money_text(money)) } } } }
            @if !step.waits_for.is_empty() {
                p { "Waits for " @for (place, key) in step.waits_for.iter().enumerate() {
                    @if place > 0 { ", " } (key_link(key))
                } }
            }
            @if !step.changes.is_empty() { (changes(&step.changes)) }
        }
    }
}

fn changes(changes: &[FieldChange]) -> Markup {
    let value = |value: &serde_json::Value| {
        if value.is_null() { "(none)".to_owned() } else { value_text(value) }
    };
    html! {
        details {
            summary { (count_noun(changes.len(), "field")) " changed" }
            div.scroll tabindex="0" { table {
                thead { tr { th scope="col" { "Field" } th scope="col" { "Before" } th scope="col" { "After" } } }
                tbody { @for one in changes {
                    tr { th scope="row" { (clean(&one.path)) } td { (value(&one.before)) } td { (value(&one.after)) } }
                } }
            } }
        }
    }
}

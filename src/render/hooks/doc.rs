//! Renders the documentation of host functions from the register itself.

use crate::render::words::push_line;
use crate::scripting::engine::host_functions;
use crate::scripting::host::call::{FunctionGroup, HostFn};
use crate::scripting::host::event_data::{DataField, event_records};
use crate::scripting::language::names::{self, EVENT_FIELDS, EVENTS};

const INTRO: &str = include_str!("intro.md");
const OUTRO: &str = include_str!("outro.md");

const GROUPS: [(FunctionGroup, &str, &str); 3] = [
    (
        FunctionGroup::Action,
        "Actions",
        "Actions are done when the script has ended without error: all of them or none. Each \
        returns its name.",
    ),
    (FunctionGroup::Read, "Reads", "Every answer is recorded with the run."),
    (FunctionGroup::Helper, "Helpers", "Helpers only compute."),
];

fn rows_of(group: FunctionGroup) -> impl Iterator<Item = &'static HostFn> {
    host_functions().filter(move |row| row.group == group)
}

/// Renders the arguments: `charge` (an id, or …), `amount` (…).
fn render_arguments(row: &HostFn) -> String {
    let words = row.arguments.iter();
    let words = words.map(|word| format!("`{}`: {}", word.name, word.value_type.description()));
    words.collect::<Vec<_>>().join("; ")
}

pub fn terminal_doc() -> String {
    let mut out = String::from("events (one function each; on_event(event) handles the others)\n");
    for row in EVENTS {
        let function = format!("{}(event)", names::handler_name(row.name));
        push_line!(out, "  {function:50} {}", row.doc);
    }
    out.push_str("\nfields of an event\n");
    for field in EVENT_FIELDS {
        push_line!(out, "  event.{:10} {}", field.name, field.doc);
    }
    for (record, fields) in event_records() {
        push_line!(out, "\nfields of event.data in events of a {record}");
        for field in fields {
            push_line!(out, "  {:30} {}{}", field.name, field.doc, personal_note(field));
        }
    }
    for (group, title, sentence) in GROUPS {
        push_line!(out, "\n{}: {sentence}", title.to_lowercase());
        for row in rows_of(group) {
            push_line!(out, "  {}\n      {}", row.usage(), row.doc);
            for option in row.options() {
                let takes = option.value_type.description();
                push_line!(out, "        {}: {takes}; {}", option.name, option.doc);
            }
        }
    }
    out
}

/// Renders the file docs/guides/hooks.md.
pub fn markdown() -> String {
    let mut out = String::from(INTRO);
    out.push_str("\n## Events\n\n| type | function | `event.data` | when |\n|---|---|---|---|\n");
    for row in EVENTS {
        let function = names::handler_name(row.name);
        push_line!(out, "| `{}` | `{function}` | {} | {} |", row.name, row.data, row.doc);
    }
    let others = names::ANY_EVENT;
    push_line!(out, "| all others | `{others}` | | A function for the type takes precedence. |");
    out.push_str("\n| field | holds |\n|---|---|\n");
    for field in EVENT_FIELDS {
        push_line!(out, "| `event.{}` | {} |", field.name, field.doc);
    }
    data_tables(&mut out);
    for (group, title, sentence) in GROUPS {
        push_line!(out, "\n## {title}\n\n{sentence}");
        for row in rows_of(group) {
            section(row, &mut out);
        }
    }
    out.push('\n');
    out.push_str(OUTRO);
    out
}

/// Renders a table of the fields of each kind of record.
fn data_tables(out: &mut String) {
    out.push_str(
        "\n### Fields of `event.data`\n\nThese are the fields that the service documents. When a \
        script is loaded, `reckon hooks check`\nwarns of any other. A field may be missing in an \
        event: read it with `event.data.get(\"reference\")`.\n",
    );
    for (record, fields) in event_records() {
        push_line!(out, "\n| {record} | holds |\n|---|---|");
        for field in fields {
            push_line!(out, "| `{}` | {}{} |", field.name, field.doc, personal_note(field));
        }
    }
}

fn personal_note(field: &DataField) -> &'static str {
    if field.personal { " Needs the right `personal`." } else { "" }
}

fn section(row: &HostFn, out: &mut String) {
    push_line!(out, "\n### `{}`\n\n{}", row.usage(), row.doc);
    if let Some(power) = row.right {
        push_line!(out, "\nIt needs the right `{}` ([Rights](#rights)).", power.word());
    }
    if !row.arguments.is_empty() {
        push_line!(out, "\n{}", render_arguments(row));
    }
    if row.options().next().is_some() {
        out.push_str("\n| option | takes | means |\n|---|---|---|\n");
    }
    for option in row.options() {
        let takes = option.value_type.description();
        push_line!(out, "| `{}` | {takes} | {} |", option.name, option.doc);
    }
}

//! Report of `apply`: prints each effect as it happens, and their totals.

use serde::Serialize;
use tokio::sync::mpsc;

use super::args::Output;
use super::exit::CommandFailure;
use super::out::Printer;
use super::plan;
use super::server::Daemon;
use crate::engine::{EffectReport, EngineQuery, PlanView, Reply};
use crate::render;

/// Output of `apply -o json`: the remaining plan and the effects that were done.
#[derive(Debug, Serialize)]
struct ApplyOutput<'a> {
    #[serde(flatten)]
    plan: &'a PlanView,
    done: &'a [EffectReport],
}

/// Prints each effect as it happens, until the last one, and returns all of them.
pub(super) async fn print_effects(
    mut effects: mpsc::UnboundedReceiver<EffectReport>,
    out: Printer,
) -> Vec<EffectReport> {
    let mut done = Vec::new();
    while let Some(happened) = effects.recv().await {
        line(&happened, out);
        done.push(happened);
    }
    done
}

/// Prints and returns the effects that a daemon did after this record of its journal.
pub(super) async fn print_effects_since(
    client: &Daemon,
    position: u64,
    out: Printer,
) -> Result<Vec<EffectReport>, CommandFailure> {
    let Reply::Effects(done) = client.ask(&EngineQuery::Effects(position)).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected effects",
        ));
    };
    for one in &done {
        line(one, out);
    }
    Ok(done)
}

fn line(happened: &EffectReport, out: Printer) {
    match out.form {
        // A closed reader is no failure.
        Output::Text => drop(out.text(&render::happened::effect_line(happened))),
        Output::Markdown => out.note(&render::happened::effect_line(happened)),
        Output::Json | Output::Yaml => {}
    }
}

/// Shows the effects that were done, and the plan of what remains.
pub(super) fn show(
    plan: &PlanView,
    done: &[EffectReport],
    out: Printer,
) -> Result<(), CommandFailure> {
    if matches!(out.form, Output::Json | Output::Yaml) {
        return out.result(&ApplyOutput { plan, done }, String::new);
    }
    if !done.is_empty() {
        out.text(&render::happened::summary(done))?;
    }
    plan::show(plan, out)
}

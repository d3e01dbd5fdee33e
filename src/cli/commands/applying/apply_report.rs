//! The output of `apply`: the plan with a question, each effect as it happens, and their totals.

use serde::Serialize;
use tokio::sync::mpsc;

use crate::cli::args::options::{ApplyArgs, Output};
use crate::cli::commands::planning::plan;
use crate::cli::exit::CommandFailure;
use crate::cli::print::Printer;
use crate::cli::remote::daemon::Daemon;
use crate::engine::protocol::queries::effect_log::EffectReport;
use crate::engine::protocol::queries::views::PlanView;
use crate::engine::protocol::query::EffectsQuery;
use crate::render;

/// Output of `apply -o json`: the remaining plan and the effects that were done.
#[derive(Debug, Serialize)]
struct ApplyOutput<'a> {
    #[serde(flatten)]
    plan: &'a PlanView,
    done: &'a [EffectReport],
}

/// Prints each effect as it happens, until the last one, and returns all of them.
pub(crate) async fn print_effects(
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
pub(crate) async fn print_effects_since(
    client: &Daemon,
    position: u64,
    out: Printer,
) -> Result<Vec<EffectReport>, CommandFailure> {
    let done = client.send(EffectsQuery(position)).await?;
    for one in &done {
        line(one, out);
    }
    Ok(done)
}

fn line(happened: &EffectReport, out: Printer) {
    match out.form {
        // A closed reader is no failure.
        Output::Text => drop(out.text(&render::effect_log::effect_line(happened))),
        Output::Markdown => out.note(&render::effect_log::effect_line(happened)),
        Output::Json | Output::Yaml => {}
    }
}

/// Shows the plan and asks for agreement, unless `--yes` is set. Without a terminal `--yes` is
/// required.
pub(crate) fn confirm(
    before: &PlanView,
    args: &ApplyArgs,
    out: Printer,
) -> Result<bool, CommandFailure> {
    let refusal = ("reckon::apply::unconfirmed", "review the plan, then run `reckon apply --yes`");
    out.agree(args.yes, || render::plan::text(before, out.color), refusal, "Apply this plan?")
}

/// Shows the effects that were done, and the plan of what remains.
pub(crate) fn show(
    plan: &PlanView,
    done: &[EffectReport],
    out: Printer,
) -> Result<(), CommandFailure> {
    if matches!(out.form, Output::Json | Output::Yaml) {
        return out.result(&ApplyOutput { plan, done }, String::new);
    }
    if !done.is_empty() {
        out.text(&render::effect_log::summary(done))?;
    }
    plan::show(plan, out)
}

//! Report of `apply`: prints each effect as it happens, and their totals.

use serde::Serialize;
use tokio::sync::mpsc;

use super::args::Output;
use super::exit::Failure;
use super::out::Out;
use super::plan;
use super::server::Daemon;
use crate::engine::{Happened, PlanView, Question, Reply};
use crate::render;

/// Output of `apply -o json`: the remaining plan and the effects that were done.
#[derive(Debug, Serialize)]
struct Applied<'a> {
    #[serde(flatten)]
    plan: &'a PlanView,
    done: &'a [Happened],
}

/// Prints each effect as it happens, until the last one, and returns all of them.
pub(super) async fn told(
    mut effects: mpsc::UnboundedReceiver<Happened>,
    out: Out,
) -> Vec<Happened> {
    let mut done = Vec::new();
    while let Some(happened) = effects.recv().await {
        line(&happened, out);
        done.push(happened);
    }
    done
}

/// Prints and returns the effects that a daemon did after this record of its journal.
pub(super) async fn since(
    client: &Daemon,
    position: u64,
    out: Out,
) -> Result<Vec<Happened>, Failure> {
    let Reply::Happened(done) = client.ask(&Question::Happened(position)).await? else {
        return Err(Failure::bug("effects were not answered by effects"));
    };
    for one in &done {
        line(one, out);
    }
    Ok(done)
}

fn line(happened: &Happened, out: Out) {
    match out.form {
        // A closed reader is no failure.
        Output::Text => drop(out.text(&render::happened::line(happened))),
        Output::Markdown => out.note(&render::happened::line(happened)),
        Output::Json | Output::Yaml => {}
    }
}

/// Shows the effects that were done, and the plan of what remains.
pub(super) fn show(plan: &PlanView, done: &[Happened], out: Out) -> Result<(), Failure> {
    if matches!(out.form, Output::Json | Output::Yaml) {
        return out.result(&Applied { plan, done }, String::new);
    }
    if !done.is_empty() {
        out.text(&render::happened::applied(done))?;
    }
    plan::show(plan, out)
}

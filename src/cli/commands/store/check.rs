//! `store`: verifies, rebuilds, copies, restores, compacts and rekeys the state on disk.

use serde::Serialize;

use super::{backup, compact, rekey, restore};
use crate::base::wording::count_noun;
use crate::cli::args::store::StoreCommand;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::model::record::Rekeyed;
use crate::store::state::error::OpenError;
use crate::store::state::open::{UnreadableValue, unreadable_values};
use crate::store::vault::upkeep::Gap;

/// Output of `store check` and `store rebuild`.
#[derive(Debug, Serialize)]
struct CheckOutput {
    records: u64,
    head: String,
    state_digest: String,
    partner: Option<String>,
    open_intents: usize,
    resources: usize,
    rebuilt: Option<String>,
    moved_aside: Option<String>,
    cut_bytes: Option<u64>,
    epoch: u32,
    begins_behind: u64,
    torn: Vec<String>,
    rekeyed: Option<Rekeyed>,
    problems: Vec<UnreadableValue>,
}

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    command: &StoreCommand,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    match command {
        StoreCommand::Check => check(setup, false, out).await,
        StoreCommand::Rebuild => check(setup, true, out).await,
        StoreCommand::Backup(args) => backup::run(setup, args, out).await,
        StoreCommand::Restore(args) => restore::run(setup, args, out).await,
        StoreCommand::Compact(args) => compact::run(setup, args, out).await,
        StoreCommand::Rekey(args) => rekey::run(setup, args, out).await,
        StoreCommand::Release(args) => restore::release(setup, args, out).await,
    }
}

/// Verifies everything; first rebuilds the index if `rebuild` is set.
async fn check(setup: &Context, rebuild: bool, out: Printer) -> Result<Exit, CommandFailure> {
    let state = setup.open_state(rebuild).await?.state;
    let head = state.verify()?;
    let facts = &state.facts;
    let mut resources = 0_usize;
    facts.each_observed(|_, _| {
        resources = resources.saturating_add(1);
        Ok(())
    })?;
    let gaps = state.vault.find_gaps().map_err(OpenError::from)?;
    let torn = |gap: &Gap| {
        format!("vault/{}: {} from byte {} on", gap.file, count_noun(gap.bytes, "byte"), gap.offset)
    };
    let report = CheckOutput {
        epoch: facts.state_owner()?.map_or(0, |binding| binding.epoch),
        begins_behind: state.base_sequence()?,
        torn: gaps.iter().map(torn).collect(),
        rekeyed: state.vault.identity().last_rekey().cloned(),
        problems: unreadable_values(facts, &state.vault)?,
        records: head.sequence,
        head: data_encoding::HEXLOWER.encode(&head.hash),
        state_digest: facts.digest()?.to_string(),
        partner: facts.state_owner()?.map(|binding| binding.partner),
        open_intents: facts.open_intents()?.len(),
        resources,
        rebuilt: state.found.rebuilt.clone(),
        moved_aside: state.found.moved_aside.as_ref().map(|path| path.display().to_string()),
        cut_bytes: state.found.cut.as_ref().map(|cut| cut.bytes),
    };
    state.close().await?;
    out.result(&report, || text(&report))?;
    Ok(if report.problems.is_empty() { Exit::Done } else { Exit::Environment })
}

/// Formats the report for people.
fn text(report: &CheckOutput) -> String {
    let mut lines = vec![
        format!("journal       {}, every one verified", count_noun(report.records, "record")),
        format!("head          {}", report.head),
        format!("state digest  {}", report.state_digest),
        format!("partner       {}", report.partner.as_deref().unwrap_or("none yet")),
        format!("resources     {}", report.resources),
        format!("open intents  {}", report.open_intents),
    ];
    if let Some(why) = &report.rebuilt {
        lines.push(format!("index         rebuilt from the journal: {why}"));
    }
    if let Some(path) = &report.moved_aside {
        lines.push(format!("              the damaged one was moved to {path}"));
    }
    if let Some(bytes) = report.cut_bytes.map(|bytes| count_noun(bytes, "byte")) {
        lines.push(format!("journal       a torn tail was cut ({bytes}, never acknowledged)"));
    }
    if report.epoch > 0 {
        lines.push(format!("epoch         {}: a backup was restored", report.epoch));
    }
    if report.begins_behind > 0 {
        lines.push(format!(
            "begins        after record {}, at a valid snapshot",
            report.begins_behind
        ));
    }
    lines.extend(report.rekeyed.as_ref().map(rekey::line));
    let torn = report.torn.iter();
    lines.extend(torn.map(|gap| format!("no value      {gap}: a torn write, or damage")));
    for ill in &report.problems {
        lines.push(format!("damaged       {} of {}: {}", ill.what, ill.key.short(), ill.why));
    }
    lines.join("\n")
}

//! Saved plans as files: `plan --out FILE` and `plan show FILE`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::plan;
use crate::cli::args::options::Output;
use crate::cli::args::plans::ShowArgs;
use crate::cli::context::git::command;
use crate::cli::context::open::Context;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::file;
use crate::cli::output::print::Printer;
use crate::engine::commands::saved_plan::{SavePlan, SavedPlan};
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::engine::queries::views::PlanView;
use crate::model::operator::selection::StepSelection;
use crate::render;

/// Mode of a saved plan: only its owner may read it.
const OWNER: u32 = 0o600;
/// Bytes of a file that are read, at most: a plan of a hundred thousand steps is smaller.
const FILE_BYTES_MAX: u64 = 1 << 29;
/// First bytes of a saved plan.
const FIRST_BYTES: &str = "{\n  \"saved_plan\":";

/// Saves the plan of this scope to a file, and returns the plan.
pub(crate) async fn save(
    setup: &Context,
    scope: StepSelection,
    fresh: plan::RefreshOptions,
    path: &Path,
    out: Printer,
) -> Result<PlanView, CommandFailure> {
    let saving = SavePlan {
        scope,
        dirty: setup.place().open().ok().and_then(|_| command::is_dirty(&setup.specs)),
    };
    let reply = plan::ask_about_plan(setup, fresh, EngineQuery::Save(Box::new(saving))).await?;
    let Reply::Saved(saved) = reply else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected a \
            saved plan",
        ));
    };
    let text = render::json(&*saved);
    file::write(path, &format!("{text}\n"), OWNER).map_err(|error| {
        let what = format!("write the plan to {}: {error}", path.display());
        CommandFailure::environment("reckon::plan_file::write", what)
    })?;
    let name = path.display();
    out.note(&format!("saved as {name}; `reckon apply {name}` applies exactly this plan, once"));
    Ok(saved.plan)
}

/// Returns true if a path argument names a saved plan: a file that is no YAML, or that begins as a
/// saved plan.
pub(crate) fn is_plan(path: &Path) -> bool {
    let yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    let begins = || {
        let mut start = Vec::new();
        let length = u64::try_from(FIRST_BYTES.len()).unwrap_or(u64::MAX);
        let read = File::open(path).and_then(|file| file.take(length).read_to_end(&mut start));
        read.is_ok() && start == FIRST_BYTES.as_bytes()
    };
    path.is_file() && (!yaml || begins())
}

/// Reads a saved plan, and its JSON.
pub(crate) fn read(path: &Path) -> Result<(SavedPlan, Value), CommandFailure> {
    let mut text = String::new();
    let file =
        File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
    file.map_err(|error| {
        let what = format!("read the plan {}: {error}", path.display());
        CommandFailure::input("reckon::plan_file::unreadable", what)
    })?;
    SavedPlan::read(&text).map_err(|error| {
        let what = format!("{} is not a saved plan, or is damaged: {error}", path.display());
        CommandFailure::input("reckon::plan_file::unreadable", what)
            .help("save a plan with `reckon plan --out FILE`; a damaged one cannot be repaired")
    })
}

/// Shows a saved plan; reads nothing but the file.
pub(crate) fn show(args: &ShowArgs, out: Printer) -> Result<Exit, CommandFailure> {
    let (saved, _) = read(&args.file)?;
    let name = args.file.display().to_string();
    if out.form == Output::Markdown {
        out.text(&render::saved::markdown(&saved, &name))?;
    } else {
        let view = render::saved::view(&saved);
        out.result(&view, || render::saved::text(&saved, &name, out.color))?;
    }
    let pending = args.detailed_exitcode && saved.changes();
    Ok(if pending { Exit::Pending } else { Exit::Done })
}

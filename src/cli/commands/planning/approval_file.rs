//! `approve … --write FILE`: writes the approval file to be committed, so that a person need not
//! type it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::{fs, io};

use crate::base::clock::{Clock, SystemClock};
use crate::base::money::{Currency, Money};
use crate::cli::args::options::ApproveArgs;
use crate::cli::commands::planning::plan_approval;
use crate::cli::commands::signed::approval::keys;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::context::timespec;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::config::approval_file::ApprovalFile;
use crate::engine::protocol::commands::plan_approval::PlanApprovalResult;
use crate::engine::protocol::queries::views::{PlanView, StepView};
use crate::engine::protocol::query::PlanQuery;
use crate::model::intents::exposure::{Exposure, RecordedMove};
use crate::policy::approval::first_excess;

/// Runs the command. A plan that was written as JSON needs no configuration and no state.
pub(crate) async fn write(
    setup: Option<&Context>,
    args: &ApproveArgs,
    file: &Path,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let plan = plan(setup, &args.what).await?;
    let now = SystemClock.now();
    let expires = args.signed.expires.as_deref().map(|text| timespec::parse_end(text, now));
    let expires = expires
        .transpose()
        .map_err(|failure| CommandFailure { code: "reckon::approval::expires", ..failure })?;
    let sums = sums(&plan);
    let all = sums.iter().map(|(currency, sum)| Money::new(*sum, *currency));
    let ceilings = if args.ceiling.is_empty() { all.collect() } else { args.ceiling.clone() };
    if let Some((moves, ceiling)) = first_excess(&ceilings, &sums) {
        return Err(plan_approval::not_approved(&PlanApprovalResult::Beyond {
            moves,
            ceiling: ceiling.copied(),
        }));
    }
    if !plan_approval::confirm(&plan, args.yes, out)? {
        out.note("nothing was written");
        return Ok(Exit::Done);
    }
    let approval = ApprovalFile { plan: plan.checksum, ceilings, expires };
    make(file, &approval.text()).map_err(|error| {
        let what = format!("write the approval to {}: {error}", file.display());
        CommandFailure::environment("reckon::approval::write", what)
            .help("choose a new file in the folder of approvals")
    })?;
    let name = file.display();
    out.text(&format!("written to {name}"))?;
    out.note(&format!(
        "commit it alone and signed, so that it counts: git add {name} && git \
        commit -S -- {name}"
    ));
    Ok(Exit::Done)
}

/// Returns the plan in the file, else the present one.
async fn plan(setup: Option<&Context>, what: &str) -> Result<PlanView, CommandFailure> {
    let checksum = plan_approval::checksum(what)?;
    let checksum = checksum.ok_or_else(|| {
        CommandFailure::input("reckon::approval::what", format!("{what:?} is not a plan"))
            .help("write the checksum of a plan, or the file of `reckon plan -o json`")
    })?;
    let Some(setup) = setup.filter(|_| !is_file(what)) else { return read(what) };
    let session = StateSession::open_view(setup).await?;
    let plan = session.ask_once(setup, PlanQuery).await?;
    if !plan.checksum.starts_with(&checksum) {
        return Err(plan_approval::not_approved(&PlanApprovalResult::Changed {
            checksum: plan.checksum,
        }));
    }
    Ok(plan)
}

/// Returns the file to write, where a plan's file is the only input.
pub(crate) fn file_without_config(args: &ApproveArgs) -> Option<&Path> {
    args.signed.write.as_deref().filter(|_| is_file(&args.what))
}

/// Returns true if the argument names a plan by its file.
fn is_file(what: &str) -> bool {
    Path::new(what).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

fn read(file: &str) -> Result<PlanView, CommandFailure> {
    let broken = |why: String| {
        let failure = CommandFailure::input("reckon::approve::plan_file", format!("{file}: {why}"));
        failure.help("write it with `reckon plan -o json`")
    };
    let text = fs::read(file).map_err(|error| broken(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| broken(error.to_string()))
}

/// Returns the amounts that the plan moves, as approvals count them.
fn sums(plan: &PlanView) -> std::collections::BTreeMap<Currency, i64> {
    let keys = keys(plan);
    let mut sums = std::collections::BTreeMap::new();
    for step in plan.steps.iter().filter(|step| keys.iter().any(|key| is(step, key))) {
        let moved = step.money.iter().filter_map(|money| {
            let currency: Currency = money.currency.parse().ok()?;
            let amount = Money::new(money.amount, currency);
            Some(RecordedMove { amount, meaning: money.meaning.clone() })
        });
        let stake = Exposure { moves: moved.collect(), ..Exposure::default() };
        for (currency, amount) in stake.sums() {
            let sum: &mut i64 = sums.entry(currency).or_default();
            *sum = sum.saturating_add(amount);
        }
    }
    sums
}

fn is(step: &StepView, key: &crate::base::id::Key) -> bool {
    format!("{}/{}/{}", step.kind, step.namespace, step.name) == key.to_string()
}

/// Writes a new file; never overwrites one.
fn make(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

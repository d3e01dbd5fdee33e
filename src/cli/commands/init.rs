//! `init`: scaffolds a new repository; `init --empty-remote` declares that no object of the service
//! is ours. `forget`: stops managing a resource, or disowns an object with a mark of ours; the
//! service is not asked.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::RemoteId;
use crate::cli::args::options::{Cli, InitArgs};
use crate::cli::args::resources::ForgetArgs;
use crate::cli::commands::get::parse_resource;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::state_handle::StateHandle;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::{self, Printer};
use crate::control::requests::Forget;
use crate::engine::protocol::intents::DisownPreview;
use crate::engine::queries::intents::disown_preview;
use crate::kinds::register::KINDS;
use crate::model::record::Record;
use crate::model::state::drift::{ForgetRequest, ForgetResult};
use crate::render;
use crate::spec::header;
use crate::store::error::OpenError;
use crate::store::vault::key::{KEY_FILE, MasterKey};
use crate::store::writer::core::Commit;

const IGNORED: &str = "/.reckon\n/.reckon.mark\n.reckon.key*\n";

/// Returns the files of a new repository. The first line of the specs names the schema.
fn files() -> Vec<(&'static str, String)> {
    let schema = render::json(&header::document(KINDS));
    vec![
        ("reckon.yaml", include_str!("init/reckon.yaml").to_owned()),
        ("specs/acme.yaml", include_str!("init/acme.yaml").to_owned()),
        ("specs/schema/document.json", format!("{schema}\n")),
        (".gitignore", IGNORED.to_owned()),
    ]
}

/// The repository of the documents, in the layout for test and live.
const DOCUMENTS: &str = "documents";

/// Returns the files of the layout for test and live: the repository of the documents with a
/// configuration for test mode, and outside of it the configuration for live money.
fn live_files() -> Vec<(&'static str, String)> {
    let schema = render::json(&header::document(KINDS));
    let merchant = |mode: &str, code: &str| {
        let text = include_str!("init/live/merchant.yaml");
        text.replace("@MODE@", mode).replace("@CODE@", code)
    };
    vec![
        ("reckon.yaml", include_str!("init/live/reckon.yaml").to_owned()),
        ("documents/reckon.yaml", include_str!("init/live/test.yaml").to_owned()),
        ("documents/base/jane.yaml", include_str!("init/live/base.yaml").to_owned()),
        ("documents/test/acme.yaml", merchant("test", "CODE_ACME_TEST")),
        ("documents/live/acme.yaml", merchant("live", "CODE_ACME_LIVE")),
        ("documents/schema/document.json", format!("{schema}\n")),
        ("documents/.gitignore", IGNORED.to_owned()),
    ]
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InitOutput {
    made: Vec<PathBuf>,
    kept: Vec<PathBuf>,
}

pub(crate) async fn run(cli: &Cli, args: &InitArgs, out: Printer) -> CommandResult {
    if args.empty_remote {
        return disown(cli, args, out).await;
    }
    let dir = args.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut made = InitOutput { made: Vec::new(), kept: Vec::new() };
    for (name, text) in if args.live { live_files() } else { files() } {
        let path = dir.join(name);
        let list = if write_new(&path, &text)? { &mut made.made } else { &mut made.kept };
        list.push(path);
    }
    let tested = if args.live { dir.join(DOCUMENTS) } else { dir.clone() };
    let key = tested.join(KEY_FILE);
    let had = key.exists();
    MasterKey::read_or_create_file(&key, &mut machine::rng()?)
        .map_err(|error| CommandFailure::environment("reckon::init::key", error))?;
    let list = if had { &mut made.kept } else { &mut made.made };
    list.push(key);
    out.finish(&made, || text(&made, &next(&dir, args.live)))
}

/// Writes a file unless it exists; returns true if it was written.
fn write_new(path: &Path, text: &str) -> CommandResult<bool> {
    match print::create(path, text) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => {
            let what = format!("write {}: {error}", path.display());
            Err(CommandFailure::environment("reckon::init::write", what))
        }
    }
}

/// Returns the commands to run next.
fn next(dir: &Path, live: bool) -> String {
    let config = dir.join("reckon.yaml");
    if !live {
        return format!("next: reckon --config {} run --sandbox", config.display());
    }
    let documents = dir.join(DOCUMENTS);
    let test = documents.join("reckon.yaml");
    format!(
        "test: git init {} && reckon --config {} run --sandbox\nlive: reckon --config {} validate",
        documents.display(),
        test.display(),
        config.display()
    )
}

fn text(made: &InitOutput, next: &str) -> String {
    let line = |word: &str, path: &PathBuf| format!("{word}  {}", path.display());
    let mut lines: Vec<String> = made.made.iter().map(|path| line("made", path)).collect();
    lines.extend(made.kept.iter().map(|path| line("kept", path)));
    lines.push(format!("\n{next}"));
    lines.join("\n")
}

pub(crate) async fn forget(setup: &Context, args: &ForgetArgs) -> CommandResult {
    let what = parse_subject(&args.what)?;
    let refusal = (
        "reckon::forget::unconfirmed",
        "review what would be forgotten, then repeat the command with --yes",
    );
    let shown = || render::actions::forget_request(&what);
    if !setup.out.agree(args.yes, shown, refusal, "Forget it?")? {
        setup.out.note("nothing was written");
        return Ok(Exit::Done);
    }
    let forgot = setup.send(Forget(what)).await?;
    match &forgot {
        ForgetResult::Resource(..) | ForgetResult::Object(..) => {
            setup.out.finish(&forgot, || render::actions::forget_result(&forgot))
        }
        ForgetResult::Refused(why, help) => {
            let failure = CommandFailure::input("reckon::forget::refused", why).help(help);
            Err(CommandFailure { exit: Exit::NeedsAttention, ..failure })
        }
        ForgetResult::Unknown(nearest) => Err(unknown_subject(&args.what, nearest.as_deref())),
    }
}

fn parse_subject(text: &str) -> CommandResult<ForgetRequest> {
    if text.contains('/') {
        return Ok(ForgetRequest::Resource(parse_resource(text)?));
    }
    let id = RemoteId::new(text)
        .map_err(|error| CommandFailure::input("reckon::forget::name", error).help(NAMES));
    id.map(ForgetRequest::Object)
}

const NAMES: &str = "write KIND/NAME, or the id of an object that `reckon intents` shows";

fn unknown_subject(text: &str, nearest: Option<&str>) -> CommandFailure {
    let what = if text.contains('/') {
        format!("no such resource: {text}")
    } else {
        format!("no such unknown object: {text}")
    };
    let failure = CommandFailure::input("reckon::forget::unknown", what);
    match nearest {
        Some(name) => failure.help(format!("did you mean {name}?")),
        None if text.contains('/') => failure.help("list all resources with `reckon get`"),
        None => failure.help(NAMES),
    }
}

/// Output of `init --empty-remote -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DisownOutput {
    disowned: DisownPreview,
}

pub(crate) async fn disown(cli: &Cli, args: &InitArgs, out: Printer) -> CommandResult {
    let setup = Context::load(cli, out)?;
    setup.require_local("`init --empty-remote`", "it is a statement about the state itself")?;
    let open = setup.open_bound(None).await?;
    let asked = confirm_disown(&open, args.yes, out);
    let agreed = asked.as_ref().is_ok_and(|(_, agreed)| *agreed);
    let written = if agreed { declare(&open).await } else { Ok(()) };
    open.state.close().await?;
    written?;
    let (disowned, agreed) = asked?;
    out.note(if agreed { DECLARED } else { "nothing was written" });
    if agreed {
        out.result(&DisownOutput { disowned }, String::new)?;
    }
    Ok(Exit::Done)
}

const DECLARED: &str =
    "recorded: objects at the service with marks that this state does not know are not yours";

/// Shows the objects that would be disowned and asks; without a terminal `--yes` is required.
fn confirm_disown(
    open: &StateHandle,
    yes: bool,
    out: Printer,
) -> CommandResult<(DisownPreview, bool)> {
    let unknown = disown_preview(&open.state.facts).map_err(OpenError::from)?;
    out.note(&render::actions::disown_request(&unknown));
    let refusal = (
        "reckon::init::unconfirmed",
        "adopt your objects with `reckon import KIND/NAME ID` or `reckon import --all`; if none is yours, \
        run `reckon init --empty-remote --yes`",
    );
    Ok((unknown, out.agree_to_shown(yes, refusal, "Disown all of them permanently?")?))
}

async fn declare(open: &StateHandle) -> CommandResult<()> {
    let record = Record::EmptyRemote { at: SystemClock.now(), actor: machine::actor() };
    open.state.writer.append(Commit::of(vec![record])).await.map_err(OpenError::from)?;
    Ok(())
}

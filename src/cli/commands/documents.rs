//! Documents, without the state: `validate` checks them, with all problems in one run; `explain` and
//! `schema` describe their fields; `seal` seals a secret for one field of one document. The secret comes
//! from standard input, never from an argument, which other users of the machine could read.

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::base::wording::{self, count_noun};
use crate::cli::args::documents::{ExplainArgs, PathArgs, SchemaArgs, SealArgs};
use crate::cli::args::output::Output;
use crate::cli::context::machine::below;
use crate::cli::context::open::Context;
use crate::cli::context::secrets::place;
use crate::cli::context::selection::check_paths;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::Printer;
use crate::config::schema::CONFIG;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::register::KINDS;
use crate::kinds::row::KindRow;
use crate::model::issue::{Issue, PlacedIssue, ProblemCounts, TreeProblems};
use crate::render::diagnostic::{self, ProblemsView};
use crate::render::reference::event_types::EVENT_TYPES;
use crate::render::reference::{configuration, event_types, kinds};
use crate::render::reports::findings::ReportFindings;
use crate::spec::default_fields::DEFAULTS;
use crate::spec::explain::{KindList, KindMeaning};
use crate::spec::tree::loader::Loader;
use crate::spec::{defaults, explain, header};
use crate::{config, render};

pub(crate) fn validate(setup: &Context, args: &PathArgs) -> CommandResult {
    check_paths(setup, &args.paths)?;
    let loader = setup.loaded_tree();
    let mut problems = loader.problems_where(|file| is_chosen(setup, &args.paths, file));
    problems.shown.extend(live_warnings(setup, &loader, &args.paths));
    let TreeProblems { shown, omitted } = &problems;
    let documents = loader.documents();
    let report = ProblemsView::new(documents, shown, *omitted);
    if !setup.out.report(|| ReportFindings::of_files(documents, shown, *omitted))? {
        setup.out.result(&report, || problems_text(&loader, &problems, setup.out))?;
    }
    // The process ends now, and its memory with it: freeing a large tree first takes time.
    std::mem::forget(loader);
    Ok(exit_for(problems.has_errors()))
}

pub(crate) fn exit_for(errors: bool) -> Exit {
    if errors { Exit::Input } else { Exit::Done }
}

pub(crate) fn problems_text(loader: &Loader, problems: &TreeProblems, out: Printer) -> String {
    let documents = count_noun(loader.documents(), "document");
    let total = problems.total();
    if total.is_zero() {
        return format!("{documents}, no problems");
    }
    let sources = loader.sources(&problems.shown);
    let errors = count_noun(total.errors, "error");
    let warnings = count_noun(total.warnings, "warning");
    let report = diagnostic::text(&problems.shown, &sources, out.diagnostic_look());
    let rest = omitted_line(problems.omitted);
    format!("{report}{rest}\n{documents}, {errors}, {warnings}")
}

/// Formats the count of the problems that are not listed, as a line of its own.
fn omitted_line(omitted: ProblemCounts) -> String {
    if omitted.is_zero() {
        return String::new();
    }
    let ProblemCounts { errors, warnings } = omitted;
    format!("not listed: {}, {}\n", count_noun(errors, "error"), count_noun(warnings, "warning"))
}

/// Returns a warning at the mode of each live merchant that this configuration does not let act;
/// `plan` blocks these merchants.
fn live_warnings(setup: &Context, loader: &Loader, paths: &[PathBuf]) -> Vec<PlacedIssue> {
    let manifests = loader.desired().manifests.iter();
    let live: Vec<&Key> = manifests
        .filter(|(key, _)| key.kind.as_str() == MERCHANT)
        .filter(|(_, kept)| kept.unpack().spec.get("mode").is_some_and(|mode| mode == "live"))
        .map(|(key, _)| key)
        .collect();
    let why = if live.is_empty() { None } else { setup.live_refused() };
    let Some(why) = why else { return Vec::new() };
    let help = "keep reckon.yaml outside this repository and name it with --config FILE";
    let issue = Issue::error("reckon::merchant::live_refused", "spec.mode", why, help).as_warning();
    let found = live.into_iter().filter_map(|key| loader.place_issue(key, &issue));
    found.filter(|problem| is_chosen(setup, paths, &problem.file)).collect()
}

/// Returns true if a file is in one of these files and folders; for every file where none is named.
fn is_chosen(setup: &Context, paths: &[PathBuf], file: &str) -> bool {
    paths.is_empty()
        || paths.iter().any(|path| Path::new(file).starts_with(below(&setup.root, path)))
}

/// The name of the merchant in the example of a `Defaults` document.
const EXAMPLE: &str = "acme";

pub(crate) fn explain(args: &ExplainArgs, out: Printer) -> CommandResult {
    let Some(what) = args.what.as_deref() else { return list_kinds(out) };
    let (kind, path) = what.split_once('.').unwrap_or((what, ""));
    if out.form == Output::Markdown && path.is_empty() {
        out.text(&reference_page(kind)?)?;
        return Ok(Exit::Done);
    }
    let (name, explained) = if kind.eq_ignore_ascii_case(EVENT_TYPES) {
        (EVENT_TYPES, event_types::explain_events(path))
    } else if kind.eq_ignore_ascii_case(CONFIG) {
        (CONFIG, config::schema::explain(path))
    } else if kind.eq_ignore_ascii_case(DEFAULTS) {
        (DEFAULTS, defaults::explain(path))
    } else {
        let row = kind_row(kind)?;
        (row.name, explain::explain(row, path))
    };
    let explained = explained.map_err(|help| {
        let what = format!("{name} has no field {path:?}");
        CommandFailure::input("reckon::usage::field", what).help(help)
    })?;
    out.finish(&explained, || render::explanation::explanation(&explained, out.screen))
}

/// Returns the page of the configuration, of the event types, or of one kind.
fn reference_page(kind: &str) -> CommandResult<String> {
    if kind.eq_ignore_ascii_case(EVENT_TYPES) {
        return Ok(event_types::event_types_page());
    }
    if kind.eq_ignore_ascii_case(CONFIG) {
        let config = config::schema::explain("").map_err(CommandFailure::bug)?;
        return Ok(configuration::configuration_page(&config));
    }
    if kind.eq_ignore_ascii_case(DEFAULTS) {
        let defaults = defaults::explain("").map_err(CommandFailure::bug)?;
        return Ok(kinds::defaults_section(&defaults, &defaults::template(EXAMPLE)));
    }
    Ok(kinds::kind_section(kind_row(kind)?))
}

/// Lists the kinds, the configuration and the event types, with one line each.
fn list_kinds(out: Printer) -> CommandResult {
    if out.form == Output::Markdown {
        let defaults = defaults::explain("").map_err(CommandFailure::bug)?;
        let defaults = kinds::defaults_section(&defaults, &defaults::template(EXAMPLE));
        out.text(&kinds::kinds_page(KINDS, &defaults))?;
        return Ok(Exit::Done);
    }
    let mut kinds: Vec<KindMeaning> = KINDS.iter().map(explain::kind_meaning).collect();
    let events = event_types::explain_events("").ok();
    let others = [defaults::explain("").ok(), config::schema::explain("").ok(), events];
    kinds.extend(
        others
            .into_iter()
            .flatten()
            .map(|file| KindMeaning { kind: file.kind, meaning: file.meaning }),
    );
    let list = KindList { kinds };
    out.finish(&list, || render::explanation::kind_list(&list, out.screen))
}

/// Runs `schema`. Prints JSON in every form but YAML.
pub(crate) fn schema(args: &SchemaArgs, out: Printer) -> CommandResult {
    let schema = match &args.kind {
        Some(kind) if kind.eq_ignore_ascii_case(CONFIG) => config::schema::schema(),
        Some(kind) if kind.eq_ignore_ascii_case(DEFAULTS) => header::of_defaults(),
        Some(kind) => header::of_kind(kind_row(kind)?),
        None => header::document(KINDS),
    };
    out.verbatim().finish(&schema, || render::json(&schema))
}

/// Returns the kind of this name, in any case.
pub(crate) fn kind_row(name: &str) -> CommandResult<&'static KindRow> {
    let found = KINDS.iter().find(|row| row.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        CommandFailure::input("reckon::usage::kind", format!("there is no kind {name:?}")).help(
            wording::suggestion_help(
                name,
                KINDS.iter().map(|row| row.name).chain([DEFAULTS, CONFIG, EVENT_TYPES]),
            ),
        )
    })
}

const VALUE_BYTES_MAX: u64 = 64 * 1024;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SealOutput {
    r#for: String,
    field: String,
    age: String,
}

pub(crate) fn seal(setup: &Context, args: &SealArgs) -> CommandResult {
    let field = secret_field(args)?;
    if setup.config.secrets.age.is_none() {
        let what = format!("`secrets.age` is missing in {}", setup.config.file);
        return Err(CommandFailure::input("reckon::config::missing", what).help(
            "create an identity with `age-keygen -o age.key`, keep it out of git, and name it: \
            `secrets: {age: {file: age.key}}`",
        ));
    }
    let broken = |why: String| CommandFailure::environment("reckon::seal::identity", why);
    let keyring = setup.secrets()?.keyring().map_err(broken)?;
    let place = place(&args.key, &field);
    let sealed = keyring.seal(&place, &read_secret(setup.out)?);
    let age = sealed.map_err(|error| CommandFailure::environment("reckon::seal::failed", error))?;
    let sealed = SealOutput { r#for: place, field, age };
    setup.out.finish(&sealed, || {
        render::explanation::sealed_yaml(&sealed.r#for, &sealed.field, &sealed.age)
    })
}

fn secret_field(args: &SealArgs) -> CommandResult<String> {
    let kind = args.key.kind.as_str();
    let row = KINDS.iter().find(|row| row.name == kind).ok_or_else(|| {
        CommandFailure::input("reckon::usage::kind", format!("there is no kind {kind:?}"))
            .help(wording::suggestion_help(kind, KINDS.iter().map(|row| row.name)))
    })?;
    explain::secret_place(row.fields, &args.field).map_err(|help| {
        let what = format!("{kind} has no secret field {:?}", args.field);
        CommandFailure::input("reckon::usage::field", what).help(help)
    })
}

/// Reads the value from standard input, without one newline at its end.
fn read_secret(out: Printer) -> CommandResult<Secret> {
    let stdin = io::stdin().lock();
    if stdin.is_terminal() {
        out.note("type the value (it is shown) and end with Ctrl-D; piping it in is safer");
    }
    let mut bytes = Zeroizing::new(Vec::new());
    let read = stdin.take(VALUE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| CommandFailure::environment("reckon::seal::input", error))?;
    let wrong = |what: &str| CommandFailure::input("reckon::seal::value", what);
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > VALUE_BYTES_MAX {
        return Err(wrong("the value is longer than 64 KiB"));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong("the value is not valid UTF-8"))?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(wrong("the value is empty").help("pipe it in: `printf %s … | reckon seal …`"));
    }
    Ok(Secret::from(text))
}

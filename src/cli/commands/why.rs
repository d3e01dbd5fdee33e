//! `why`: the history of money or a resource, back to the intent, its approval, commit, file and
//! line, and author.

use std::path::Path;
use std::sync::Arc;

use crate::base::id::{IntentId, Key};
use crate::cli::args::reading::WhyArgs;
use crate::cli::commands::get;
use crate::cli::context::git::program::Git;
use crate::cli::context::open::Context;
use crate::cli::context::session::daemon;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::cli::remote::Daemon;
use crate::control::protocol::{ControlRequest, LocalQuery};
use crate::control::requests::requests;
use crate::engine::handles::shared::EngineShared;
use crate::engine::protocol::diagnostics::{LocalReply, Provenances, WhySubject};
use crate::engine::protocol::query::{JournalRefsQuery, PlanQuery, Reply};
use crate::engine::protocol::views::{PlanView, StepView};
use crate::engine::queries::journal_refs::locate;
use crate::kinds::planning::step::MERCHANT;
use crate::model::intent::Cause;
use crate::render::why::{
    self, ApprovalView, AuthorView, EffectHistoryView, ResourceHistoryView, WhyView,
};
use crate::spec::text::decode::decode;
use crate::spec::text::source::split;
use crate::store::history::{EffectHistory, ResourceHistory};
use crate::store::journal::chain::Head;
use crate::store::journal::read::{JournalReader, JournalSet};
use crate::store::read_model::model::ReadModel;

requests! {
    pub(crate) Why(what: String, verify: bool) -> Option<WhyView>:
        ControlRequest::Local(Box::new(LocalQuery::Why { what, verify })),
        Reply::Local(LocalReply(value)) => serde_json::from_value(value).ok();
}

pub(crate) async fn run(setup: &Context, args: &WhyArgs) -> CommandResult {
    let subject = parse_subject(&args.what)?;
    let view = match &setup.server {
        Some(server) => server.send(Why(args.what.clone(), args.verify)).await?,
        None => view_here(setup, args).await?,
    };
    let view = match view {
        Some(view) => view,
        None => unsent_view(setup, &subject).await?.ok_or_else(|| unknown(args))?,
    };
    setup.out.finish(&view, || why::text(&view, setup.out.screen))
}

fn unknown(args: &WhyArgs) -> CommandFailure {
    let what = format!("neither the journal nor the documents contain {:?}", args.what);
    CommandFailure::input("reckon::why::unknown", what).help(
        "write an id of the service, a mark, an event, an intent such as i-000012, an approval, \
        or KIND/NAME; list all resources with `reckon get`",
    )
}

async fn view_here(setup: &Context, args: &WhyArgs) -> CommandResult<Option<WhyView>> {
    if let Some(client) = daemon(setup).await? {
        return collect(setup, args, &TrailSource::Daemon(&client)).await;
    }
    let open = setup.view_state().await?;
    let head = || open.state.writer.head();
    let found = collect(setup, args, &TrailSource::Here(&open.state.facts, &head)).await;
    open.state.close().await?;
    found
}

/// Records of a resource that are read for its newest effects, at most, and those effects.
const RECENT_RECORDS: usize = 40;
const RECENT_EFFECTS: usize = 5;

/// Returns the newest effects of a resource, oldest first, without their authors.
pub(crate) async fn recent_effects(
    setup: &Context,
    key: &Key,
) -> CommandResult<Vec<EffectHistoryView>> {
    if let Some(server) = &setup.server {
        let view = server.send(Why(key.to_string(), false)).await?;
        let resource = view.and_then(|view| view.resources.into_iter().next());
        return Ok(newest(resource.map(|resource| resource.effects).unwrap_or_default()));
    }
    if let Some(client) = daemon(setup).await? {
        return recent_in(setup, key, &TrailSource::Daemon(&client)).await;
    }
    let open = setup.view_state().await?;
    let head = || open.state.writer.head();
    let found = recent_in(setup, key, &TrailSource::Here(&open.state.facts, &head)).await;
    open.state.close().await?;
    found
}

async fn recent_in(
    setup: &Context,
    key: &Key,
    way: &TrailSource<'_>,
) -> CommandResult<Vec<EffectHistoryView>> {
    let sought = way.locate(WhySubject::Resource(key.clone())).await?;
    let Some(trail) = sought.resources.first() else { return Ok(Vec::new()) };
    let skipped = trail.sequences.len().saturating_sub(RECENT_RECORDS);
    let sequences = trail.sequences.get(skipped..).unwrap_or_default();
    let story = open_journals(setup)?.history(key, sequences).map_err(journal_failure)?;
    Ok(newest(story.effects.iter().map(EffectHistoryView::from).collect()))
}

fn newest(mut effects: Vec<EffectHistoryView>) -> Vec<EffectHistoryView> {
    effects.split_off(effects.len().saturating_sub(RECENT_EFFECTS))
}

/// Returns the history in a daemon's own state; `None` if its journal has none.
pub(crate) fn of_daemon(
    setup: &Context,
    shared: &Arc<EngineShared>,
    what: &str,
    verify: bool,
) -> CommandResult<Option<WhyView>> {
    let args = WhyArgs { what: what.to_owned(), verify };
    let head = || shared.writer.head();
    let way = TrailSource::Here(&shared.facts, &head);
    tokio::runtime::Handle::current().block_on(collect(setup, &args, &way))
}

async fn collect(
    setup: &Context,
    args: &WhyArgs,
    way: &TrailSource<'_>,
) -> CommandResult<Option<WhyView>> {
    let wanted = parse_subject(&args.what)?;
    let sought = way.locate(wanted.clone()).await?;
    if sought.resources.is_empty() && sought.about.is_empty() {
        return Ok(None);
    }
    let books = open_journals(setup)?;
    let mut resources = Vec::new();
    for trail in &sought.resources {
        let story = books.history(&trail.key, &trail.sequences).map_err(journal_failure)?;
        let merchant = merchant(way, &books, &story).await?;
        resources.push(view(setup, &wanted, &story, merchant.as_ref()));
    }
    let whole = args.verify.then(|| books.verify(sought.head)).transpose();
    let whole = whole.map_err(|error| journal_failure(error.into()))?;
    let head = data_encoding::HEXLOWER.encode(&sought.head.hash);
    let (about, position) = (sought.about, sought.head.sequence);
    Ok(Some(WhyView { version: 1, about, resources, verified_from: whole, position, head }))
}

fn parse_subject(text: &str) -> CommandResult<WhySubject> {
    if let Some(key) = resource(text)? {
        return Ok(WhySubject::Resource(key));
    }
    match text.strip_prefix("i-").and_then(|_| text.parse::<IntentId>().ok()) {
        Some(id) => Ok(WhySubject::Intent(id)),
        None => Ok(WhySubject::Remote(text.to_owned())),
    }
}

/// Parses `KIND/NAME`, `Action/NAME`, or an obligation such as `acme:Invoice/default/jane;r2`.
fn resource(text: &str) -> CommandResult<Option<Key>> {
    if !text.contains('/') {
        return Ok(None);
    }
    let named = text.split_once(':').map_or(text, |(_, named)| named);
    let named = named.split_once(';').map_or(named, |(named, _)| named);
    get::parse_resource_or_action(named).map(Some)
}

enum TrailSource<'a> {
    Daemon(&'a Daemon),
    /// A state of this process, with the way to its last record.
    Here(&'a ReadModel, &'a dyn Fn() -> Head),
}

impl TrailSource<'_> {
    async fn locate(&self, wanted: WhySubject) -> CommandResult<Provenances> {
        match self {
            Self::Daemon(client) => Ok(client.send(JournalRefsQuery(wanted)).await?),
            Self::Here(facts, head) => Ok(locate(facts, &wanted, head())?),
        }
    }
}

pub(crate) fn open_journals(setup: &Context) -> CommandResult<JournalSet> {
    let archive = setup.archive_disk()?.map(JournalReader::over);
    Ok(JournalSet { journal: JournalReader::over(setup.disk("journal")?), archive })
}

/// Returns the history of the merchant that the effects belong to, where that is another resource.
async fn merchant(
    way: &TrailSource<'_>,
    books: &JournalSet,
    story: &ResourceHistory,
) -> CommandResult<Option<ResourceHistory>> {
    let merchant = story.effects.first().map(|effect| effect.intent.merchant.clone());
    let Some(merchant) = merchant.filter(|key| key.kind.as_str() == MERCHANT && *key != story.key)
    else {
        return Ok(None);
    };
    let sought = way.locate(WhySubject::Resource(merchant.clone())).await?;
    let Some(trail) = sought.resources.first() else { return Ok(None) };
    books.history(&merchant, &trail.sequences).map(Some).map_err(journal_failure)
}

pub(crate) fn journal_failure(error: crate::store::error::StoreError) -> CommandFailure {
    CommandFailure::environment("reckon::why::journal", error)
        .help("run `reckon store check` for details")
}

fn view(
    setup: &Context,
    wanted: &WhySubject,
    story: &ResourceHistory,
    merchant: Option<&ResourceHistory>,
) -> ResourceHistoryView {
    let meant = |effect: &&EffectHistory| match wanted {
        WhySubject::Resource(_) => true,
        WhySubject::Intent(id) => effect.intent.id == *id,
        WhySubject::Remote(id) => effect.concerns(id),
    };
    let chosen: Vec<&EffectHistory> = story.effects.iter().filter(meant).collect();
    let chosen = if chosen.is_empty() { story.effects.iter().collect() } else { chosen };
    let approvals = &merchant.unwrap_or(story).approvals;
    let effects = chosen.into_iter().map(|effect| EffectHistoryView {
        author: author(&setup.root, &effect.intent.cause),
        approval: approvals
            .iter()
            .rev()
            .find(|(stands, _)| stands.record < effect.record_ref.record)
            .map(|(stands, approval)| ApprovalView {
                record: *stands,
                at: approval.at,
                actor: approval.actor.clone(),
            }),
        ..EffectHistoryView::from(effect)
    });
    ResourceHistoryView {
        key: Key::clone(&story.key),
        effects: effects.collect(),
        others: story.others.clone(),
        verified: story.verified.clone(),
        dropped: story.dropped.clone(),
        not_sent: None,
    }
}

/// Returns the author of the newest change among an effect's fields, or of the complete document;
/// files are relative to `root`. `None` where the commit, git or the repository is missing.
pub(crate) fn author(root: &Path, cause: &Cause) -> Option<AuthorView> {
    let (commit, file, line) = (cause.commit.as_ref()?, cause.file.as_ref()?, cause.line?);
    let plain = !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !plain || cause.uncommitted {
        return None;
    }
    let git = Git::at(root);
    let lines = match cause.changed.as_slice() {
        [] => vec![document(&git, commit, file, line)?],
        changed => changed.to_vec(),
    };
    let ranges = lines.iter().map(|(first, last)| format!("-L{first},{last}:{file}"));
    let ranges: Vec<String> = ranges.collect();
    let mut arguments = vec!["log", "-1", "--no-patch", "--no-textconv", "--no-ext-diff"];
    arguments.push("--format=%H%x00%an%x00%ae%x00%aI%x00%s");
    arguments.extend(ranges.iter().map(String::as_str));
    arguments.push(commit);
    let said = git.line(&arguments).ok()?;
    let mut parts = said.split('\0').map(str::to_owned);
    Some(AuthorView {
        commit: parts.next()?,
        name: parts.next()?,
        email: parts.next()?,
        at: parts.next()?,
        subject: parts.next()?,
    })
}

/// Returns the first and last line of the document that begins on this line of a file.
fn document(git: &Git, commit: &str, file: &str, line: usize) -> Option<(usize, usize)> {
    let bytes = git.output(&["cat-file", "blob", &format!("{commit}:./{file}")], &[]).ok()?;
    let text = decode(bytes).text;
    let (slices, _) = split(&text);
    let slice = slices.into_iter().find(|slice| slice.line == line)?;
    let content = text.get(slice.range)?.trim_end();
    Some((line, line.saturating_add(content.matches('\n').count())))
}

/// The fewest characters of a checksum that name a plan.
const CHECKSUM_MIN: usize = 16;

/// Returns the plan's answer about what the journal does not know: a document of which nothing was
/// sent, or the plan itself. Returns `None` if the plan does not know the argument either.
pub(crate) async fn unsent_view(
    setup: &Context,
    wanted: &WhySubject,
) -> CommandResult<Option<WhyView>> {
    let plan = setup.query(PlanQuery).await?;
    let checksum = &plan.checksum;
    Ok(match wanted {
        WhySubject::Resource(key) => {
            let step = plan.steps.iter().find(|step| step.key().as_ref() == Some(key));
            step.map(|step| make_view(&plan, Vec::new(), vec![unsent_resource(key, step)]))
        }
        WhySubject::Remote(word) if word.len() >= CHECKSUM_MIN && checksum.starts_with(word) => {
            let about = format!("the checksum of the present plan, {checksum}: not approved");
            Some(make_view(&plan, vec![about], Vec::new()))
        }
        WhySubject::Remote(word) => {
            saved_plan_name(word).map(|about| make_view(&plan, vec![about], Vec::new()))
        }
        WhySubject::Intent(_) => None,
    })
}

fn saved_plan_name(word: &str) -> Option<String> {
    let digits = word.strip_prefix("plan-")?;
    let is_name = digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| {
        format!(
            "saved plan {word}: not applied to this state; `reckon plan show FILE` shows its steps"
        )
    })
}

fn make_view(plan: &PlanView, about: Vec<String>, resources: Vec<ResourceHistoryView>) -> WhyView {
    let (position, head) = (plan.position, plan.head.clone());
    WhyView { version: 1, about, resources, verified_from: None, position, head }
}

fn unsent_resource(key: &Key, step: &StepView) -> ResourceHistoryView {
    let place = step.file.as_ref().zip(step.line);
    let place = place.map(|(file, line)| format!(" ({file}:{line})")).unwrap_or_default();
    ResourceHistoryView {
        key: key.clone(),
        effects: Vec::new(),
        others: Vec::new(),
        verified: Vec::new(),
        dropped: Vec::new(),
        not_sent: Some(format!("{}{place}", step.message)),
    }
}

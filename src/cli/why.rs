//! `why`: the history of money or a resource, back to the intent, its approval, commit, file and
//! line, and author.

mod blame;
mod unsent;

use std::path::Path;
use std::sync::Arc;

use clap::Args;

use super::exit::{Exit, Failure};
use super::get;
use super::out::Out;
use super::server::Daemon;
use super::session::daemon;
use super::setup::{Open, Setup};
use crate::base::id::{IntentId, Key};
use crate::control::look::Look;
use crate::engine::{Question, Reply, Shared, Sought, StateReply, Wanted, seek};
use crate::kinds::step::MERCHANT;
use crate::model::action::is_action;
use crate::render::why::{self, ApprovalView, EffectView, ResourceView, View};
use crate::store::journal::Reader;
use crate::store::real_disk::RealDisk;
use crate::store::story::{Books, EffectStory, Story};

/// Arguments of `why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// An identifier that a command printed: a resource, an id of the service (a payment, an
    /// invoice …), a mark, an intent, an event, an action, an approval or a saved plan.
    #[arg(value_name = "ID|KIND/NAME", allow_hyphen_values = true)]
    pub what: String,
    /// Verify the complete journal, from its first record to its last.
    #[arg(long)]
    pub verify: bool,
}

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &WhyArgs, out: Out) -> Result<Exit, Failure> {
    wanted(&args.what)?;
    let view = match &setup.server {
        Some(server) => {
            let look = Look::Why { what: args.what.clone(), verify: args.verify };
            serde_json::from_value(server.look(look).await?).map_err(Failure::bug)?
        }
        None => here(setup, args).await?,
    };
    let view: View = match view {
        Some(view) => view,
        None => unsent::view(setup, &wanted(&args.what)?).await?.ok_or_else(|| unknown(args))?,
    };
    out.result(&view, || why::text(&view, out.color))?;
    Ok(Exit::Done)
}

fn unknown(args: &WhyArgs) -> Failure {
    let what = format!("neither the journal nor the documents know {:?}", args.what);
    Failure::input("reckon::why::unknown", what).help(
        "give an id of the service, a mark, an event, an intent such as i-000012, an approval, or KIND/NAME; \
         `reckon get` lists every resource",
    )
}

/// Returns the history in the state on this machine.
async fn here(setup: &Setup, args: &WhyArgs) -> Result<Option<View>, Failure> {
    let way = Way::open(setup).await?;
    let told = tell(setup, args, &way).await;
    way.close().await?;
    told
}

/// Returns the history in a daemon's own state; `None` if its journal has none.
pub(super) fn of_daemon(
    setup: &Setup,
    shared: &Arc<Shared>,
    what: &str,
    verify: bool,
) -> Result<Option<View>, Failure> {
    let args = WhyArgs { what: what.to_owned(), verify };
    let way = Way::Held(shared.clone());
    tokio::runtime::Handle::current().block_on(tell(setup, &args, &way))
}

/// Collects the history of the named thing.
async fn tell(setup: &Setup, args: &WhyArgs, way: &Way) -> Result<Option<View>, Failure> {
    let wanted = wanted(&args.what)?;
    let sought = way.ask(wanted.clone()).await?;
    if sought.resources.is_empty() && sought.about.is_empty() {
        return Ok(None);
    }
    let books = books(setup)?;
    let mut resources = Vec::new();
    for trail in &sought.resources {
        let story = books.story(&trail.key, &trail.sequences).map_err(damaged)?;
        let merchant = merchant(way, &books, &story).await?;
        resources.push(view(setup, &wanted, &story, merchant.as_ref()));
    }
    let whole = if args.verify { Some(books.verify(sought.head).map_err(damaged)?) } else { None };
    let head = data_encoding::HEXLOWER.encode(&sought.head.hash);
    let (about, position) = (sought.about, sought.head.sequence);
    Ok(Some(View { version: 1, about, resources, whole, position, head }))
}

/// Parses the argument.
fn wanted(text: &str) -> Result<Wanted, Failure> {
    if let Some(key) = resource(text)? {
        return Ok(Wanted::Resource(key));
    }
    match text.strip_prefix("i-").and_then(|_| text.parse::<IntentId>().ok()) {
        Some(id) => Ok(Wanted::Intent(id)),
        None => Ok(Wanted::Remote(text.to_owned())),
    }
}

/// Parses `KIND/NAME`, `Action/NAME`, or the name of an obligation, such as
/// `acme:Invoice/default/jane;r2`.
fn resource(text: &str) -> Result<Option<Key>, Failure> {
    if !text.contains('/') {
        return Ok(None);
    }
    let named = text.split_once(':').map_or(text, |(_, named)| named);
    let named = named.split_once(';').map_or(named, |(named, _)| named);
    match named.parse::<Key>() {
        Ok(key) if is_action(&key) => Ok(Some(key)),
        Ok(_) | Err(_) => get::one(named).map(Some),
    }
}

/// Source of journal positions: the daemon, or the state's own index.
enum Way {
    Daemon(Daemon),
    Own(Box<Open>),
    /// The state of this process, which is the daemon.
    Held(Arc<Shared>),
}

impl Way {
    async fn open(setup: &Setup) -> Result<Self, Failure> {
        match daemon(setup).await? {
            Some(client) => Ok(Self::Daemon(client)),
            None => Ok(Self::Own(Box::new(setup.look_at_state().await?))),
        }
    }

    /// Returns the journal positions of a subject.
    async fn ask(&self, wanted: Wanted) -> Result<Sought, Failure> {
        match self {
            Self::Daemon(client) => {
                let reply = client.ask(&Question::Trail(wanted)).await?;
                let Reply::State(StateReply::Trail(sought)) = reply else {
                    return Err(Failure::bug("a trail was not answered by one"));
                };
                Ok(sought)
            }
            Self::Own(open) => Ok(seek(&open.state.facts, &wanted, open.state.writer.head())?),
            Self::Held(shared) => Ok(seek(&shared.facts, &wanted, shared.writer.head())?),
        }
    }

    async fn close(self) -> Result<(), Failure> {
        if let Self::Own(open) = self {
            open.state.close().await?;
        }
        Ok(())
    }
}

/// Opens the journal's files.
pub(super) fn books(setup: &Setup) -> Result<Books, Failure> {
    let reader = |path: &Path| {
        let opened = RealDisk::open(path).map_err(|error| {
            Failure::environment("reckon::state::dir", format!("open {}: {error}", path.display()))
        })?;
        Ok::<_, Failure>(Reader::over(Arc::new(opened)))
    };
    let archive = setup.state.join("archive");
    let archive = if archive.is_dir() { Some(reader(&archive)?) } else { None };
    Ok(Books { journal: reader(&setup.state.join("journal"))?, archive })
}

/// Returns the history of the merchant that the effects belong to, where that is another resource.
async fn merchant(way: &Way, books: &Books, story: &Story) -> Result<Option<Story>, Failure> {
    let merchant = story.effects.first().map(|effect| effect.intent.merchant.clone());
    let Some(merchant) = merchant.filter(|key| key.kind.as_str() == MERCHANT && *key != story.key)
    else {
        return Ok(None);
    };
    let sought = way.ask(Wanted::Resource(merchant.clone())).await?;
    let Some(trail) = sought.resources.first() else { return Ok(None) };
    books.story(&merchant, &trail.sequences).map(Some).map_err(damaged)
}

pub(super) fn damaged(error: crate::store::error::StoreError) -> Failure {
    Failure::environment("reckon::why::journal", error).help("`reckon store check` says more")
}

/// Returns the view of a resource's history.
fn view(setup: &Setup, wanted: &Wanted, story: &Story, merchant: Option<&Story>) -> ResourceView {
    let meant = |effect: &&EffectStory| match wanted {
        Wanted::Resource(_) => true,
        Wanted::Intent(id) => effect.intent.id == *id,
        Wanted::Remote(id) => effect.speaks_of(id),
    };
    let chosen: Vec<&EffectStory> = story.effects.iter().filter(meant).collect();
    let chosen = if chosen.is_empty() { story.effects.iter().collect() } else { chosen };
    let approvals = merchant.unwrap_or(story).approvals.iter();
    let approvals: Vec<_> = approvals.collect();
    let effects = chosen.into_iter().map(|effect| EffectView {
        author: blame::author(&setup.root, &effect.intent.cause),
        approval: approvals
            .iter()
            .rev()
            .find(|(stands, _)| stands.record < effect.stands.record)
            .map(|(stands, approval)| ApprovalView {
                stands: *stands,
                at: approval.at,
                actor: approval.actor.clone(),
            }),
        ..EffectView::from(effect)
    });
    ResourceView {
        key: Key::clone(&story.key),
        effects: effects.collect(),
        others: story.others.clone(),
        verified: story.verified.clone(),
        dropped: story.dropped.clone(),
        not_sent: None,
    }
}

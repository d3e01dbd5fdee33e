//! Access of a command to the state: it asks the process that holds the state, or holds the state
//! itself.

use tokio::sync::mpsc;

use crate::base::clock::{Clock, SystemClock};
use crate::cli::context::git::tracked::TrackedSpecs;
use crate::cli::context::open::Context;
use crate::cli::context::state_handle::{EngineOptions, StateHandle};
use crate::cli::context::{cache, machine};
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::cli::remote::Daemon;
use crate::control::handle::Control;
use crate::control::protocol::ControlRequest;
use crate::control::requests::{self, Request};
use crate::control::socket::SocketClient;
use crate::engine::core::coordinator::{Engine, RunUntil};
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::query::{Query, Reply};
use crate::spec::tree::loader::Loader;

/// Holder of the state, who answers.
#[derive(Debug)]
pub(crate) enum StateSession {
    /// Another process.
    Daemon(Daemon),
    /// This process, with an engine of its own.
    Own(Box<OwnState>),
}

#[derive(Debug)]
pub(crate) struct OwnState {
    /// The engine over the state; nothing runs in the engine before [`Engine::run`].
    pub engine: Engine,
    pub open: StateHandle,
    seen: cache::FileMarks,
}

impl OwnState {
    /// Does just this request, and nothing that a document asks for; then closes the state.
    async fn run_request(
        mut self,
        setup: &Context,
        request: ControlRequest,
    ) -> CommandResult<Reply> {
        setup.bind(&self.open, None).await?;
        self.engine.select_targets([].into());
        let (sender, events) = mpsc::channel(2);
        let asked = async {
            let reply = Control::new(sender.clone()).send(request, machine::actor()).await;
            // An engine that ended by itself returns its error; then no receiver is left here.
            drop(sender.send(EngineInput::Stop).await);
            reply
        };
        let (ended, reply) = tokio::join!(self.engine.run(events, RunUntil::Stopped), asked);
        let closed = self.close(setup).await;
        ended?;
        closed?;
        reply.map_err(CommandFailure::from)
    }

    async fn record(&mut self, request: ControlRequest) -> CommandResult<Reply> {
        let command = requests::engine_command(request, machine::actor())?;
        Ok(self.engine.command(command).await?)
    }

    /// Caches the plan for the next command, and closes the state cleanly.
    pub(crate) async fn close(self, setup: &Context) -> CommandResult<()> {
        let plan = self.engine.view().plan_view();
        drop(self.engine);
        cache::store_plan(setup, &**self.open.state.index(), self.seen, &plan);
        self.open.state.close().await?;
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct LoadedTree {
    pub loader: Loader,
    before: i64,
}

impl LoadedTree {
    pub(crate) fn now(setup: &Context) -> Self {
        let before = now_ns();
        Self { loader: setup.loaded_tree(), before }
    }
}

/// Returns the time before a load, for the marks of the files, in nanoseconds since 1970.
pub(crate) fn now_ns() -> i64 {
    SystemClock.now().timestamp_nanos_opt().unwrap_or(0)
}

impl StateSession {
    /// Connects to the daemon, or opens the existing state.
    pub(crate) async fn open(setup: &Context) -> CommandResult<Self> {
        Self::connect(setup, None, setup.open_state(false)).await
    }

    /// Connects to the daemon, or opens the state, an existing or a new one, with a loaded tree.
    pub(crate) async fn open_with(setup: &Context, loaded: LoadedTree) -> CommandResult<Self> {
        Self::connect(setup, Some(loaded), setup.make_state()).await
    }

    /// Connects to the daemon, or opens the state. Makes a state where there is none.
    pub(crate) async fn make(setup: &Context) -> CommandResult<Self> {
        Self::connect(setup, None, setup.make_state()).await
    }

    /// Connects to the daemon, or opens the state for a view: a missing state is not made.
    pub(crate) async fn open_view(setup: &Context) -> CommandResult<Self> {
        Self::connect(setup, None, setup.view_state()).await
    }

    /// Opens a session as [`Self::make`] does; binds a new state first: the record of the state's
    /// owner comes first in the journal.
    pub(crate) async fn make_bound(setup: &Context) -> CommandResult<Self> {
        let session = Self::make(setup).await?;
        if let Self::Own(own) = &session {
            setup.bind(&own.open, None).await?;
        }
        Ok(session)
    }

    /// Opens a draft of the state to be made, under its key; `None` beside a state or a daemon.
    pub(crate) async fn future(setup: &Context) -> CommandResult<Option<Self>> {
        Self::draft_of(setup, || setup.future_state()).await
    }

    /// Opens a draft like [`Self::future`], under any key.
    pub(crate) async fn draft(setup: &Context) -> CommandResult<Option<Self>> {
        Self::draft_of(setup, || setup.draft_state()).await
    }

    async fn draft_of(
        setup: &Context,
        state: impl FnOnce() -> CommandResult<StateHandle>,
    ) -> CommandResult<Option<Self>> {
        if daemon(setup).await?.is_some() || setup.has_state()? {
            return Ok(None);
        }
        Self::own_in(setup, LoadedTree::now(setup), state()?).map(Some)
    }

    /// Connects to the daemon, or opens a state of this process; loads the tree unless it is given.
    async fn connect(
        setup: &Context,
        loaded: Option<LoadedTree>,
        state: impl Future<Output = CommandResult<StateHandle>>,
    ) -> CommandResult<Self> {
        if let Some(client) = daemon(setup).await? {
            return Ok(Self::Daemon(client));
        }
        let open = state.await?;
        Self::own_in(setup, loaded.unwrap_or_else(|| LoadedTree::now(setup)), open)
    }

    fn own_in(setup: &Context, loaded: LoadedTree, open: StateHandle) -> CommandResult<Self> {
        let LoadedTree { loader, before } = loaded;
        let seen = cache::file_marks(&loader, before);
        let shared = setup.engine_parts(&open, EngineOptions::default())?;
        let engine = Engine::new(shared, Box::new(TrackedSpecs::of(loader, setup.specs.roots())))?;
        Ok(Self::Own(Box::new(OwnState { engine, open, seen })))
    }

    pub(crate) async fn ask<Q: Query>(&self, query: Q) -> CommandResult<Q::Answer> {
        match self {
            Self::Daemon(client) => Ok(client.send(query).await?),
            Self::Own(own) => Ok(requests::typed::<Q>(own.engine.answer(query.into_query())?)?),
        }
    }

    /// Has the holder of the state record a person's decision: an approval, a suspension or a
    /// release. Nothing runs for it in a state of this process.
    ///
    /// # Errors
    /// The request is another one, and the state is one of this process.
    pub(crate) async fn record<R: Request>(&mut self, request: R) -> CommandResult<R::Response> {
        match self {
            Self::Daemon(client) => Ok(client.send(request).await?),
            Self::Own(own) => Ok(requests::typed::<R>(own.record(request.into_request()).await?)?),
        }
    }

    /// Ends the session: closes a state of this process cleanly, whatever the answer was.
    pub(crate) async fn end<T>(
        self,
        setup: &Context,
        answer: CommandResult<T>,
    ) -> CommandResult<T> {
        if let Self::Own(own) = self {
            own.close(setup).await?;
        }
        answer
    }
}

impl Context {
    /// Asks the holder of the state; a state that is missing is not made.
    pub(crate) async fn query<Q: Query>(&self, query: Q) -> CommandResult<Q::Answer> {
        let session = StateSession::open_view(self).await?;
        let answer = session.ask(query).await;
        session.end(self, answer).await
    }

    /// Sends a request to the holder of the state. A state of this process does nothing else.
    pub(crate) async fn send<R: Request>(&self, request: R) -> CommandResult<R::Response> {
        match StateSession::open(self).await? {
            StateSession::Daemon(client) => Ok(client.send(request).await?),
            StateSession::Own(own) => {
                Ok(requests::typed::<R>(own.run_request(self, request.into_request()).await?)?)
            }
        }
    }
}

/// Returns the named daemon, or else the one that holds the state on this machine, if it answers.
pub(crate) async fn daemon(setup: &Context) -> CommandResult<Option<Daemon>> {
    if let Some(server) = &setup.server {
        return Ok(Some(Daemon::Server(server.clone())));
    }
    let client = SocketClient::connect(&setup.state.join("control.sock")).await?;
    Ok(client.map(Daemon::Socket))
}

//! Access of a command to the state: it asks the process that holds the state, or holds the state
//! itself.

use tokio::sync::mpsc;

use super::cache;
use super::exit::Failure;
use super::host;
use super::server::Daemon;
use super::setup::{How, Open, Setup};
use super::tracked::Tracked;
use crate::control::socket::SocketClient;
use crate::control::{Control, Request};
use crate::engine::{Approving, Engine, Event, Question, Reply, Until};
use crate::model::bound::LiveBinding;
use crate::model::epoch::Releasing;
use crate::model::suspension::Pause;
use crate::spec::loader::Loader;

/// Holder of the state, who answers.
#[derive(Debug)]
pub(super) enum Session {
    /// Another process.
    Daemon(Daemon),
    /// This process, with an engine of its own.
    Own(Box<Own>),
}

/// A state held by this process.
#[derive(Debug)]
pub(super) struct Own {
    /// The engine over the state; nothing runs in the engine before [`Engine::run`].
    pub engine: Engine,
    pub open: Open,
    seen: cache::Seen,
}

impl Own {
    /// Does just this request, and nothing that a document asks for; then closes the state.
    async fn does(mut self, setup: &Setup, request: Request) -> Result<Reply, Failure> {
        setup.bind(&self.open, None).await?;
        self.engine.choose([].into());
        let (sender, events) = mpsc::channel(2);
        let asked = async {
            let reply = Control::new(sender.clone()).handle(request, host::actor()).await;
            // An engine that ended by itself returns its error; then no receiver is left here.
            drop(sender.send(Event::Stop).await);
            reply
        };
        let (ended, reply) = tokio::join!(self.engine.run(events, Until::Stopped), asked);
        let closed = self.close(setup).await;
        ended?;
        closed?;
        reply.map_err(Failure::from)
    }

    /// Caches the plan for the next command, and closes the state cleanly.
    pub(super) async fn close(self, setup: &Setup) -> Result<(), Failure> {
        let plan = self.engine.plan_view();
        drop(self.engine);
        cache::keep(setup, &**self.open.state.index(), self.seen, &plan);
        self.open.state.close().await?;
        Ok(())
    }
}

/// A loaded tree of specs.
#[derive(Debug)]
pub(super) struct Loaded {
    pub loader: Loader,
    before: i64,
}

impl Loaded {
    /// Loads the present tree.
    pub(super) fn now(setup: &Setup) -> Self {
        let before = cache::moment();
        let mut loader = setup.loader();
        loader.load_all();
        Self { loader, before }
    }
}

impl Session {
    /// Connects to the daemon, or opens the existing state.
    pub(super) async fn open(setup: &Setup) -> Result<Self, Failure> {
        if let Some(client) = daemon(setup).await? {
            return Ok(Self::Daemon(client));
        }
        let open = setup.open_state(false).await?;
        Self::own_in(setup, Loaded::now(setup), open)
    }

    /// Connects to the daemon, or opens the state with a loaded tree. Makes a state where there is
    /// none.
    pub(super) async fn over(setup: &Setup, loaded: Loaded) -> Result<Self, Failure> {
        if let Some(client) = daemon(setup).await? {
            return Ok(Self::Daemon(client));
        }
        let open = setup.make_state().await?;
        Self::own_in(setup, loaded, open)
    }

    /// Connects to the daemon, or opens the state. Makes a state where there is none.
    pub(super) async fn make(setup: &Setup) -> Result<Self, Failure> {
        if let Some(client) = daemon(setup).await? {
            return Ok(Self::Daemon(client));
        }
        let open = setup.make_state().await?;
        Self::own_in(setup, Loaded::now(setup), open)
    }

    /// Opens a draft of the state that a command would make, under its key. Returns `None` if there
    /// is a state or a daemon.
    pub(super) async fn future(setup: &Setup) -> Result<Option<Self>, Failure> {
        if Self::is_there(setup).await? {
            return Ok(None);
        }
        Self::own_in(setup, Loaded::now(setup), setup.future_state()?).map(Some)
    }

    /// Opens a draft like [`Self::future`], under any key.
    pub(super) async fn draft(setup: &Setup) -> Result<Option<Self>, Failure> {
        if Self::is_there(setup).await? {
            return Ok(None);
        }
        Self::own_in(setup, Loaded::now(setup), setup.draft_state()?).map(Some)
    }

    /// Returns true if there is a state or a daemon.
    async fn is_there(setup: &Setup) -> Result<bool, Failure> {
        Ok(daemon(setup).await?.is_some() || setup.has_state()?)
    }

    /// Connects to the daemon, or opens the state for a view: a missing state is not made.
    pub(super) async fn look(setup: &Setup) -> Result<Self, Failure> {
        if let Some(client) = daemon(setup).await? {
            return Ok(Self::Daemon(client));
        }
        let open = setup.look_at_state().await?;
        Self::own_in(setup, Loaded::now(setup), open)
    }

    fn own_in(setup: &Setup, loaded: Loaded, open: Open) -> Result<Self, Failure> {
        let Loaded { loader, before } = loaded;
        let seen = cache::seal(&loader, before);
        let shared = setup.shared(&open, How::default())?;
        let engine = Engine::new(shared, Box::new(Tracked::of(loader, setup.place())))?;
        Ok(Self::Own(Box::new(Own { engine, open, seen })))
    }

    /// Has the holder of the state do one request, and ends the session.
    pub(super) async fn done(self, setup: &Setup, request: Request) -> Result<Reply, Failure> {
        match self {
            Self::Daemon(client) => client.request(&request).await.map_err(Failure::from),
            Self::Own(own) => own.does(setup, request).await,
        }
    }

    /// Sends a query.
    pub(super) async fn ask(&self, question: Question) -> Result<Reply, Failure> {
        match self {
            Self::Daemon(client) => client.ask(&question).await.map_err(Failure::from),
            Self::Own(own) => Ok(own.engine.answer(question)?),
        }
    }

    /// Approves just this live binding.
    pub(super) async fn approve(&mut self, binding: LiveBinding) -> Result<Reply, Failure> {
        match self {
            Self::Daemon(client) => {
                let request = Request::Approve(Box::new(binding));
                client.request(&request).await.map_err(Failure::from)
            }
            Self::Own(own) => {
                let approving = Approving { binding, actor: host::actor() };
                Ok(own.engine.approve_alone(approving).await?)
            }
        }
    }

    /// Suspends or resumes a resource.
    pub(super) async fn pause(&mut self, pause: Pause) -> Result<Reply, Failure> {
        match self {
            Self::Daemon(client) => {
                let request = Request::Pause(Box::new(pause));
                client.request(&request).await.map_err(Failure::from)
            }
            Self::Own(own) => Ok(own.engine.pause_alone(&pause, host::actor()).await?),
        }
    }

    /// Has the holder record what was sent for these resources since the backup, or that nothing
    /// was.
    pub(super) async fn release(&mut self, said: Releasing) -> Result<Reply, Failure> {
        match self {
            Self::Daemon(client) => {
                client.request(&Request::Release(said)).await.map_err(Failure::from)
            }
            Self::Own(own) => Ok(own.engine.release_alone(said, host::actor()).await?),
        }
    }

    /// Ends the session: closes a state of this process cleanly, whatever the answer was.
    pub(super) async fn end<T>(
        self,
        setup: &Setup,
        answer: Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Self::Own(own) = self {
            own.close(setup).await?;
        }
        answer
    }
}

/// Returns the process that holds the state, if one answers: the named daemon, or else the one on
/// this machine.
pub(super) async fn daemon(setup: &Setup) -> Result<Option<Daemon>, Failure> {
    if let Some(server) = &setup.server {
        return Ok(Some(Daemon::Server(server.clone())));
    }
    let client = SocketClient::connect(&setup.state.join("control.sock")).await?;
    Ok(client.map(Daemon::Socket))
}

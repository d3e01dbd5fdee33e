//! The right to write on the daemon's page: one-time links, and the sessions that they open.
//!
//! All of it is in memory, bounded, and ends with the engine's handle: at a restart, and when the
//! daemon reads another configuration or token file. A link and a cookie are 256 random bits each;
//! only a digest of them is kept. The value of a form is derived from the cookie, so it is bound to
//! the session and stored nowhere. `Debug` shows numbers alone.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::OnceLock;

use chrono::{DateTime, TimeDelta, Utc};
use data_encoding::BASE64URL_NOPAD;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::base::clock::{SharedClock, timestamp};
use crate::base::hash::{Digest, keyed_digest};
use crate::base::secret::Secret;
use crate::control::protocol::{ControlError, Response};
use crate::engine::protocol::diagnostics::LocalReply;
use crate::engine::protocol::payers::SecretLink;
use crate::engine::protocol::query::Reply;

/// Time for which a link is valid.
pub const LINK_LIFE: TimeDelta = TimeDelta::minutes(5);
/// Time after which an unused session ends, and the longest life of a session.
pub const IDLE_MAX: TimeDelta = TimeDelta::minutes(30);
pub const SESSION_LIFE: TimeDelta = TimeDelta::hours(8);
/// Open links and sessions, at most; the oldest one makes room.
const LINKS_MAX: usize = 16;
const SESSIONS_MAX: usize = 16;
/// The path of a link, before its token.
pub const ENTER_PATH: &str = "/enter";

const TOKEN_BYTES: usize = 32;
/// Purposes of digests of a token.
const IDENTITY: &str = "reckon page token";
const FORM: &str = "reckon page form";

/// A one-time link, for the person who asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryLink {
    /// The page's address on the daemon's machine.
    pub address: String,
    /// The path, which holds the token.
    pub path: SecretLink,
    pub actor: String,
    pub valid_until: String,
}

/// An open session, as one request sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    /// The person who made the link; the actor of all that the session does.
    pub actor: String,
    /// The value that each form of the session sends back.
    pub form_token: Secret,
    /// The result of the last write, to be shown once.
    pub notice: Option<String>,
}

/// The kind of a request in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionUse {
    /// A person loads a page or sends a form: the session is in use, and its notice is shown.
    Person,
    /// A script renews a page.
    Script,
}

/// 256 random bits.
struct PageToken(Zeroizing<[u8; TOKEN_BYTES]>);

impl PageToken {
    /// Makes a token; `None` if the operating system gives no random bits.
    fn fresh() -> Option<Self> {
        let mut bytes = Zeroizing::new([0; TOKEN_BYTES]);
        getrandom::fill(bytes.as_mut_slice()).ok()?;
        Some(Self(bytes))
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(BASE64URL_NOPAD.decode(text.as_bytes()).ok()?);
        bytes.as_slice().try_into().ok().map(|bytes| Self(Zeroizing::new(bytes)))
    }

    fn text(&self) -> Secret {
        Secret::from(BASE64URL_NOPAD.encode(self.0.as_slice()))
    }

    fn identity(&self) -> Digest {
        keyed_digest(&self.0, IDENTITY, b"")
    }

    fn form_token(&self) -> Secret {
        Secret::from(BASE64URL_NOPAD.encode(keyed_digest(&self.0, FORM, b"").as_bytes()))
    }
}

struct OpenLink {
    identity: Digest,
    actor: String,
    made: DateTime<Utc>,
}

struct OpenSession {
    identity: Digest,
    actor: String,
    begun: DateTime<Utc>,
    used: DateTime<Utc>,
    notice: Option<String>,
}

impl OpenLink {
    fn is_valid(&self, now: DateTime<Utc>) -> bool {
        is_within(LINK_LIFE, self.made, now)
    }
}

impl OpenSession {
    fn is_valid(&self, now: DateTime<Utc>) -> bool {
        is_within(SESSION_LIFE, self.begun, now) && is_within(IDLE_MAX, self.used, now)
    }
}

/// Returns whether two moments are this close. A clock that steps back ends what it would prolong.
fn is_within(most: TimeDelta, from: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    now.signed_duration_since(from).abs() < most
}

/// Open links and sessions of one listener.
#[derive(derive_more::Debug)]
#[debug("PageSessions({} links, {} sessions)", links.lock().len(), sessions.lock().len())]
pub struct PageSessions {
    clock: SharedClock,
    address: OnceLock<SocketAddr>,
    links: Mutex<VecDeque<OpenLink>>,
    sessions: Mutex<VecDeque<OpenSession>>,
}

impl PageSessions {
    pub fn new(clock: SharedClock) -> Self {
        let (address, links, sessions) = Default::default();
        Self { clock, address, links, sessions }
    }

    /// Sets the address of the listener that serves the page; only the first call has an effect.
    pub fn serve_at(&self, listener: SocketAddr) {
        self.address.get_or_init(|| listener);
    }

    /// Returns the page's address on this machine; `None` if no listener serves it there.
    pub fn address(&self) -> Option<String> {
        let mut address = *self.address.get()?;
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => [127, 0, 0, 1].into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        address.ip().to_canonical().is_loopback().then(|| format!("http://{address}"))
    }

    /// Makes a link for this actor; `None` if there is no page or no random bits.
    pub fn make_link(&self, actor: String) -> Option<EntryLink> {
        let (address, token) = (self.address()?, PageToken::fresh()?);
        let made = self.clock.now();
        let valid_until = timestamp(&made.checked_add_signed(LINK_LIFE)?);
        let link = OpenLink { identity: token.identity(), actor: actor.clone(), made };
        let mut links = self.links.lock();
        links.retain(|link| link.is_valid(made));
        push(&mut links, link, LINKS_MAX);
        let path = Secret::from(format!("{ENTER_PATH}/{}", token.text().expose()));
        Some(EntryLink { address, path: SecretLink(path), actor, valid_until })
    }

    /// Replies with a new link for this actor.
    pub(super) fn link_reply(&self, actor: String) -> Response {
        let Some(link) = self.make_link(actor) else {
            let message = "the page cannot be entered: no listener serves it on this machine";
            let help = "set `listen` in the daemon's reckon.yaml to a loopback address";
            return Err(ControlError::new(ControlError::NO_PAGE, message, help));
        };
        tracing::info!(actor = link.actor, "made a one-time link to the page");
        let link = serde_json::to_value(link).map_err(|why| ControlError::bug(&why.to_string()))?;
        Ok(Reply::Local(LocalReply(link)))
    }

    /// Returns the person for whom a link is valid; the link stays valid.
    pub fn link_actor(&self, token: &str) -> Option<String> {
        let (identity, now) = (PageToken::parse(token)?.identity(), self.clock.now());
        let links = self.links.lock();
        let link = links.iter().find(|link| link.identity.matches(&identity))?;
        link.is_valid(now).then(|| link.actor.clone())
    }

    /// Uses a link up, and returns the cookie of a new session; `None` if the link is not valid.
    pub fn enter(&self, token: &str) -> Option<Secret> {
        let (identity, now) = (PageToken::parse(token)?.identity(), self.clock.now());
        let cookie = PageToken::fresh()?;
        let actor = self.take_link(&identity, now)?;
        tracing::info!(actor, "a session of the page begins");
        let identity = cookie.identity();
        let session = OpenSession { identity, actor, begun: now, used: now, notice: None };
        let mut sessions = self.sessions.lock();
        sessions.retain(|session| session.is_valid(now));
        push(&mut sessions, session, SESSIONS_MAX);
        Some(cookie.text())
    }

    fn take_link(&self, identity: &Digest, now: DateTime<Utc>) -> Option<String> {
        let mut links = self.links.lock();
        let place = links.iter().position(|link| link.identity.matches(identity))?;
        links.remove(place).filter(|link| link.is_valid(now)).map(|link| link.actor)
    }

    /// Returns the session of a cookie, and notes its use.
    pub fn find(&self, cookie: &str, by: SessionUse) -> Option<SessionView> {
        let token = PageToken::parse(cookie)?;
        let (identity, now) = (token.identity(), self.clock.now());
        let mut sessions = self.sessions.lock();
        sessions.retain(|session| session.is_valid(now));
        let session = sessions.iter_mut().find(|session| session.identity.matches(&identity))?;
        let notice = match by {
            SessionUse::Person => {
                session.used = now;
                session.notice.take()
            }
            SessionUse::Script => None,
        };
        Some(SessionView { actor: session.actor.clone(), form_token: token.form_token(), notice })
    }

    /// Leaves a notice, which the next page of the session shows.
    pub fn leave_notice(&self, cookie: &str, notice: String) {
        let Some(identity) = PageToken::parse(cookie).map(|token| token.identity()) else { return };
        let mut sessions = self.sessions.lock();
        if let Some(one) = sessions.iter_mut().find(|one| one.identity.matches(&identity)) {
            one.notice = Some(notice);
        }
    }

    /// Ends the session of a cookie.
    pub fn end(&self, cookie: &str) {
        if let Some(identity) = PageToken::parse(cookie).map(|token| token.identity()) {
            self.sessions.lock().retain(|session| !session.identity.matches(&identity));
        }
    }
}

/// Appends an item; the oldest one makes room.
fn push<T>(items: &mut VecDeque<T>, item: T, most: usize) {
    while items.len() >= most {
        items.pop_front();
    }
    items.push_back(item);
}

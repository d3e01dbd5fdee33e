//! Authentication of the private listener: answers callers with a token of the daemon's token file,
//! and views for programs on this machine that address this machine.
//!
//! Without a token, three checks apply. The peer's address keeps other machines out. The Host
//! header keeps out a page whose name was pointed here (DNS rebinding). A forwarding header shows
//! that a proxy on this machine forwards another client's request. With a token these checks do not
//! apply, so that a proxy may forward the request. A wrong token is never as good as none. A page
//! of another origin is refused, with or without a token.
//!
//! The file has one line for each token: a token alone; `NAME TOKEN`, whose name the journal
//! records; or `NAME read TOKEN`, which is read-only. Empty lines and lines that begin with `#` are
//! ignored. A token is compared in constant time, and shown nowhere.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;

use crate::base::local::{NonLocal, is_from_another_page, non_local_reason};
use crate::base::secret::Secret;
use crate::http::listener::ValidTokenSeen;
use crate::http::private::answer;

/// Message and help for a page of another origin.
const OTHER_PAGE: (&str, &str) = (
    "request from a page of another origin",
    "send the request from a program, or from a page of this listener",
);
const BEARER: &str = "bearer";

/// Passes a request on, with its caller where there is a token, or responds with the refusal.
pub(crate) async fn guard(
    State(tokens): State<Tokens>,
    mut request: Request,
    next: Next,
) -> Response {
    match caller(&tokens, &request) {
        Err(refusal) => return *refusal,
        Ok(Some(caller)) => {
            if let Some(trust) = request.extensions().get::<ValidTokenSeen>() {
                trust.record();
            }
            request.extensions_mut().insert(caller);
        }
        Ok(None) => {}
    }
    if ![Method::GET, Method::POST].contains(request.method()) {
        return answer::wrong_method();
    }
    next.run(request).await
}

/// Returns the caller, `None` for a view without a token; or else the refusal.
fn caller(tokens: &Tokens, request: &Request) -> Result<Option<ApiCaller>, Box<Response>> {
    let forbidden = |(message, help)| Box::new(answer::forbidden(message, help));
    if is_from_another_page(request.headers()) {
        return Err(forbidden(OTHER_PAGE));
    }
    let mut tried = request.headers().get_all(AUTHORIZATION).iter();
    match (tried.next(), tried.next()) {
        (None, _) if request.method() == Method::GET => {
            view_refusal(request).map_or(Ok(None), |why| Err(forbidden(why)))
        }
        (None, _) => Err(Box::new(answer::no_token())),
        (Some(one), None) => {
            let caller = token_of(one).and_then(|secret| tokens.caller(&secret).cloned());
            caller.map(Some).ok_or_else(|| Box::new(answer::wrong_token()))
        }
        (Some(_), Some(_)) => Err(Box::new(answer::wrong_token())),
    }
}

fn token_of(header: &HeaderValue) -> Option<Secret> {
    let (scheme, token_of) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case(BEARER).then(|| Secret::from(token_of.trim()))
}

fn view_refusal(request: &Request) -> Option<(&'static str, &'static str)> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let why = match peer {
        None => NonLocal::Peer,
        Some(_) => non_local_reason(peer, request.headers(), request.uri())?,
    };
    Some(match why {
        NonLocal::Peer => (
            "missing token: only programs on this machine need none",
            "send the token: `authorization: Bearer …`, or `--token-file FILE` of a command",
        ),
        NonLocal::Page => OTHER_PAGE,
        NonLocal::Proxy => (
            "missing token: the request came through a proxy",
            "send the token (a proxy must not add it), or connect to the listener directly",
        ),
        NonLocal::Host => (
            "missing token: the Host header does not name this machine",
            "connect to http://127.0.0.1, http://[::1] or http://localhost, or send the token",
        ),
    })
}

/// Fewest characters of a token: 32 hexadecimal digits are 128 bits.
const TOKEN_LENGTH_MIN: usize = 32;
const TOKEN_LENGTH_MAX: usize = 512;
/// The right to read only, as it is written.
const READ: &str = "read";
/// The rights to read and write.
const WRITE: &str = "write";

/// Every known token. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Tokens(Arc<[Token]>);

#[derive(Debug, Clone)]
pub struct Token {
    pub secret: Secret,
    caller: ApiCaller,
}

/// The caller that a token identifies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiCaller {
    /// The actor for the journal: the token's name alone, from wherever the request comes.
    pub actor: String,
    /// False for a token that is read-only.
    pub may_write: bool,
}

/// A line that is no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct TokenError {
    /// The line, from 1.
    pub line: usize,
    why: &'static str,
}

impl Tokens {
    /// Parses a token file.
    ///
    /// # Errors
    /// A line is no token; the error does not contain its text.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let lines = text.lines().enumerate();
        let meant = lines.filter(|(_, line)| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        let read = |(index, line): (usize, &str)| {
            Token::parse(line).map_err(|why| TokenError { line: index.saturating_add(1), why })
        };
        Ok(Self(meant.map(read).collect::<Result<_, _>>()?))
    }

    pub fn first(&self) -> Option<&Token> {
        self.0.first()
    }

    /// Returns the caller of this token. Compares every token, so that the time reveals nothing.
    pub fn caller(&self, secret: &Secret) -> Option<&ApiCaller> {
        let mut found = None;
        for token in self.0.iter() {
            if token.secret == *secret {
                found = Some(&token.caller);
            }
        }
        found
    }
}

impl Token {
    fn parse(line: &str) -> Result<Self, &'static str> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, right, secret) = match words.as_slice() {
            [secret] => (None, WRITE, *secret),
            [name, secret] => (Some(name), WRITE, *secret),
            [name, right, secret] => (Some(name), *right, *secret),
            _ => return Err("write TOKEN, NAME TOKEN or NAME read TOKEN"),
        };
        let may_write = match right {
            READ => false,
            WRITE => true,
            _ => return Err("the right of a token is `read` or `write`"),
        };
        if secret.len() < TOKEN_LENGTH_MIN || secret.len() > TOKEN_LENGTH_MAX {
            return Err("a token has 32 to 512 characters; create one with `openssl rand -hex 32`");
        }
        if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a token may contain only visible ASCII characters");
        }
        let actor = name.map_or_else(|| "api token".to_owned(), |name| format!("api token {name}"));
        Ok(Self { secret: Secret::from(secret), caller: ApiCaller { actor, may_write } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "0123456789abcdef0123456789abcdef";
    const TWO: &str = "fedcba9876543210fedcba9876543210";

    #[test]
    fn a_token_is_one_person_with_a_name_and_rights() {
        let text = format!("# runners\n\n{ONE}\n  ci  read  {TWO}\nanna {ONE}{TWO}\n");
        let tokens = Tokens::parse(&text).unwrap();
        let caller = |secret: &str| {
            let caller = tokens.caller(&Secret::from(secret))?;
            Some((caller.actor.as_str(), caller.may_write))
        };
        assert_eq!(caller(ONE), Some(("api token", true)));
        assert_eq!(caller(TWO), Some(("api token ci", false)));
        assert_eq!(caller(&format!("{ONE}{TWO}")), Some(("api token anna", true)));
        for wrong in ["", "ci", &ONE[1..], &format!("{ONE} "), &ONE.to_uppercase()] {
            assert_eq!(caller(wrong), None, "{wrong}");
        }
        assert_eq!(tokens.first().map(|token| token.secret.expose()), Some(ONE));
        assert_eq!(format!("{tokens:?}").matches("Secret(***)").count(), 3);
    }

    #[test]
    fn a_line_that_is_no_token_is_told_without_its_text() {
        for (line, why) in [
            ("short-but-very-secret", "32 to 512"),
            (&format!("ci admin {ONE}"), "`read` or `write`"),
            (&format!("a b c {ONE}"), "NAME read TOKEN"),
            (&format!("{ONE}é"), "visible ASCII"),
        ] {
            let error = Tokens::parse(&format!("{ONE}\n{line}\n")).unwrap_err();
            assert_eq!(error.line, 2);
            assert!(error.to_string().contains(why), "{error}");
            assert!(!error.to_string().contains("secret") && !error.to_string().contains(ONE));
        }
    }
}

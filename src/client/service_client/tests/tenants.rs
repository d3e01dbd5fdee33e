//! The tenant token: one fetch for many calls, one renewal for one refusal.

use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post as on_post;
use futures::future::join_all;
use serde_json::{Value, json};

use super::*;

/// A service that issues tokens t0, t1, … and accepts those numbered `oldest` or higher.
#[derive(Clone, Default)]
struct Issuer {
    issued: Count,
    oldest: Count,
    asked: Count,
}

impl Issuer {
    fn router(&self) -> Router {
        let (issuer, taker) = (self.clone(), self.clone());
        let token = async move |Json(body): Json<Value>| issuer.issue(&body);
        let x = async move |headers: HeaderMap| taker.take(&headers);
        Router::new().route("/oauth/token", on_post(token)).route("/x", on_post(x.clone()).get(x))
    }

    fn issue(&self, body: &Value) -> (StatusCode, Json<Value>) {
        assert_eq!(
            *body,
            json!({"client_id": "partner-id", "client_secret": CANARY,
                   "grant_type": "client_credentials", "scope": "tenant"})
        );
        let token = format!("t{}", self.issued.next());
        (
            StatusCode::OK,
            Json(json!({"access_token": token, "token_type": "bearer", "created_at": 0})),
        )
    }

    fn take(&self, headers: &HeaderMap) -> StatusCode {
        self.asked.next();
        let token = headers["authorization"].to_str().unwrap();
        let number: usize = token.trim_start_matches("Bearer t").parse().unwrap();
        if number >= self.oldest.get() { StatusCode::OK } else { StatusCode::UNAUTHORIZED }
    }

    /// Revokes the tokens issued so far.
    fn revoke(&self) {
        while self.oldest.get() < self.issued.get() {
            self.oldest.next();
        }
    }
}

fn asking() -> Call {
    call(Method::Post, "/x", Auth::Tenant)
}

fn is_done(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Done { .. })
}

#[tokio::test]
async fn a_tenant_token_is_fetched_once_and_renewed_once_after_a_401() {
    let issuer = Issuer::default();
    let client = client(issuer.router());
    for (issued, asked) in [(1, 1), (1, 2)] {
        assert!(is_done(&client.send(&asking(), &Access::Tenant).await));
        assert_eq!((issuer.issued.get(), issuer.asked.get()), (issued, asked));
    }
    issuer.revoke();
    assert!(is_done(&client.send(&asking(), &Access::Tenant).await));
    assert_eq!((issuer.issued.get(), issuer.asked.get()), (2, 4));
}

#[tokio::test]
async fn many_callers_share_one_fetch_and_one_renewal() {
    let issuer = Issuer::default();
    let client = client(issuer.router());
    let all = async || {
        let clones: Vec<_> = (0..64).map(|_| client.clone()).collect();
        let outcomes = join_all(
            clones.iter().map(async |clone: &Client| clone.send(&asking(), &Access::Tenant).await),
        );
        assert!(outcomes.await.iter().all(is_done));
    };
    all().await;
    assert_eq!(issuer.issued.get(), 1);
    issuer.revoke();
    all().await;
    assert_eq!(issuer.issued.get(), 2);
}

#[tokio::test]
async fn a_second_401_is_the_answer() {
    let issuer = Issuer::default();
    for _ in 0..9 {
        issuer.oldest.next();
    }
    let outcome = client(issuer.router()).send(&asking(), &Access::Tenant).await;
    assert!(matches!(outcome, Outcome::Refused { status: 401, .. }));
    assert_eq!((issuer.issued.get(), issuer.asked.get()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn without_a_token_nothing_is_sent_whatever_the_token_endpoint_says() {
    for status in [400, 401, 422, 429, 500, 302, 201, 200] {
        let asked = Count::default();
        let counted = asked.clone();
        let x = async move || {
            counted.next();
        };
        let token = async move || StatusCode::from_u16(status).unwrap();
        let router = Router::new()
            .route("/oauth/token", on_post(token))
            .route("/x", on_post(x.clone()).get(x));
        let client = client(router);
        let outcome = client.send(&asking(), &Access::Tenant).await;
        assert!(is_not_sent(&outcome), "{status} {outcome:?}");
        let read = client.read(&call(Method::Get, "/x", Auth::Tenant), &Access::Tenant).await;
        match status {
            400..429 => assert_eq!(read, Err(ReadError::Unauthorised)),
            _ => assert!(matches!(read, Err(ReadError::Unreachable { .. })), "{status}"),
        }
        assert_eq!(asked.get(), 0, "{status}");
    }
}

#[tokio::test]
async fn a_401_whose_renewal_fails_does_not_settle_the_call() {
    let fetched = Count::default();
    let token = async move || match fetched.next() {
        0 => Ok(Json(json!({"access_token": "first"}))),
        _ => Err(StatusCode::UNAUTHORIZED),
    };
    let router = Router::new()
        .route("/oauth/token", on_post(token))
        .route("/x", on_post(async || StatusCode::UNAUTHORIZED));
    assert!(is_not_sent(&client(router).send(&asking(), &Access::Tenant).await));
}

#[tokio::test]
async fn without_client_credentials_there_is_no_tenant() {
    let issuer = Issuer::default();
    let transport = Transport::InProcess { router: issuer.router(), wire: Arc::new(FaultlessWire) };
    let bare = ServiceConfig { partner: None, ..service("https://base.test") };
    let clock = Arc::new(VirtualClock::new(DateTime::UNIX_EPOCH));
    let client = Client::new(bare, transport, clock).unwrap();
    assert!(is_not_sent(&client.send(&asking(), &Access::Tenant).await));
    assert_eq!((issuer.issued.get(), issuer.asked.get()), (0, 0));
}

mod pages;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use chrono::{DateTime, Utc};
use tokio::sync::mpsc;
use tower::ServiceExt;

use crate::base::hash::keyed_digest;
use crate::base::id::{Key, Mode};
use crate::engine::protocol::input::{EngineInput, PayerRequest};
use crate::engine::protocol::payers::{IntakePage, IntakeTerms, SubmitToken};
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::protocol::views::ResourceView;
use crate::http::public::links::*;
use crate::http::public::public_routes::VerifiedAddress;
use crate::http::public::webhooks::public_router;

const TOKEN: &str = "aB3-token_of_the_payer";

fn outside() -> PublicRoutes {
    PublicRoutes::new(&[3; 32])
}

fn payer(generation: u32, until: &str) -> IntakeLink {
    let key: Key = "SavedMethod/default/jane.home".parse().unwrap();
    let until: DateTime<Utc> = until.parse().unwrap();
    IntakeLink { key, terms: IntakeTerms { generation, replaces: None }, until }
}

fn jane() -> IntakeLink {
    payer(2, "2026-12-01T00:00:00Z")
}

fn link() -> String {
    outside().intake_url("", &jane())
}

fn asking(sort: &'static str) -> Intake {
    Intake::Requested(Box::new(IntakePage {
        sort,
        public_key: "m_\"key\"".to_owned(),
        merchant: Some("Books & <Sons>".to_owned()),
        mode: Mode::Test,
        service: "https://pay.example:8443/base".to_owned(),
        trouble: None,
        replaces: false,
        tokens: 1,
    }))
}

fn door() -> (Router, mpsc::Receiver<EngineInput>) {
    let (sender, events) = mpsc::channel(8);
    (public_router(Control::new(sender), &outside()), events)
}

fn get_of(path: &str) -> Request<Body> {
    Request::get(path).body(Body::empty()).unwrap()
}

fn post(path: &str, body: &str) -> Request<Body> {
    let request = Request::post(path).header("content-type", "application/x-www-form-urlencoded");
    request.body(Body::from(body.to_owned())).unwrap()
}

/// Returns the answer to a request for which the engine answers one view with this state.
async fn looked(state: Intake) -> (Response, String) {
    let (router, mut events) = door();
    let asked = tokio::spawn(router.oneshot(get_of(&link())));
    let Some(EngineInput::Payer(PayerRequest::Open(found, reply))) = events.recv().await else {
        panic!("a look")
    };
    assert_eq!(found, jane());
    reply.send(state).unwrap();
    read(asked.await.unwrap().unwrap()).await
}

async fn read(answer: Response) -> (Response, String) {
    let (parts, body) = answer.into_parts();
    let bytes = to_bytes(body, 64 * 1024).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    (Response::from_parts(parts, Body::empty()), text)
}

#[tokio::test]
async fn the_page_runs_its_own_and_shows_the_frames_of_the_service_alone() {
    for (sort, places) in [("card", ["number", "cvv"]), ("bank", ["routing", "account"])] {
        let (answer, text) = looked(asking(sort)).await;
        assert_eq!(answer.status(), 200);
        let policy = answer.headers()["content-security-policy"].to_str().unwrap();
        let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap();
        assert_eq!(
            policy,
            format!(
                "default-src 'none'; script-src 'nonce-{nonce}'; frame-src https://pay.example:8443; form-action 'self'; \
                 style-src 'nonce-{nonce}'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
            )
        );
        assert_eq!(nonce.len(), 24);
        let library = "https://pay.example:8443/base/hosted-fields/1.5.0/hosted-fields.js";
        assert!(text.contains(&format!("<script nonce=\"{nonce}\" src=\"{library}\">")), "{text}");
        assert_eq!(
            text.matches("<script").count(),
            text.matches(&format!("<script nonce=\"{nonce}\"")).count()
        );
        assert!(text.contains("data-public-key=\"m_&quot;key&quot;\""), "{text}");
        assert!(text.contains("<header class=\"who\">Books &amp; &lt;Sons&gt;</header>"), "{text}");
        assert!(text.contains(&format!("data-sort=\"{sort}\"")));
        for place in places {
            assert!(text.contains(&format!("<div class=\"hosted\" id=\"{place}\">")), "{place}");
        }
        let named: Vec<&str> =
            text.split("<input").skip(1).filter_map(|one| one.split('>').next()).collect();
        let named: Vec<&str> = named.into_iter().filter(|one| one.contains(" name=\"")).collect();
        assert!(named.len() == 1 && named[0].contains("name=\"token_id\""), "{named:?}");
        for (header, value) in [
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(answer.headers()[header], value);
        }
    }
    let (one, _) = looked(asking("card")).await;
    let (other, _) = looked(asking("card")).await;
    let policy = |answer: &Response| answer.headers()["content-security-policy"].clone();
    assert_ne!(policy(&one), policy(&other), "an answer's nonce is its own");
}

#[tokio::test]
async fn every_state_of_a_link_is_told_calmly() {
    for (state, status, words) in [
        (Intake::Received, 200, "they are being saved"),
        (Intake::Stored, 410, "Your details are saved"),
        (Intake::Expired, 410, "not valid any more"),
        (Intake::NotYet, 503, "a little later"),
    ] {
        let (answer, text) = looked(state).await;
        assert_eq!(answer.status(), status);
        assert!(text.contains(words) && !text.contains("<script"), "{text}");
        assert_eq!(text.contains("http-equiv=\"refresh\""), status == 200);
        let policy = answer.headers()["content-security-policy"].to_str().unwrap();
        assert!(
            policy.starts_with("default-src 'none'; form-action 'self'; style-src 'nonce-"),
            "{policy}"
        );
    }
}

#[tokio::test]
async fn what_the_service_said_is_for_the_operator_and_the_payer_is_asked_once_more() {
    let Intake::Requested(mut asking) = asking("card") else { panic!() };
    asking.trouble = Some("the service did not save the details: canary".to_owned());
    let (answer, text) = looked(Intake::Requested(asking)).await;
    assert_eq!(answer.status(), 200);
    assert!(text.contains("It could not be saved") && !text.contains("canary"), "{text}");
}

#[tokio::test]
async fn a_payer_is_told_that_what_is_kept_is_replaced_and_tokens_come_for_all_that_copied_it() {
    let words = "It takes the place of the one that is kept now.";
    let (_, first) = looked(asking("card")).await;
    assert!(!first.contains(words) && first.contains("data-tokens=\"1\""), "{first}");
    let Intake::Requested(mut asking) = asking("card") else { panic!() };
    (asking.replaces, asking.tokens) = (true, 3);
    let (_, text) = looked(Intake::Requested(asking)).await;
    assert!(text.contains(words) && text.contains("data-tokens=\"3\""), "{text}");

    let (router, mut events) = door();
    drop(tokio::spawn(router.oneshot(post(&link(), "token_id=a&token_id=b&x=1&token_id=c"))));
    let Some(EngineInput::Payer(PayerRequest::Submit(SubmitToken { attaching, .. }, _))) =
        events.recv().await
    else {
        panic!("a token")
    };
    let more: Vec<&str> = attaching.more.iter().map(Secret::expose).collect();
    assert_eq!((attaching.token.expose(), more), ("a", vec!["b", "c"]));
    assert!(!attaching.replace, "the link says it");
}

#[tokio::test]
async fn opening_a_link_changes_nothing_and_a_token_is_thanked_for_once_it_is_stored() {
    let (router, mut events) = door();
    let mut head = get_of(&link());
    *head.method_mut() = Method::HEAD;
    let asked = tokio::spawn(router.clone().oneshot(head));
    let Some(EngineInput::Payer(PayerRequest::Open(_, reply))) = events.recv().await else {
        panic!("a look")
    };
    reply.send(asking("card")).unwrap();
    assert_eq!(asked.await.unwrap().unwrap().status(), 200);

    let body = format!("other=1&token_id={TOKEN}");
    let asked = tokio::spawn(router.oneshot(post(&link(), &body)));
    let Some(EngineInput::Payer(PayerRequest::Submit(
        SubmitToken { attaching, link: through, actor },
        reply,
    ))) = events.recv().await
    else {
        panic!("a token")
    };
    assert_eq!((attaching.token.expose(), &attaching.key), (TOKEN, &jane().key));
    assert_eq!((through, actor.as_str()), (Some(jane()), "payer"));
    assert!(!format!("{attaching:?}").contains(TOKEN));
    tokio::task::yield_now().await;
    assert!(!asked.is_finished());
    reply.send(Reply::Attached(Ok(jane().key))).unwrap();
    let answer = asked.await.unwrap().unwrap();
    assert_eq!(
        (answer.status(), answer.headers()["location"].to_str().unwrap()),
        (StatusCode::SEE_OTHER, link().as_str())
    );
    assert_eq!(answer.headers()["cache-control"], "no-store");
}

#[tokio::test]
async fn a_token_that_is_not_taken_is_answered_with_how_things_stand() {
    for (state, status) in [(asking("card"), 409), (Intake::Received, 409), (Intake::Stored, 410)] {
        let (router, mut events) = door();
        let asked = tokio::spawn(router.oneshot(post(&link(), "token_id=")));
        let Some(EngineInput::Payer(PayerRequest::Submit(SubmitToken { attaching, .. }, reply))) =
            events.recv().await
        else {
            panic!("a token")
        };
        assert_eq!(attaching.token.expose(), "");
        reply.send(Reply::Attached(Err("no".to_owned()))).unwrap();
        let Some(EngineInput::Payer(PayerRequest::Open(_, reply))) = events.recv().await else {
            panic!("a look")
        };
        reply.send(state).unwrap();
        assert_eq!(asked.await.unwrap().unwrap().status(), status);
    }
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_stored_is_not_thanked_for() {
    let (router, mut events) = door();
    let asked = tokio::spawn(router.clone().oneshot(post(&link(), "token_id=a")));
    drop(events.recv().await);
    assert_eq!(asked.await.unwrap().unwrap().status(), 503, "the engine ended meanwhile");
    let asked = router.clone().oneshot(post(&link(), "token_id=a")).await;
    assert_eq!(asked.unwrap().status(), 503, "the engine is too slow");
    drop(events);
    let (answer, text) = read(router.oneshot(get_of(&link())).await.unwrap()).await;
    assert_eq!(answer.status(), 503, "there is no engine");
    assert!(text.contains("Please come back"), "{text}");
}

#[tokio::test]
async fn a_forged_link_looks_like_no_path_and_reaches_nobody() {
    let (router, mut events) = door();
    let ours = link().replace("/intake/", "");
    let (named, signature) = ours.rsplit_once('_').unwrap();
    let other_generation = named.replacen("_2_", "_3_", 1);
    let later =
        format!("default_jane.home_2_{}", payer(2, "2027-12-01T00:00:00Z").until.timestamp());
    assert_ne!(other_generation, named);
    let others = PublicRoutes::new(&[4; 32]).intake_url("", &jane()).replace("/intake/", "");
    let applicant = outside().apply_url("", &"MerchantApplication/default/jane".parse().unwrap());
    let renewing = format!("{named}_0123456789ab");
    for forged in [
        format!("{renewing}_{signature}"),
        format!("{other_generation}_{signature}"),
        format!("{later}_{signature}"),
        format!("default_jack_2_0_{signature}"),
        format!("{named}_"),
        format!("{named}_{}", signature.get(1..).unwrap()),
        named.to_owned(),
        signature.to_owned(),
        others,
        applicant.replace("/apply/", ""),
    ] {
        let path = format!("/intake/{forged}");
        for request in [get_of(&path), post(&path, "token_id=a")] {
            let (answer, text) = read(router.clone().oneshot(request).await.unwrap()).await;
            assert_eq!(answer.status(), 404, "{forged}");
            assert!(text.contains("This link is not valid."), "{text}");
        }
    }
    let large = post(&link(), &format!("token_id={}", "a".repeat(5000)));
    assert_eq!(router.oneshot(large).await.unwrap().status(), 413);
    assert!(events.try_recv().is_err());
}

/// Closes E16: an applicant's link has the look and the policy of every page, and a dead one leads
/// to a page, too.
#[tokio::test]
async fn an_applicant_s_link_is_a_page_like_the_others() {
    let (router, _events) = door();
    let link = outside().apply_url("", &"MerchantApplication/default/jane".parse().unwrap());
    for (path, status, words) in [
        (link.as_str(), 200, "<button>Go on</button>"),
        ("/apply/default.jane.x", 404, "is not valid."),
    ] {
        let (answer, text) = read(router.clone().oneshot(get_of(path)).await.unwrap()).await;
        assert_eq!(answer.status(), status, "{path}");
        assert!(text.contains(words) && text.contains("name=\"viewport\""), "{text}");
        assert!(text.contains("prefers-color-scheme: dark"), "it is styled");
        let policy = answer.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; form-action "), "{policy}");
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    }
}

#[test]
fn a_link_says_what_it_was_made_for_and_nobody_can_read_it_from_its_maker() {
    let ours = outside();
    let link = ours.intake_url("https://pay.example/", &jane());
    let last = link.strip_prefix("https://pay.example/intake/").unwrap();
    let opened = |last: &str| {
        let VerifiedAddress { candidates: mut named, terms: (terms, until) } =
            ours.verify_intake_url(last)?;
        let key = named.pop().filter(|_| named.is_empty())?;
        Some(IntakeLink { key, terms, until })
    };
    assert_eq!(opened(last), Some(jane()));
    let replaces = Some("0123456789ab".to_owned());
    let renewal = IntakeLink { terms: IntakeTerms { generation: 2, replaces }, ..jane() };
    let link = ours.intake_url("https://pay.example", &renewal);
    let last = link.strip_prefix("https://pay.example/intake/").unwrap();
    assert!(last.starts_with("default_jane.home_2_1796083200_0123456789ab_"), "{last}");
    assert_eq!(opened(last), Some(renewal));
    assert_eq!(format!("{ours:?}"), "Outside(…)");
}

/// Returns a link of the older form: its parts are joined by dots.
fn older(text: &str) -> String {
    let key = *keyed_digest(&[3; 32], "outside", b"").as_bytes();
    let code: String =
        keyed_digest(&key, "intake-link", text.as_bytes()).to_string().chars().take(32).collect();
    format!("/intake/{text}.{code}")
}

/// Opens an older link that can mean two methods, of which these exist. Returns the status, and the
/// method that the engine was asked about.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other event fails the test")]
async fn older_looked(exist: &[&str]) -> (u16, Option<String>) {
    let (router, mut events) = door();
    let asked = router.oneshot(get_of(&older("a.b.c.2.1796083200")));
    let asked = tokio::spawn(async move { asked.await.unwrap().status().as_u16() });
    let mut seen = None;
    while let Some(event) = events.recv().await {
        match event {
            EngineInput::Ask(EngineQuery::Resource(key), reply) => {
                let view = exist.contains(&&*key.to_string()).then(|| {
                    let (namespace, name) = (&key.namespace, &key.name);
                    let view = serde_json::json!({
                        "kind": "SavedMethod", "namespace": namespace, "name": name, "ready": false,
                        "standing": "waiting", "reason": "AwaitsIntake", "message": "", "verdict": "waiting",
                    });
                    Box::new(serde_json::from_value::<ResourceView>(view).unwrap())
                });
                reply.send(Reply::Resource(view)).unwrap();
            }
            EngineInput::Payer(PayerRequest::Open(link, reply)) => {
                seen = Some(link.key.to_string());
                reply.send(Intake::Stored).unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
    (asked.await.unwrap(), seen)
}

/// Closes S3: an older link that can mean two methods is valid for the only one that exists, and
/// for neither of two.
#[tokio::test]
async fn an_older_link_is_good_where_one_method_alone_can_be_meant() {
    let (one, other) = ("SavedMethod/a/b.c", "SavedMethod/a.b/c");
    assert_eq!(older_looked(&[one]).await, (410, Some(one.to_owned())));
    assert_eq!(older_looked(&[other]).await, (410, Some(other.to_owned())));
    assert_eq!(older_looked(&[one, other]).await, (404, None));
    assert_eq!(older_looked(&[]).await, (404, None));
}

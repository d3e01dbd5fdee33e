//! Sessions of the page: a link, its cookie and its forms permit writes of the page, and nothing else.

use axum::http::{HeaderMap, Method, header};
use parking_lot::Mutex;

use super::*;
use crate::base::id::Key;
use crate::control::protocol::CONTROL_PATH;
use crate::engine::protocol::actions::{ManualResolution, ResolveIntent, ResolveResult};
use crate::engine::protocol::approvals::{ApproveLive, ApprovingPlan, PlanApprovalResult};
use crate::engine::protocol::input::{EngineCommand, EngineInput};
use crate::model::holds::{FreezeResult, SyncGrant, SyncResult};
use crate::model::operator::PlanApproval;
use crate::model::state::credentials::{BindingApproval, LiveBinding};

const ORIGIN: (&str, &str) = ("origin", "http://localhost:8780");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const NEAR: &str = "127.0.0.1:4000";

/// A router over an engine that notes the commands that reach it.
struct Page {
    router: Router,
    control: Control,
    commands: Arc<Mutex<Vec<String>>>,
    _switch: watch::Sender<bool>,
}

/// Answers as an engine with one intent that needs a person.
fn answer_to_page(question: EngineQuery) -> Reply {
    if question == EngineQuery::Approvals {
        return Reply::Approvals(vec![accounts()]);
    }
    if question != EngineQuery::Intents {
        return answer_to(question);
    }
    let item = json!({"id": "i-000007", "key": "Invoice/default/jane", "effect": "invoice.create", "state": "held",
        "attempts": 1, "source_id": "acme:Invoice/default/jane", "mark": "rk1", "at": "2026-11-20T12:00:00Z",
        "reason": "the answer was lost"});
    let items = vec![serde_json::from_value(item).unwrap()];
    Reply::Intents(IntentsView { items, ..IntentsView::default() })
}

/// Answers as an engine over an empty state whose plan has the checksum `5e1f`.
/// Accounts that wait for an approval.
fn accounts() -> LiveBinding {
    let value = json!({"merchant": "Merchant/default/acme", "application": "MerchantApplication/default/acme",
        "generation": 1, "mode": "live", "name": "Harbor Books", "public_keys": ["m_live"]});
    serde_json::from_value(value).unwrap()
}

fn approval_of(plan: ApprovingPlan) -> PlanApprovalResult {
    if plan.checksum != "5e1f" {
        return PlanApprovalResult::Changed { checksum: "5e1f".to_owned() };
    }
    let ApprovingPlan { checksum, actor, .. } = plan;
    let (ceilings, steps, at) = (Vec::new(), Vec::new(), DateTime::UNIX_EPOCH);
    let approved_by = vec![actor.clone()];
    let id = "a".to_owned();
    let approval = PlanApproval { id, checksum, ceilings, steps, actor, at, signed: None };
    PlanApprovalResult::Approved { approval: Box::new(approval), approved_by, approvers: 2 }
}

fn answer_to_command(command: EngineCommand) -> Reply {
    if let EngineCommand::ApprovePlan(plan) = command {
        return Reply::PlanApproved(Box::new(approval_of(plan)));
    }
    if let EngineCommand::ApproveLive(ApproveLive { binding, actor }) = command {
        let at = DateTime::UNIX_EPOCH;
        return Reply::Approved(Some(Box::new(BindingApproval { binding, at, actor })));
    }
    let key: Key = "Invoice/jane".parse().unwrap();
    if let EngineCommand::Sync(checksum, actor) = command {
        let grant = SyncGrant { tree: String::new(), actor, at: DateTime::UNIX_EPOCH };
        let is_present = checksum == "5e1f";
        let changed = SyncResult::Changed("5e1f".to_owned());
        return Reply::Sync(if is_present { SyncResult::Synced(grant) } else { changed });
    }
    if let EngineCommand::Resolve(ResolveIntent { said, .. }) = command {
        return Reply::Resolved(match said {
            ManualResolution::Done(_) => {
                ResolveResult::Differs(key, "the amount differs".to_owned())
            }
            ManualResolution::Unverified(_) | ManualResolution::NotDone => {
                ResolveResult::Settled(key)
            }
            ManualResolution::Retry => ResolveResult::Busy(key),
        });
    }
    Reply::Freeze(FreezeResult::NotFrozen)
}

struct HtmlAnswer {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Page {
    fn new() -> Self {
        let (events, mut asked) = tokio::sync::mpsc::channel(8);
        let commands = Arc::<Mutex<Vec<String>>>::default();
        let noted = commands.clone();
        tokio::spawn(async move {
            while let Some(input) = asked.recv().await {
                if let EngineInput::Ask(question, reply) = input {
                    drop(reply.send(answer_to_page(question)));
                } else if let EngineInput::Command(command, reply) = input {
                    noted.lock().push(format!("{command:?}"));
                    drop(reply.send(answer_to_command(command)));
                }
            }
        });
        let control = Control::new(events);
        control.page().serve_at("127.0.0.1:8780".parse().unwrap());
        let (switch, ready) = watch::channel(true);
        let router = router(control.clone(), ready, tokens());
        Self { router, control, commands, _switch: switch }
    }

    async fn send(&self, request: Request<Body>) -> HtmlAnswer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        HtmlAnswer { status, headers, body: String::from_utf8(body.to_vec()).unwrap() }
    }

    async fn get(&self, path: &str, cookie: &str) -> HtmlAnswer {
        self.send(from(NEAR, &[("host", "localhost:8780"), ("cookie", cookie)], path)).await
    }

    /// Returns the token of a new link.
    fn token(&self) -> String {
        let link = self.control.page().make_link("uid 7".to_owned()).unwrap();
        link.path.0.expose().strip_prefix("/enter/").unwrap().to_owned()
    }

    /// Enters by a new link; returns the cookie and the value of the session's forms.
    async fn enter(&self) -> (String, String) {
        let body = format!("token={}", self.token());
        let answer = self.send(post("/enter", &[ORIGIN, FORM], &body)).await;
        assert_eq!((answer.status, &answer.headers["location"]), (303, &"/".parse().unwrap()));
        let cookie = answer.headers["set-cookie"].to_str().unwrap();
        let (cookie, attributes) = cookie.split_once("; ").unwrap();
        assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict");
        let form = self.get("/do/freeze", cookie).await;
        assert_eq!(form.status, 200, "{}", form.body);
        let (_, rest) = form.body.split_once("name=\"form_token\" value=\"").unwrap();
        (cookie.to_owned(), rest.split('"').next().unwrap().to_owned())
    }
}

fn post(path: &str, headers: &[(&str, &str)], body: &str) -> Request<Body> {
    let mut request = from(NEAR, &[&[("host", "localhost:8780")], headers].concat(), path);
    *request.method_mut() = Method::POST;
    *request.body_mut() = Body::from(body.to_owned());
    request
}

#[tokio::test]
async fn a_link_enters_once_and_its_session_writes_in_the_name_of_its_person() {
    let page = Page::new();
    let token = page.token();
    let path = format!("/enter/{token}");
    for _ in 0..2 {
        let question = page.get(&path, "").await;
        assert_eq!((question.status, question.headers.get("set-cookie")), (200, None));
        assert!(question.body.contains("uid 7"), "{}", question.body);
        assert_eq!(question.headers["referrer-policy"], "same-origin");
    }
    let body = format!("token={token}");
    assert_eq!(page.send(post("/enter", &[ORIGIN, FORM], &body)).await.status, 303);
    assert_eq!(page.send(post("/enter", &[ORIGIN, FORM], &body)).await.status, 403);
    assert_eq!(page.get(&path, "").await.status, 403);
    let (cookie, form) = page.enter().await;
    let body = format!("form_token={form}&reason=+wrong+amounts+");
    let done = page.send(post("/do/freeze", &[ORIGIN, FORM, ("cookie", &cookie)], &body)).await;
    assert_eq!((done.status, &done.headers["location"]), (303, &"/".parse().unwrap()));
    let noted = page.commands.lock().clone();
    assert_eq!(noted, [r#"Freeze(Freeze { reason: "wrong amounts" }, "uid 7")"#]);
    let shown = page.get("/intents", &cookie).await;
    assert!(shown.body.contains("nothing is frozen") && shown.body.contains("Leave"));
    assert!(!page.get("/intents", &cookie).await.body.contains("nothing is frozen"));
    assert!(page.get("/intents", "").await.body.contains("reckon page"));
}

#[tokio::test]
async fn a_form_that_is_not_the_session_s_own_is_refused_on_a_page_and_does_nothing() {
    let page = Page::new();
    let ((cookie, form), (other, other_form)) = (page.enter().await, page.enter().await);
    let cookie = ("cookie", cookie.as_str());
    let own = format!("form_token={form}&reason=audit");
    let others = format!("form_token={other_form}&reason=audit");
    let twice = format!("form_token={form}&{own}");
    let json = ("content-type", "application/json");
    let text = ("content-type", "text/plain");
    let no_form = "reason=audit";
    let two = format!("{}; {other}", cookie.1);
    for (headers, body) in [
        (&[ORIGIN, FORM][..], own.as_str()),
        (&[ORIGIN, FORM, ("cookie", "reckon_page_8780=x")], &own),
        (&[ORIGIN, FORM, ("cookie", &two)], &own),
        (&[ORIGIN, FORM, cookie], no_form),
        (&[ORIGIN, FORM, cookie], &others),
        (&[ORIGIN, FORM, cookie], &twice),
        (&[ORIGIN, FORM, cookie], "form_token=&reason=audit"),
        (&[ORIGIN, json, cookie], &own),
        (&[ORIGIN, text, cookie], &own),
        (&[ORIGIN, cookie], &own),
        (&[FORM, cookie], &own),
        (&[FORM, cookie, ("sec-fetch-site", "none")], &own),
        (&[FORM, cookie, ("sec-fetch-site", "same-site")], &own),
        (&[FORM, cookie, ORIGIN, ("sec-fetch-site", "cross-site")], &own),
        (&[FORM, cookie, ("origin", "null")], &own),
        (&[FORM, cookie, ("origin", "http://localhost:8781")], &own),
        (&[FORM, cookie, ("origin", "https://evil.example")], &own),
        (&[FORM, cookie, ORIGIN, ("x-forwarded-for", "203.0.113.9")], &own),
        (&[FORM, cookie, ORIGIN, ("host", "evil.example")], &own),
    ] {
        let refused = page.send(post("/do/freeze", headers, body)).await;
        assert_eq!(refused.status, 403, "{headers:?} {body}");
        assert_eq!(refused.headers["content-type"], "text/html; charset=utf-8");
        assert!(refused.body.contains("role=\"alert\""), "{}", refused.body);
    }
    let mut far = post("/do/freeze", &[ORIGIN, FORM, cookie], &own);
    far.extensions_mut().insert(ConnectInfo::<SocketAddr>("192.0.2.7:1".parse().unwrap()));
    assert_eq!(page.send(far).await.status, 403);
    let long = format!("{own}{}", "x".repeat(20_000));
    assert_eq!(page.send(post("/do/freeze", &[ORIGIN, FORM, cookie], &long)).await.status, 403);
    assert_eq!(*page.commands.lock(), Vec::<String>::new());
    // The same form with what a browser without an Origin header sends is the session's own.
    let site = ("sec-fetch-site", "same-origin");
    assert_eq!(page.send(post("/do/freeze", &[site, FORM, cookie], &own)).await.status, 303);
    assert_eq!(page.commands.lock().len(), 1);
}

#[tokio::test]
async fn a_session_opens_no_api_and_a_token_no_page() {
    let page = Page::new();
    let (cookie, form) = page.enter().await;
    let cookie = ("cookie", cookie.as_str());
    for path in ["/api/v1/freeze", "/api/v1/thaw", "/api/v1/reconcile", CONTROL_PATH, "/"] {
        let body = format!("form_token={form}&reason=audit");
        let refused = page.send(post(path, &[ORIGIN, FORM, cookie], &body)).await;
        assert_eq!(refused.status, 401, "{path}");
    }
    let bearer = format!("Bearer {WRITER}");
    let token = (header::AUTHORIZATION.as_str(), bearer.as_str());
    let body = format!("form_token={form}&reason=audit");
    for path in ["/do/freeze", "/do/thaw", "/do/sync", "/do/reconcile", "/leave"] {
        let refused = page.send(post(path, &[ORIGIN, FORM, token], &body)).await;
        assert_eq!(refused.status, 403, "{path}");
    }
    assert_eq!(page.get("/do/freeze", "").await.status, 403);
    assert_eq!(*page.commands.lock(), Vec::<String>::new());
    let json = post("/api/v1/freeze", &[token], r#"{"reason":"audit"}"#);
    assert_eq!(page.send(json).await.status, 409, "a token needs no form");
    assert_eq!(page.commands.lock().len(), 1);
}

#[tokio::test]
async fn leaving_ends_the_session_and_its_cookie() {
    let page = Page::new();
    let (cookie, form) = page.enter().await;
    let headers = [ORIGIN, FORM, ("cookie", cookie.as_str())];
    assert_eq!(page.send(post("/leave", &headers, "form_token=x")).await.status, 403);
    let left = page.send(post("/leave", &headers, &format!("form_token={form}"))).await;
    assert_eq!(left.status, 303);
    assert!(left.headers["set-cookie"].to_str().unwrap().ends_with("; Max-Age=0"));
    let body = format!("form_token={form}&reason=audit");
    assert_eq!(page.send(post("/do/freeze", &headers, &body)).await.status, 403);
    assert_eq!(*page.commands.lock(), Vec::<String>::new());
}

#[tokio::test]
async fn only_the_plan_that_was_shown_is_sent() {
    let page = Page::new();
    let (cookie, form) = page.enter().await;
    let headers = [ORIGIN, FORM, ("cookie", cookie.as_str())];
    let shown = page.get("/do/sync", &cookie).await.body;
    assert!(shown.contains("name=\"checksum\" value=\"5e1f\""), "{shown}");
    let body = |checksum: &str| format!("form_token={form}&checksum={checksum}");
    let changed = page.send(post("/do/sync", &headers, &body("0000"))).await;
    assert!(changed.status == 409 && changed.body.contains("nothing was recorded"));
    assert!(changed.body.contains("value=\"5e1f\""), "the new plan is shown");
    assert_eq!(page.send(post("/do/sync", &headers, &body("5e1f"))).await.status, 303);
    assert_eq!(page.send(post("/do/sync", &headers, &body(""))).await.status, 409);
    let sent = [r#"Sync("0000", "uid 7")"#, r#"Sync("5e1f", "uid 7")"#];
    assert_eq!(*page.commands.lock(), sent);
}

#[tokio::test]
async fn only_the_plan_that_was_shown_is_approved() {
    let page = Page::new();
    let (cookie, form) = page.enter().await;
    let headers = [ORIGIN, FORM, ("cookie", cookie.as_str())];
    let shown = page.get("/do/approve", &cookie).await.body;
    assert!(shown.contains("name=\"checksum\" value=\"5e1f\""), "{shown}");
    let body = |checksum: &str| format!("form_token={form}&checksum={checksum}");
    for old in ["0000", ""] {
        let changed = page.send(post("/do/approve", &headers, &body(old))).await;
        assert!(changed.status == 409 && changed.body.contains("nothing was recorded"));
    }
    assert_eq!(page.send(post("/do/approve", &headers, &body("5e1f"))).await.status, 303);
    let next = page.get("/intents", &cookie).await.body;
    assert!(next.contains("approved by uid 7") && next.contains("1 more person must"), "{next}");
    let commands = page.commands.lock();
    assert!(commands.iter().all(|one| one.contains(r#"actor: "uid 7""#)), "{commands:?}");
}

#[tokio::test]
async fn only_the_accounts_that_were_shown_are_approved() {
    let page = Page::new();
    let (cookie, form) = page.enter().await;
    let headers = [ORIGIN, FORM, ("cookie", cookie.as_str())];
    let path = "/do/confirm/Merchant/default/acme";
    assert_eq!(page.get("/do/confirm/Merchant/default/other", &cookie).await.status, 404);
    let shown = page.get(path, &cookie).await.body;
    assert!(shown.contains("Harbor Books") && shown.contains("m_live"), "{shown}");
    let (_, digest) = shown.split_once("name=\"binding\" value=\"").expect(&shown);
    let digest = digest.split('"').next().unwrap();
    let body = |digest: &str| format!("form_token={form}&binding={digest}");
    for other in ["", "0000"] {
        let changed = page.send(post(path, &headers, &body(other))).await;
        assert!(changed.status == 409 && changed.body.contains("nothing was recorded"));
    }
    assert_eq!(*page.commands.lock(), Vec::<String>::new());
    assert_eq!(page.send(post(path, &headers, &body(digest))).await.status, 303);
    let commands = page.commands.lock();
    assert!(commands[0].contains("ApproveLive(") && commands[0].contains(r#"actor: "uid 7""#));
}

#[tokio::test]
async fn an_intent_is_settled_beside_its_evidence_and_each_answer_is_told_in_words() {
    let page = Page::new();
    let (cookie, form) = page.enter().await;
    let headers = [ORIGIN, FORM, ("cookie", cookie.as_str())];
    assert!(page.get("/intents", &cookie).await.body.contains("href=\"/do/settle/i-000007\""));
    assert!(page.get("/intents", "").await.body.contains("reckon intents resolve i-000007"));
    let shown = page.get("/do/settle/i-000007", &cookie).await.body;
    assert!(shown.contains("the answer was lost") && shown.contains("rk1"), "{shown}");
    for (fields, status, text) in [
        ("outcome=done&object=inv_1", 409, "the amount differs"),
        ("outcome=retry", 409, "is being settled now"),
        ("outcome=done&object=", 409, "The id of the object is not valid"),
        ("outcome=unverified", 409, "The id of the object is not valid"),
        ("", 409, "Choose what happened."),
        ("outcome=gone", 409, "Choose what happened."),
        ("outcome=not-done", 303, ""),
        ("outcome=unverified&object=inv_1", 303, ""),
    ] {
        let body = format!("form_token={form}&{fields}");
        let answer = page.send(post("/do/settle/i-000007", &headers, &body)).await;
        assert_eq!(answer.status, status, "{fields}: {}", answer.body);
        assert!(answer.body.contains(text), "{fields}: {}", answer.body);
    }
    let sent = page.commands.lock().clone();
    assert_eq!(sent.len(), 4, "{sent:?}");
    assert!(sent.iter().all(|one| one.contains("uid 7")), "{sent:?}");
    let unknown = page.get("/do/settle/i-000008", &cookie).await;
    assert!(unknown.status == 404 && unknown.body.contains("no such intent"), "{}", unknown.body);
}

#[tokio::test]
async fn a_reason_that_is_none_shows_the_form_again() {
    let page = Page::new();
    let (cookie, form) = page.enter().await;
    let headers = [ORIGIN, FORM, ("cookie", cookie.as_str())];
    for reason in ["", "+", &"x".repeat(501)] {
        let body = format!("form_token={form}&reason={reason}");
        let again = page.send(post("/do/freeze", &headers, &body)).await;
        assert!(again.status == 409 && again.body.contains("500 characters"), "{}", again.body);
    }
    assert_eq!(*page.commands.lock(), Vec::<String>::new());
}

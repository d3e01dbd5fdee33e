//! Documents and facts of which the tables are made.

use crate::api::call::{Auth, Host, Method};
use crate::base::hash::{SourceId, sha256};
use crate::base::id::Mode;
use crate::model::change::{LimitScope, PlannedAction};
use crate::model::effect::Exposure;
use crate::model::intent::{Cause, Intent, StoredBody, StoredRequest};
use crate::model::state::observed::AppliedSpec;
use crate::plan::planner::tests::*;

pub(super) fn document(kind: &str, name: &str, spec: &str) -> Manifest {
    Arc::unwrap_or_clone(manifest(kind, name, spec))
}

pub(super) fn merchant(name: &str, mode: &str) -> Manifest {
    let rest = "timezone: America/Chicago\ncredentials: {authorization_code: {env: C}}";
    document("Merchant", name, &format!("mode: {mode}\n{rest}"))
}

pub(super) fn acme() -> Manifest {
    merchant("acme", "test")
}

pub(super) fn contact(name: &str, first: &str) -> Manifest {
    let rest = "last_name: Doe\nemail_addresses: [{address: jane@example.com}]";
    document("Contact", name, &format!("merchant: acme\nfirst_name: {first}\n{rest}"))
}

pub(super) fn card_of(merchant: &str, name: &str, text: &str) -> Manifest {
    let rest = "type: card\nsource: {card: {number: {env: C}, exp_month: 1, exp_year: 31}}";
    document("SavedMethod", name, &format!("merchant: {merchant}\ndescription: {text}\n{rest}"))
}

/// A card with a description of its own.
pub(super) fn card(name: &str) -> Manifest {
    card_of("acme", name, name)
}

pub(super) fn charge(name: &str, method: &str, dollars: u32) -> Manifest {
    starting(name, method, dollars, "2030-02-01")
}

pub(super) fn starting(name: &str, method: &str, dollars: u32, start: &str) -> Manifest {
    let schedule = format!("{{start: {start}, interval_unit: MONTH, interval_delay: 1}}");
    let spec =
        format!("merchant: acme\nmethod: {method}\namount: {dollars}.00 USD\nschedule: {schedule}");
    document("RecurringCharge", name, &spec)
}

pub(super) fn invoice(name: &str, rest: &str) -> Manifest {
    let lines = "line_items: [{description: A, rate_per_quantity: 10.00 USD}]";
    let head = "merchant: acme\ncontact: jane\nbank_account: Operating\ninvoice_date: 2026-11-30";
    document("Invoice", name, &format!("{head}\n{lines}\n{rest}"))
}

/// An application that its applicant finishes.
pub(super) fn application() -> Manifest {
    let spec = "submission: sign_up\nplan: basic\nemail: jo@roe.example\nowner_title: Owner";
    document("MerchantApplication", "jo", spec)
}

/// The same document with other annotations.
pub(super) fn saying(mut document: Manifest, say: impl FnOnce(&mut Annotations)) -> Manifest {
    say(&mut document.annotations);
    document
}

/// The same document, whose object is removed with it.
pub(super) fn deleted(document: Manifest) -> Manifest {
    saying(document, |said| said.deletion = Deletion::Delete)
}

pub(super) fn moved(document: Manifest, from: &str) -> Manifest {
    saying(document, |said| said.moved_from = Some(key(from)))
}

pub(super) fn needing(document: Manifest, name: &str) -> Manifest {
    saying(document, |said| said.depends_on = vec![key(name)])
}

/// A refusal of the effect with this digest.
pub(super) fn refusal(digest: Digest) -> ServiceRefusal {
    let problem = ServiceProblem::from_code("invalid_data", "no");
    ServiceRefusal { intent: IntentId::new(1), digest, status: 422, problem, at: at(NOW) }
}

pub(super) fn suspension(name: &str, until: Option<&str>) -> Suspension {
    let (reason, actor) = ("audit".to_owned(), "uid 7".to_owned());
    Suspension { key: key(name), reason, actor, until: until.map(at), at: at(NOW) }
}

/// An exceeded limit.
pub(super) fn over() -> LimitExceeded {
    LimitExceeded {
        limit: "policy.limits.per_day".to_owned(),
        allowed: "10.00 USD".to_owned(),
        resulting: "20.00 USD".to_owned(),
        place: "reckon.yaml:14".to_owned(),
        scope: LimitScope::Sum,
        intended: PlannedAction::Settled,
        approved_by: Vec::new(),
        approvers: 1,
    }
}

/// An intent of this resource in this state.
pub(super) fn intent(name: &str, state: IntentState) -> Arc<OpenIntent> {
    let source_id = SourceId::new("acme", &key(name), 0);
    let (endpoint, path, method) = (String::new(), String::new(), Method::Post);
    let (host, auth, body) = (Host::Base, Auth::SecretKey, StoredBody::None);
    let (account, web_url) = (None, None);
    let (spec, digest) = (json!({}), sha256(b""));
    let intent = Intent {
        id: IntentId::new(1),
        effect: "contact.create".to_owned(),
        key: key(name),
        merchant: key("Merchant/acme"),
        mode: Mode::Test,
        target: None,
        mark: source_id.mark(),
        source_id,
        request: StoredRequest { endpoint, method, host, path, auth, account, web_url, body },
        expect: BTreeMap::new(),
        applied: AppliedSpec { spec, digest, generation: 0, deletion: Deletion::Orphan },
        baseline: Value::Null,
        subject: Value::Null,
        on_doubt: OnDoubt::Hold,
        cause: Cause::default(),
        at: at(NOW),
        exposure: Exposure::default(),
    };
    Arc::new(OpenIntent { intent, state, since: None })
}

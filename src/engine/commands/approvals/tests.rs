use chrono::{TimeDelta, Utc};
use serde_json::json;

use crate::base::money::{Currency, Money};
use crate::effects::merchants::authorization::APPLICATION;
use crate::engine::protocol::approvals::{
    ApproveLive, ApproveSigned, ApprovingPlan, PlanApprovalResult,
};
use crate::engine::protocol::input::EngineCommand;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::protocol::views::CHECKSUM_SHORT;
use crate::engine::tests::fixture::{StateFixture, answer_in, append_in, run_in};
use crate::engine::tests::records::{
    MERCHANT, card, contact, merchant, merchant_facts, now, recurring_charge,
};
use crate::model::operator::{ApprovalSignature, PlanApproval};
use crate::model::record::Record;
use crate::model::state::credentials::{BINDING, LiveBinding};

/// Returns a state whose plan creates a recurring charge of 20.00 USD.
fn with_charge() -> StateFixture {
    let mut fixture =
        StateFixture::with_documents(&[&card("card"), &recurring_charge("club", "card")]);
    fixture.apply("SavedMethod/card", "card_1", json!({}));
    fixture
}

fn checksum(fixture: &StateFixture) -> String {
    fixture.view().plan_view().checksum
}

fn approval_request(checksum: &str, actor: &str) -> ApprovingPlan {
    ApprovingPlan { checksum: checksum.to_owned(), ceilings: Vec::new(), actor: actor.to_owned() }
}

async fn approve(fixture: &StateFixture, plan: ApprovingPlan) -> PlanApprovalResult {
    let (_, reply) = run_in(fixture.decide(EngineCommand::ApprovePlan(plan))).await;
    let Reply::PlanApproved(result) = reply else { panic!("{reply:?}") };
    *result
}

fn refusal(fixture: &StateFixture, plan: ApprovingPlan) -> PlanApprovalResult {
    let Reply::PlanApproved(result) = fixture.answer_to(EngineCommand::ApprovePlan(plan)) else {
        panic!("no refusal")
    };
    *result
}

#[tokio::test]
async fn a_plan_is_approved_by_its_checksum_or_a_long_beginning_of_it() {
    let fixture = with_charge();
    let whole = checksum(&fixture);
    for named in [whole.as_str(), &whole[..CHECKSUM_SHORT]] {
        let result = approve(&fixture, approval_request(named, "ann")).await;
        assert!(matches!(result, PlanApprovalResult::Approved { .. }), "{result:?}");
    }
    for other in [&whole[..CHECKSUM_SHORT - 1], "0123456789abcdef", ""] {
        let changed = PlanApprovalResult::Changed { checksum: whole.clone() };
        assert_eq!(refusal(&fixture, approval_request(other, "ann")), changed);
    }
}

#[tokio::test]
async fn an_approval_holds_every_step_with_its_amount_and_the_document_without_it() {
    let fixture = with_charge();
    let result = approve(&fixture, approval_request(&checksum(&fixture), "ann")).await;
    let PlanApprovalResult::Approved { approval, .. } = result else { panic!("{result:?}") };
    let [step] = &approval.steps[..] else { panic!("{:?}", approval.steps) };
    assert_eq!(step.exposure.sums()[&Currency::USD], 2000);
    assert!(step.amountless_digest.is_some());
    assert_eq!(approval.ceilings[0].amount, Money::new(2000, Currency::USD));
    let kept = fixture.shared.facts.plan_approvals().unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].approval, *approval, "it is durable before the answer");
}

#[test]
fn a_plan_that_moves_nothing_needs_no_approval() {
    let fixture = StateFixture::with_documents(&[&contact("jane")]);
    let plan = approval_request(&checksum(&fixture), "ann");
    assert_eq!(refusal(&fixture, plan), PlanApprovalResult::Nothing);
}

#[test]
fn a_plan_beyond_the_approver_s_ceiling_is_not_approved() {
    let fixture = with_charge();
    let moves = Money::new(2000, Currency::USD);
    let low = Money::new(1999, Currency::USD);
    let other = Money::new(9999, "CAD".parse().unwrap());
    for (ceilings, ceiling) in [(vec![low], Some(low)), (vec![other], None)] {
        let plan = ApprovingPlan { ceilings, ..approval_request(&checksum(&fixture), "ann") };
        let beyond = PlanApprovalResult::Beyond { moves, ceiling };
        assert_eq!(refusal(&fixture, plan), beyond);
    }
}

#[tokio::test]
async fn an_approval_names_all_who_approved_this_plan_each_once() {
    let fixture = with_charge();
    let mut names = Vec::new();
    for actor in ["bob", "ann", "bob"] {
        let result = approve(&fixture, approval_request(&checksum(&fixture), actor)).await;
        let PlanApprovalResult::Approved { approved_by, .. } = result else { panic!("{result:?}") };
        names = approved_by;
    }
    assert_eq!(names, ["ann", "bob"]);
}

#[tokio::test]
async fn an_approval_of_a_commit_counts_from_its_signature_and_is_recorded_once() {
    let fixture = with_charge();
    let signed = |at: chrono::DateTime<Utc>| {
        EngineCommand::ApproveSigned(ApproveSigned {
            plan: approval_request(&checksum(&fixture), "ann"),
            signature: ApprovalSignature {
                file: "approvals/one.yaml".to_owned(),
                commit: "c0ffee".to_owned(),
                key: "key".to_owned(),
                until: None,
            },
            at,
        })
    };
    let at = now() - TimeDelta::days(1);
    run_in(fixture.decide(signed(at))).await;
    let kept: Vec<PlanApproval> = fixture
        .shared
        .facts
        .plan_approvals()
        .unwrap()
        .into_iter()
        .map(|one| one.approval)
        .collect();
    assert_eq!((kept.len(), kept[0].at), (1, at));
    let again = answer_in(fixture.decide(signed(at)));
    assert_eq!(again, Reply::PlanApproved(Box::new(PlanApprovalResult::Nothing)));
}

/// Returns a state whose live merchant waits for an approval, and the binding that it shows.
fn waiting_merchant() -> (StateFixture, LiveBinding) {
    let mut fixture = StateFixture::new();
    fixture.write(&[&MERCHANT.replace("mode: test", "mode: live")]);
    let mut facts = merchant_facts();
    facts["mode"] = json!("live");
    facts[APPLICATION] = json!("acme");
    let keys = ["m_0123456789abcdefghij"];
    facts[BINDING] = json!({"generation": 0, "mode": "live", "name": "Acme", "public_keys": keys});
    fixture.apply("Merchant/acme", "m_acme", facts);
    let Reply::Approvals(waiting) = fixture.ask(EngineQuery::Approvals) else { panic!("no list") };
    let [binding] = &waiting[..] else { panic!("{waiting:?}") };
    let binding = binding.clone();
    (fixture, binding)
}

fn approve_live(binding: &LiveBinding) -> EngineCommand {
    EngineCommand::ApproveLive(ApproveLive { binding: binding.clone(), actor: "ann".to_owned() })
}

#[test]
fn a_live_binding_is_approved_exactly_as_it_was_shown() {
    let (fixture, binding) = waiting_merchant();
    let decision = fixture.decide(approve_live(&binding));
    assert_eq!(Vec::from_iter(decision.locked.clone()), [merchant()]);
    let append = append_in(decision);
    let [Record::Approval(approval)] = &append.records[..] else { panic!("no approval") };
    assert_eq!((&approval.binding, approval.actor.as_str()), (&binding, "ann"));
    for other in [
        LiveBinding { generation: 1, ..binding.clone() },
        LiveBinding { name: Some("Other".to_owned()), ..binding.clone() },
        LiveBinding { public_keys: [].into(), ..binding.clone() },
    ] {
        assert_eq!(fixture.answer_to(approve_live(&other)), Reply::Approved(None), "{other:?}");
    }
}

#[test]
fn a_live_binding_is_not_approved_while_its_merchant_is_busy_or_the_engine_stops() {
    let (mut fixture, binding) = waiting_merchant();
    fixture.stopping = true;
    assert_eq!(fixture.answer_to(approve_live(&binding)), Reply::Approved(None));
    fixture.stopping = false;
    fixture.scheduler.busy.insert(merchant());
    assert_eq!(fixture.answer_to(approve_live(&binding)), Reply::Approved(None));
}

#[test]
fn an_approved_binding_no_longer_waits() {
    let (mut fixture, binding) = waiting_merchant();
    let append = append_in(fixture.decide(approve_live(&binding)));
    fixture.append(append.records);
    assert_eq!(fixture.ask(EngineQuery::Approvals), Reply::Approvals(Vec::new()));
}

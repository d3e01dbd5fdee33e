//! Limits and approvals, end to end: in the plan, before each effect, and past the limits by approvals.

mod due;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::support::payments;
use crate::support::payments::{MERCHANT, START, card, document, recurring};
use crate::support::world::World;
use reckon::base::money::Money;
use reckon::config::settings::Config;
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::approvals::{ApprovingPlan, PlanApprovalResult};
use reckon::engine::protocol::input::{EngineCommand, EngineInput};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::model::operator::PlanApproval;
use reckon::policy::PolicyRules;
use reckon::sandbox::options::ServiceSurface;
use reckon::store::read_model::model::ReadModel;

/// Parses a `reckon.yaml` with this content of `policy`, which begins in line 4.
fn rules(policy: &str) -> PolicyRules {
    let text = format!("apiVersion: reckon.dev/v1\nkind: Config\npolicy:\n{policy}\n");
    let config = Config::parse("reckon.yaml", Path::new("."), text.into_bytes()).unwrap();
    config.rules(&|_: &str| None).unwrap()
}

fn house(policy: &str, tree: &str) -> World {
    let mut world = World::new(ServiceSurface::Public, START);
    world.policy = rules(policy);
    world.write(tree);
    world
}

const CONTACT: &str = "---\napiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: jane}\nspec: \
    {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}\n";

fn invoice(name: &str, amount: &str) -> String {
    let spec = format!(
        "contact: jane\n  bank_account: Operating\n  invoice_date: 2030-01-15\n  \
         line_items: [{{description: Retainer, rate_per_quantity: \"{amount}\"}}]"
    );
    document("Invoice", name, &spec)
}

fn mailed(name: &str, addresses: usize) -> String {
    let list: Vec<String> = (0..addresses).map(|one| format!("j{one}@example.com")).collect();
    let messages = format!("  invoice_messages: [{{email_addresses: [{}]}}]\n", list.join(", "));
    invoice(name, "1.00 USD") + messages.as_str()
}

fn invoices(all: &[(&str, &str)]) -> String {
    let all = all.iter().map(|(name, amount)| invoice(name, amount));
    format!("{MERCHANT}{CONTACT}{}", all.collect::<String>())
}

/// Returns the amounts of the invoices at the service, in minor units, sorted.
fn made(world: &World) -> Vec<i64> {
    let all = world.objects("invoices").into_iter();
    let mut all: Vec<i64> = all.map(|one| one["total_amount"].as_i64().unwrap()).collect();
    all.sort_unstable();
    all
}

fn checksum(world: &World) -> String {
    world.engine().view().plan_view().checksum
}

/// Approves the present plan as this person.
async fn approve(world: &World, actor: &str) -> (PlanApproval, Vec<String>, usize) {
    let answer = answered(world, &checksum(world), &[], actor).await;
    let PlanApprovalResult::Approved { approval, approved_by, approvers } = answer else {
        panic!("{answer:?}")
    };
    (*approval, approved_by, approvers)
}

async fn answered(
    world: &World,
    checksum: &str,
    ceilings: &[&str],
    actor: &str,
) -> PlanApprovalResult {
    let ceilings: Vec<Money> = ceilings.iter().map(|one| one.parse().unwrap()).collect();
    let plan = ApprovingPlan { checksum: checksum.to_owned(), ceilings, actor: actor.to_owned() };
    let reply = world.engine().command(EngineCommand::ApprovePlan(plan)).await.unwrap();
    let Reply::PlanApproved(answer) = reply else { panic!("{reply:?}") };
    *answer
}

const OBJECT: &str = "  limits: {per_object: [\"500.00 USD\"]}";

#[tokio::test(start_paused = true)]
async fn an_amount_times_a_hundred_is_blocked_and_the_rest_is_done() {
    let world = house(OBJECT, &invoices(&[("a", "20.00 USD"), ("b", "12500.00 USD")]));
    let after = world.settle().await;
    assert_eq!(after.len(), 1, "{after:?}");
    let short: String = checksum(&world).chars().take(16).collect();
    assert_eq!(
        after[0],
        format!(
            "Blocked Invoice/b: OverLimit (policy.limits.per_object allows 500.00 USD \
             (reckon.yaml:4), and this step would make it 12500.00 USD; raise the limit there, or approve the plan: `reckon approve {short}`)"
        )
    );
    assert_eq!(made(&world), [2000]);
    assert_eq!(world.engine().view().overview().stuck, 1, "exit code 3");
    assert_eq!(world.settle().await, after, "nothing changes without an order");
}

#[tokio::test(start_paused = true)]
async fn a_plan_over_a_sum_is_refused_whole_before_its_first_effect() {
    let policy = "  limits: {per_run: [\"50.00 USD\"]}";
    let tree = invoices(&[("a", "20.00 USD"), ("b", "20.00 USD"), ("c", "20.00 USD")]);
    let mut world = house(policy, &tree);
    let refused = world.engine().exceeded_limits();
    assert_eq!((refused.len(), refused[0].limit.as_str()), (1, "policy.limits.per_run"));
    assert_eq!(refused[0].resulting, "60.00 USD");
    let after = world.settle().await;
    let blocked = after.iter().filter(|one| one.contains("the whole plan would make it 60.00 USD"));
    assert_eq!(blocked.count(), 3, "{after:?}");
    assert!(made(&world).is_empty());
    world.policy = rules("  limits: {per_run: [\"60.00 USD\"]}");
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(made(&world), [2000, 2000, 2000]);
}

#[tokio::test(start_paused = true)]
async fn a_day_remembers_what_was_done_and_the_next_day_forgets_it() {
    let policy = "  limits: {per_day: [\"50.00 USD\"]}";
    let world = house(policy, &invoices(&[("a", "30.00 USD")]));
    assert_eq!(world.settle().await, Vec::<String>::new());
    world.write(&invoices(&[("a", "30.00 USD"), ("b", "30.00 USD")]));
    let after = world.settle().await;
    assert!(after[0].contains("policy.limits.per_day allows 50.00 USD"), "{after:?}");
    assert!(after[0].contains("60.00 USD"), "{after:?}");
    assert_eq!(made(&world), [3000]);
    tokio::time::advance(Duration::from_hours(24)).await;
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(made(&world), [3000, 3000]);
}

#[tokio::test(start_paused = true)]
async fn two_people_let_a_plan_past_and_a_larger_one_waits_again() {
    let policy =
        "  limits: {per_object: [\"500.00 USD\"]}\n  approvals: {above: [\"1000.00 USD\"]}";
    let world = house(policy, &invoices(&[("a", "2000.00 USD")]));
    assert!(world.settle().await[0].contains("OverLimit"));
    let (first, by, needed) = approve(&world, "ann").await;
    assert_eq!((first.checksum, by.len(), needed), (checksum(&world), 1, 2));
    approve(&world, "ann").await;
    let after = world.settle().await;
    assert!(after[0].contains("(ann approved; 1 more person has to approve)"), "{after:?}");
    assert_eq!((made(&world).len(), approve(&world, "bob").await.1.len()), (0, 2));
    world.write(&invoices(&[("a", "2000.01 USD")]));
    assert!(world.settle().await[0].contains("OverLimit"), "one cent more is not approved");
    world.write(&invoices(&[("a", "1900.00 USD")]));
    assert_eq!(world.settle().await, Vec::<String>::new(), "a smaller amount stays approved");
    assert_eq!(made(&world), [190_000]);
    world.write(&invoices(&[("a", "1900.00 USD"), ("b", "1900.00 USD")]));
    assert!(world.settle().await[0].contains("OverLimit"), "a new object is not approved");
    let raised = invoices(&[("a", "1900.00 USD")])
        .replace("{name: a}", "{name: a, annotations: {reckon.dev/generation: \"1\"}}");
    world.write(&raised);
    assert!(
        world.settle().await[0].contains("OverLimit"),
        "a used approval does not cover another generation"
    );
    assert_eq!(made(&world), [190_000]);
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_for_the_plan_that_was_looked_at() {
    let world = house(OBJECT, &invoices(&[("a", "2000.00 USD")]));
    world.settle().await;
    let position = world.engine().view().overview().position;
    let seen = checksum(&world);
    let beyond = answered(&world, &seen, &["1999.99 USD"], "ann").await;
    let moves: Money = "2000.00 USD".parse().unwrap();
    assert_eq!(beyond, PlanApprovalResult::Beyond { moves, ceiling: "1999.99 USD".parse().ok() });
    world.write(&invoices(&[("a", "3000.00 USD")]));
    let changed = PlanApprovalResult::Changed { checksum: checksum(&world) };
    assert_eq!(answered(&world, &seen, &[], "ann").await, changed);
    assert_eq!(answered(&world, "", &[], "ann").await, changed, "an empty checksum names no plan");
    assert_eq!(world.engine().view().overview().position, position, "nothing is recorded");
    world.write(&invoices(&[("a", "2000.00 USD")]));
    let written = answered(&world, &seen[..16], &["2000.00 USD"], "ann").await;
    assert!(matches!(written, PlanApprovalResult::Approved { .. }), "{written:?}");
    assert_eq!(checksum(&world), seen, "an approval changes no plan");
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(answered(&world, &checksum(&world), &[], "ann").await, PlanApprovalResult::Nothing);
}

#[tokio::test(start_paused = true)]
async fn another_payer_is_another_plan_and_an_approval_expires() {
    let tree = invoices(&[("a", "2000.00 USD")]);
    let world = house(OBJECT, &tree);
    world.settle().await;
    approve(&world, "ann").await;
    world.write(&tree.replace("Operating", "Trust"));
    assert!(world.settle().await[0].contains("OverLimit"));
    tokio::time::advance(Duration::from_hours(7 * 24)).await;
    world.write(&tree);
    assert!(world.settle().await[0].contains("OverLimit"));
    assert!(made(&world).is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_was_not_sent_is_given_back_and_a_resend_counts_once() {
    let policy = "  limits: {per_day: [\"50.00 USD\"]}";
    for (fault, status) in [("error_before", 503), ("drop_after", 0), ("throttle", 429)] {
        let world = house(policy, &invoices(&[("a", "30.00 USD")]));
        let order = json!({"method": "POST", "path": "/invoices", "fault": fault, "times": 3});
        world.control("POST", "faults", &order);
        assert_eq!(world.settle().await, Vec::<String>::new(), "{fault} {status}");
        assert_eq!(made(&world), [3000], "{fault}");
        assert_eq!(counted_usd(&world), 3000, "{fault}");
    }
    let world = house(policy, &invoices(&[("a", "30.00 USD")]));
    world.control(
        "POST",
        "faults",
        &json!({"method": "POST", "path": "/invoices",
        "fault": "error_before", "status": 422, "times": 1}),
    );
    let after = world.settle().await;
    assert!(after[0].contains("Refused"), "{after:?}");
    assert_eq!(counted_usd(&world), 0, "a refused effect does not count");
}

/// Returns the sum in USD that counts towards the day's limit, in minor units.
fn counted_usd(world: &World) -> i64 {
    use reckon::base::id::Mode;
    use reckon::base::money::Currency;
    use reckon::policy::limit_check::LimitPeriod;
    let day = &START[..10];
    let facts = ReadModel::new(world.index.clone());
    facts.tally((LimitPeriod::Day, day), Mode::Test, None).unwrap().sum(Currency::USD)
}

#[tokio::test(start_paused = true)]
async fn e_mails_and_deletes_are_counted() {
    let policy = "  limits: {emails_per_day: 3, deletes_per_run: 1}";
    let tree = format!("{MERCHANT}{CONTACT}");
    let world = house(policy, &format!("{tree}{}{}", mailed("a", 2), mailed("b", 2)));
    let after = world.settle().await;
    assert!(after[0].contains("policy.limits.emails_per_day allows 3 e-mails"), "{after:?}");
    assert!(made(&world).is_empty());
    let card = |name: &str| {
        let kept = format!("{{name: {name}, annotations: {{reckon.dev/deletion: delete}}}}");
        card(name, "4111111111111111").replace(&format!("{{name: {name}}}"), &kept)
    };
    let two = format!("{tree}{}{}", card("one"), card("two"));
    world.write(&two);
    assert_eq!(world.settle().await, Vec::<String>::new());
    world.write(&tree);
    let after = world.settle().await;
    assert!(after[0].contains("policy.limits.deletes_per_run allows 1 delete"), "{after:?}");
    assert_eq!(world.objects("cards").len(), 2);
    approve(&world, "ann").await;
    assert_eq!(world.settle().await, Vec::<String>::new());
    let gone =
        world.objects("cards").iter().filter(|card| card["active"] == Value::Bool(true)).count();
    assert_eq!(gone, 0, "{:?}", world.objects("cards"));
}

#[tokio::test(start_paused = true)]
async fn a_schedule_of_a_hundred_times_its_usual_amount_is_blocked() {
    let policy = "  limits: {usual_percent: 300}";
    let tree = |amount: &str| {
        let charge = recurring("rent", "visa", "").replace("20.00 USD", amount);
        format!("{MERCHANT}{}{charge}", card("visa", "4111111111111111"))
    };
    let world = house(policy, &tree("20.00 USD"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    world.write(&tree("60.00 USD"));
    assert_eq!(
        world.settle().await,
        Vec::<String>::new(),
        "three times the usual amount is allowed"
    );
    world.write(&tree("6000.00 USD"));
    let after = world.settle().await;
    assert!(
        after[0].contains("300 % of the usual 60.00 USD (reckon.yaml:4), and this step would make it 6000.00 USD, 10000 %"),
        "{after:?}"
    );
    assert_eq!(payments::only(&world, "recurring_charges")["amount"], 6000);
}

/// Queries a running engine.
async fn ask(events: &mpsc::Sender<EngineInput>, question: EngineQuery) -> Reply {
    let (reply, answer) = oneshot::channel();
    events.send(EngineInput::Ask(question, reply)).await.unwrap();
    answer.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_daemon_goes_on_by_itself_once_its_plan_is_approved() {
    let world = house(OBJECT, &invoices(&[("a", "2000.00 USD")]));
    let mut engine = world.engine();
    let (events, received) = mpsc::channel(4);
    let act = async {
        ask(&events, EngineQuery::Settle).await;
        assert!(made(&world).is_empty());
        let Reply::Plan(plan) = ask(&events, EngineQuery::Plan).await else {
            panic!("unexpected response")
        };
        let (reply, answer) = oneshot::channel();
        let (checksum, actor) = (plan.checksum, "ann".to_owned());
        let approving = ApprovingPlan { checksum, ceilings: Vec::new(), actor };
        events
            .send(EngineInput::Command(EngineCommand::ApprovePlan(approving), reply))
            .await
            .unwrap();
        let answer = answer.await.unwrap();
        assert!(matches!(answer, Reply::PlanApproved(_)), "{answer:?}");
        ask(&events, EngineQuery::Settle).await;
        assert_eq!(made(&world), [200_000]);
        events.send(EngineInput::Stop).await.unwrap();
    };
    let (ran, ()) = tokio::join!(engine.run(received, RunUntil::Stopped), act);
    ran.unwrap();
}

/// Runs `reckon` in a folder. Returns its exit code and both output streams.
fn reckon(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reckon"));
    let known = command.current_dir(folder).env_clear().env("RECKON_CLIENT_ID", "client");
    let known = known.env("RECKON_CLIENT_SECRET", "secret").args(arguments);
    let output = known.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn plan(folder: &Path) -> (i32, Value) {
    let (code, said, _) = reckon(folder, &["plan", "-o", "json"]);
    (code, serde_json::from_str(&said).unwrap())
}

#[test]
fn the_command_shows_a_limit_and_approves_the_plan_that_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(reckon(folder, &["init"]).0, 0);
    let file = folder.join("reckon.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let limited = text.replace("policy:\n", "policy:\n  limits: {per_object: [\"1.00 USD\"]}\n");
    assert_ne!(text, limited);
    std::fs::write(&file, &limited).unwrap();
    let line = limited.lines().position(|line| line.contains("per_object")).unwrap() + 1;
    let (code, before) = plan(folder);
    assert_eq!(code, 3, "{before}");
    let steps = before["steps"].as_array().unwrap();
    let blocked = steps.iter().find(|step| step["reason"] == "OverLimit").unwrap();
    assert_eq!((&blocked["kind"], &blocked["verdict"]), (&json!("Invoice"), &json!("blocked")));
    let message = blocked["message"].as_str().unwrap();
    let checksum = before["checksum"].as_str().unwrap();
    let limit = &blocked["limit"];
    assert_eq!(
        (&limit["limit"], &limit["scope"]),
        (&json!("policy.limits.per_object"), &json!("object"))
    );
    assert_eq!(limit["place"], json!(format!("reckon.yaml:{line}")));
    assert_eq!((&limit["allows"], &limit["wants"]), (&json!("1.00 USD"), &json!("create")));
    assert!(message.contains(&format!("allows 1.00 USD (reckon.yaml:{line})")), "{message}");
    assert!(message.contains(&format!("`reckon approve {}`", &checksum[..16])), "{message}");
    assert_eq!(before["totals"], json!([]), "a blocked step moves no money");

    let (code, _, said) = reckon(folder, &["approve", "0123456789abcdef", "--yes"]);
    assert!(code == 1 && said.contains("reckon::approve::changed"), "{said}");
    let (code, _, said) = reckon(folder, &["approve", &checksum[..16]]);
    assert!(code == 1 && said.contains("reckon::approve::unconfirmed"), "{said}");
    std::fs::write(folder.join("plan.json"), before.to_string()).unwrap();
    let low = ["approve", "plan.json", "--yes", "--ceiling", "1.00 USD"];
    let (code, _, said) = reckon(folder, &low);
    assert!(code == 1 && said.contains("reckon::approve::beyond_ceiling"), "{said}");
    let (code, said, error) = reckon(folder, &["approve", "plan.json", "--yes"]);
    assert!(code == 0 && said.contains("it may pass the limits"), "{said}{error}");
    let (code, after) = plan(folder);
    assert_eq!((code, &after["checksum"]), (0, &before["checksum"]));
    assert!(after["steps"].as_array().unwrap().iter().all(|step| step["verdict"] == "create"));
    assert_eq!(reckon(folder, &["store", "check"]).0, 0);

    let broken = limited.replace("1.00 USD", "1.00");
    std::fs::write(&file, broken).unwrap();
    let (code, _, said) = reckon(folder, &["plan"]);
    assert!(code == 1 && said.contains(&format!("reckon.yaml:{line}:")), "{said}");
}

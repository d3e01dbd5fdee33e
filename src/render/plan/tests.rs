use serde_json::{Value, json};

use crate::base::id::Mode;
use crate::engine::protocol::next_steps::NextStep;
use crate::engine::protocol::views::MoneyView;
use crate::engine::queries::scoped::step_sums as totals;
use crate::model::change::PlannedAction;
use crate::model::issue::ProblemCounts;
use crate::model::manifest::TreeState;
use crate::model::plan::Reason;
use crate::model::state::drift::FieldChange;
use crate::render::plan::*;

fn step(verdict: PlannedAction, name: &str, reason: &Reason) -> StepView {
    StepView {
        kind: "Invoice".to_owned(),
        namespace: "default".to_owned(),
        name: name.to_owned(),
        verdict,
        reason: reason.word().to_owned(),
        message: reason.to_string(),
        stuck: matches!(reason, Reason::CannotChange(_)),
        file: Some(format!("specs/{name}.yaml")),
        line: Some(3),
        changes: Vec::new(),
        money: Vec::new(),
        due: Vec::new(),
        limit: None,
        replaces: None,
        removal: reason.removal(),
        problems: Vec::new(),
        merchant: None,
        held_by: None,
        waits_for: Vec::new(),
        next: Vec::new(),
    }
}

fn change(path: &str, before: Value, after: Value) -> FieldChange {
    FieldChange { path: path.to_owned(), before, after }
}

fn plan(steps: Vec<StepView>) -> PlanView {
    PlanView {
        version: 1,
        coverage: TreeState::Complete,
        position: 42,
        head: "9f86d081884c7d659a2feaa0c55ad015".to_owned(),
        commit: Some("0123456789abcdef0123".to_owned()),
        files: None,
        checksum: "5e1f".to_owned(),
        looked_at: Vec::new(),
        against: None,
        hold: None,
        rules: Vec::new(),
        resources: 9,
        due: Vec::new(),
        totals: totals(&steps),
        steps,
        problems: Vec::new(),
        omitted: ProblemCounts::default(),
    }
}

/// Returns a plan with a step of every sort.
fn full() -> PlanView {
    let mut made = step(PlannedAction::Create, "jane", &Reason::NotCreated);
    made.changes =
        vec![change("line_items[0].rate_per_quantity", Value::Null, json!("125.00 USD"))];
    made.money = vec![MoneyView {
        currency: "USD".to_owned(),
        mode: Mode::Test,
        meaning: "invoiced".to_owned(),
        amount: 12_500,
    }];
    let mut changed = step(PlannedAction::Update, "memo", &Reason::Changed);
    changed.namespace = "team-b".to_owned();
    changed.changes = vec![
        change("memo", json!("old"), json!("new")),
        change("due", json!("2026-11-30"), Value::Null),
        change("number", Value::Null, json!(7)),
    ];
    let fixed = Reason::CannotChange(vec!["amount".to_owned()]);
    let mut blocked = step(PlannedAction::Blocked, "sent", &fixed);
    blocked.changes = vec![
        change("amount", json!("1.00 USD"), json!("2.00 USD")),
        change("memo", json!("a"), json!("b")),
    ];
    let wait = Reason::WaitsFor(vec!["Contact/jo".parse().unwrap()]);
    let mut gone = step(PlannedAction::Orphan, "gone", &Reason::Orphaned);
    (gone.file, gone.line) = (None, None);
    plan(vec![
        made,
        changed,
        step(PlannedAction::Delete, "old", &Reason::Removed),
        step(PlannedAction::Read, "acme", &Reason::NotSurveyed),
        blocked,
        step(PlannedAction::Wait, "later", &wait),
        gone,
    ])
}

#[test]
fn a_plan_says_what_why_and_where() {
    insta::assert_snapshot!(text(&full(), Screen::PLAIN), @r"
    WHEN APPLIED      AMOUNT  MODE
    invoiced      125.00 USD  test

    + Invoice/jane  the object does not exist at the service yet
        specs/jane.yaml:3, 125.00 USD invoiced (test)
        line_items[0].rate_per_quantity: 125.00 USD
    ~ Invoice/team-b/memo  the file changed
        specs/memo.yaml:3
        memo: old → new
        due: 2026-11-30 → (none)
        number: (none) → 7
    - Invoice/old  document missing (reckon.dev/deletion: delete)
        specs/old.yaml:3
    ? Invoice/acme  the objects at the service are not read yet
        specs/acme.yaml:3
    ! Invoice/sent  the service cannot change amount; write the old value, or raise reckon.dev/generation (to 1 if there is none) to create a new object: the old one stays unchanged
        specs/sent.yaml:3
        amount: 1.00 USD → 2.00 USD  ! the service cannot change this
        memo: a → b
    … Invoice/later  waits for Contact/jo
        specs/later.yaml:3
    o Invoice/gone  document missing; the object stays unchanged (reckon.dev/deletion: orphan)

    Plan: 1 to create, 1 to update, 1 to delete, 1 to read; 1 waiting, 1 blocked, 1 orphaned
    Position 42, head 9f86d081884c, commit 0123456789ab
    ");
}

#[test]
fn a_plan_for_a_comment_says_the_same() {
    insta::assert_snapshot!(markdown(&full()), @r#"
    ### Plan: 1 to create, 1 to update, 1 to delete, 1 to read; 1 waiting, 1 blocked, 1 orphaned

    | Amount | What happens | Mode |
    |---:|---|---|
    | 125\.00 USD | invoiced | test |

    - `+` **`Invoice/jane`** the object does not exist at the service yet (`specs/jane.yaml:3`)
      - 125\.00 USD invoiced \(test\)
      - `line_items[0].rate_per_quantity`: `125.00 USD`
    - `~` **`Invoice/team-b/memo`** the file changed (`specs/memo.yaml:3`)
      - `memo`: `old` → `new`
      - `due`: `2026-11-30` → (none)
      - `number`: (none) → `7`
    - `-` **`Invoice/old`** document missing \(reckon\.dev/deletion\: delete\) (`specs/old.yaml:3`)
    - `?` **`Invoice/acme`** the objects at the service are not read yet (`specs/acme.yaml:3`)
    - `!` **`Invoice/sent`** the service cannot change amount; write the old value, or raise reckon\.dev/generation \(to 1 if there is none\) to create a new object\: the old one stays unchanged (`specs/sent.yaml:3`)
      - `amount`: `1.00 USD` → `2.00 USD` **the service cannot change this**
      - `memo`: `a` → `b`
    - `…` **`Invoice/later`** waits for Contact/jo (`specs/later.yaml:3`)
    - `o` **`Invoice/gone`** document missing; the object stays unchanged \(reckon\.dev/deletion\: orphan\)

    <sub>Position 42, head 9f86d081884c, commit 0123456789ab</sub>
    "#);
}

#[test]
fn nothing_to_do_is_said_in_one_line() {
    let summary = |plan: &PlanView| common::plan_summary(plan);
    assert_eq!(summary(&plan(Vec::new())), "Nothing to do: 9 resources match.");
    let one = PlanView { resources: 1, ..plan(Vec::new()) };
    assert_eq!(summary(&one), "Nothing to do: 1 resource matches.");
    let orphan = plan(vec![step(PlannedAction::Orphan, "gone", &Reason::Orphaned)]);
    assert_eq!(summary(&orphan), "Nothing to do: 8 resources match; 1 orphaned.");
    let blocked = plan(vec![step(PlannedAction::Blocked, "x", &Reason::BrokenDocument)]);
    assert_eq!(summary(&blocked), "Plan: 0 to create, 0 to update, 0 to delete; 1 blocked");
}

#[test]
fn colour_is_there_when_asked_for_and_changes_no_word() {
    let (plain, colored) =
        (text(&full(), Screen::PLAIN), text(&full(), Screen { color: true, ..Screen::PLAIN }));
    assert!(!plain.contains('\u{1b}') && colored.contains('\u{1b}'));
    assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain);
}

#[test]
fn a_partial_plan_says_that_nothing_is_removed() {
    let partial = PlanView { coverage: TreeState::Incomplete, ..plan(Vec::new()) };
    for shown in [text(&partial, Screen::PLAIN), markdown(&partial)] {
        assert!(shown.contains("a missing document removes nothing"), "{shown}");
    }
}

#[test]
fn names_and_values_cannot_break_out_of_a_comment() {
    let mut step = step(PlannedAction::Create, "x", &Reason::NotCreated);
    step.file = Some("a`b\n# |.yaml".to_owned());
    step.message = "</details><img src=x> [a](http://b) @team".to_owned();
    step.changes = vec![change("memo", Value::Null, json!("```\n</details>`"))];
    let shown = markdown(&plan(vec![step]));
    let item: Vec<&str> = shown.lines().filter(|line| line.contains("`+`")).collect();
    let item = item.join("\n").replace('\u{200b}', "(no width)");
    insta::assert_snapshot!(item, @r#"- `+` **`Invoice/x`** \</details\>\<img src\=x\> \[a\]\(http\://b\) \@(no width)team (`` a`b\u{a}# |.yaml:3 ``)"#);
    assert!(shown.lines().all(|line| !line.starts_with("```") && !line.starts_with("# ")));
}

#[test]
fn a_long_plan_is_folded_and_cut_to_the_size_of_a_comment() {
    let long = |count: usize| {
        let make = |number| {
            let mut made = step(PlannedAction::Create, &format!("n{number}"), &Reason::NotCreated);
            made.changes = vec![change("memo", Value::Null, json!("x".repeat(150)))];
            made
        };
        markdown(&plan((0..count).map(make).collect()))
    };
    assert!(!long(10).contains("<details>"));
    assert!(long(11).contains("<details><summary>11 steps</summary>"));
    let cut = long(1000);
    assert!(cut.len() < 65_536 && cut.contains("more steps"), "{}", cut.len());
    assert!(cut.contains("</details>") && cut.contains("Position 42"));
}

#[test]
fn totals_add_up_by_currency_mode_and_meaning() {
    let full = full();
    let twice: Vec<StepView> = full.steps.iter().chain(&full.steps).cloned().collect();
    let sums: Vec<String> = totals(&twice).iter().map(words::money_text).collect();
    assert_eq!(sums, ["250.00 USD invoiced (test)"]);
}

#[test]
fn a_large_plan_is_counted_and_its_problems_are_still_shown_whole() {
    let mut steps: Vec<StepView> = (0..40)
        .map(|number| {
            let mut made = step(PlannedAction::Create, &format!("n-{number}"), &Reason::NotCreated);
            made.merchant = Some("Merchant/acme".to_owned());
            made.money = vec![MoneyView {
                currency: "USD".to_owned(),
                mode: Mode::Test,
                meaning: "invoiced".to_owned(),
                amount: 100 + number,
            }];
            made
        })
        .collect();
    let fixed = Reason::CannotChange(vec!["amount".to_owned()]);
    let mut blocked = step(PlannedAction::Blocked, "sent", &fixed);
    blocked.next = vec![NextStep {
        command: "reckon why Invoice/sent".to_owned(),
        purpose: "see its history".to_owned(),
    }];
    steps.push(blocked);
    let large = plan(steps);
    insta::assert_snapshot!(text(&large, Screen::PLAIN), @r"
    WHEN APPLIED     AMOUNT  MODE
    invoiced      47.80 USD  test

     LARGEST  RESOURCE      MEANING
    1.39 USD  Invoice/n-39  invoiced
    1.38 USD  Invoice/n-38  invoiced
    1.37 USD  Invoice/n-37  invoiced
    1.36 USD  Invoice/n-36  invoiced
    1.35 USD  Invoice/n-35  invoiced
    1.34 USD  Invoice/n-34  invoiced
    1.33 USD  Invoice/n-33  invoiced
    1.32 USD  Invoice/n-32  invoiced
    1.31 USD  Invoice/n-31  invoiced
    1.30 USD  Invoice/n-30  invoiced

    KIND     MERCHANT       CREATE  UPDATE  DELETE  OTHER                     AMOUNT
    Invoice  -                   -       -       -      1
    Invoice  Merchant/acme      40       -       -      -  47.80 USD invoiced (test)

    ! Invoice/sent  the service cannot change amount; write the old value, or raise reckon.dev/generation (to 1 if there is none) to create a new object: the old one stays unchanged
        specs/sent.yaml:3
        → reckon why Invoice/sent  # see its history

    Plan: 40 to create, 0 to update, 0 to delete; 1 blocked
    Each step: reckon plan -v
    Position 42, head 9f86d081884c, commit 0123456789ab
    ");
    let full = full_text(&large, Screen::PLAIN);
    assert!(full.contains("+ Invoice/n-0") && !full.contains("reckon plan -v"), "{full}");
}

use serde_json::Value;

use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::engine::commands::intake::TOKENS_MAX;
use crate::engine::protocol::input::EngineCommand;
use crate::engine::protocol::payers::{AttachToken, SubmitToken};
use crate::engine::protocol::query::Reply;
use crate::engine::tests::fixture::{StateFixture, run_in};
use crate::engine::tests::records::{card, intake, key};
use crate::model::state::token_attachment::ATTACHED;
use crate::plan::state_view::StateView;

const TOKEN: &str = "tok_0123456789abcdefgh";

fn jane() -> Key {
    key("SavedMethod/jane")
}

fn submit(name: &str, token: &str, more: &[&str]) -> EngineCommand {
    let more = more.iter().map(|token| Secret::from(*token)).collect();
    let attaching =
        AttachToken { key: key(name), token: Secret::from(token), more, replace: false };
    EngineCommand::Attach(SubmitToken { attaching, link: None, actor: "ann".to_owned() })
}

fn refusal(fixture: &StateFixture, command: EngineCommand) -> String {
    let Reply::Attached(Err(why)) = fixture.answer_to(command) else { panic!("no refusal") };
    why
}

/// Submits a token to a method that asks for one.
async fn with_token() -> StateFixture {
    let mut fixture = StateFixture::with_documents(&[&intake("jane"), &card("card")]);
    let decision = fixture.decide(submit("SavedMethod/jane", TOKEN, &[]));
    assert_eq!(Vec::from_iter(decision.locked.clone()), [jane()]);
    let (_, reply) = run_in(decision).await;
    assert_eq!(reply, Reply::Attached(Ok(jane())));
    fixture.refresh();
    fixture
}

#[tokio::test]
async fn a_token_is_sealed_before_its_record_and_stands_nowhere_in_the_open() {
    let fixture = with_token().await;
    let known = fixture.known_state.observed(&jane()).unwrap();
    let sealed = known.fact(ATTACHED).get("sealed").and_then(Value::as_str).unwrap();
    assert_eq!(fixture.shared.open(sealed).unwrap().expose(), TOKEN);
    assert!(!known.facts.to_string().contains(TOKEN));
}

#[tokio::test]
async fn the_same_token_again_is_accepted_and_recorded_once() {
    let fixture = with_token().await;
    let before = fixture.length();
    let again = fixture.answer_to(submit("SavedMethod/jane", TOKEN, &[]));
    assert_eq!(again, Reply::Attached(Ok(jane())));
    assert_eq!(fixture.length(), before);
}

#[tokio::test]
async fn a_second_token_is_refused_while_the_first_is_being_saved() {
    let fixture = with_token().await;
    let why = refusal(&fixture, submit("SavedMethod/jane", "tok_another_one_abcdef", &[]));
    assert!(why.contains("has a token that is being saved"), "{why}");
}

#[test]
fn only_distinct_texts_that_can_be_tokens_are_accepted() {
    let fixture = StateFixture::with_documents(&[&intake("jane")]);
    let why =
        |token: &str, more: &[&str]| refusal(&fixture, submit("SavedMethod/jane", token, more));
    let long = "a".repeat(129);
    for bad in ["", "with space", "tök", long.as_str()] {
        assert!(why(bad, &[]).starts_with("not a one-time token"), "{bad}");
        assert!(why(TOKEN, &[bad]).starts_with("not a one-time token"), "{bad}");
    }
    assert!(why(TOKEN, &[TOKEN]).starts_with("the same token twice"));
    let many: Vec<String> = (0..TOKENS_MAX).map(|number| format!("tok_{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(why(TOKEN, &many), format!("too many tokens: at most {TOKENS_MAX}"));
}

#[test]
fn a_method_that_asks_for_no_token_takes_none() {
    let fixture = StateFixture::with_documents(&[&card("card")]);
    let why = refusal(&fixture, submit("SavedMethod/card", TOKEN, &[]));
    assert!(why.contains("does not say `source: intake`"), "{why}");
    let why = refusal(&fixture, submit("SavedMethod/none", TOKEN, &[]));
    assert_eq!(why, "no good document says SavedMethod/none");
}

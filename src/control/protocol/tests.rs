//! Tests of the control handle.

use super::*;
use crate::control::testing::{engine, overview};

#[tokio::test]
async fn an_answer_is_the_engine_s_own() {
    let control = engine(|question| {
        assert_eq!(question, EngineQuery::Overview);
        Reply::Overview(overview())
    });
    assert_eq!(control.ask(EngineQuery::Overview).await, Ok(Reply::Overview(overview())));
}

#[tokio::test]
async fn an_engine_that_ended_is_an_error_and_not_a_wait() {
    let (events, asked) = mpsc::channel(1);
    drop(asked);
    let error = Control::new(events).ask(EngineQuery::Plan).await.unwrap_err();
    assert_eq!(error.code, ControlError::STOPPED);
    let (events, mut asked) = mpsc::channel(1);
    let control = Control::new(events);
    let (answer, ()) = tokio::join!(control.ask(EngineQuery::Plan), async {
        drop(asked.recv().await);
    });
    assert_eq!(answer.unwrap_err().code, ControlError::STOPPED);
}

#[test]
fn requests_and_responses_have_a_fixed_form() {
    let key = "Invoice/jane".parse().unwrap();
    let request = ControlRequest::Ask(EngineQuery::Resource(key));
    let text = r#"{"ask":{"resource":"Invoice/default/jane"}}"#;
    assert_eq!(serde_json::to_string(&request).unwrap(), text);
    assert_eq!(serde_json::from_str::<ControlRequest>(text).unwrap(), request);
    assert_eq!(
        serde_json::from_str::<ControlRequest>("\"verify\"").unwrap(),
        ControlRequest::Verify
    );
    let settled = serde_json::to_string(&Response::Ok(Reply::Settled)).unwrap();
    assert_eq!(settled, r#"{"Ok":"settled"}"#);
    let error = Response::Err(ControlError::new("a", "b", "c"));
    let text = r#"{"Err":{"code":"a","message":"b","help":"c"}}"#;
    assert_eq!(serde_json::to_string(&error).unwrap(), text);
}

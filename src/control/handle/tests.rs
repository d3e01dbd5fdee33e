//! Tests of the control handle.

use super::*;
use crate::control::testing::{engine, overview};
use crate::engine::protocol::query::{EngineQuery, OverviewQuery, PlanQuery, Reply};

#[tokio::test]
async fn an_answer_is_the_engine_s_own_and_has_the_query_s_type() {
    let control = engine(|question| {
        assert_eq!(question, EngineQuery::Overview);
        Reply::Overview(Box::new(overview()))
    });
    assert_eq!(control.ask(EngineQuery::Overview).await, Ok(Reply::Overview(Box::new(overview()))));
    assert_eq!(control.ask(OverviewQuery).await, Ok(overview()));
}

#[tokio::test]
async fn another_query_s_answer_is_a_bug_of_ours() {
    let control = engine(|_| Reply::Settled);
    let error = control.ask(PlanQuery).await.unwrap_err();
    assert_eq!(error.code, ControlError::BUG);
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

#[tokio::test]
async fn a_daemon_that_is_starting_says_so() {
    let (events, _asked) = mpsc::channel(1);
    let urls = ControlRequest::Local(Box::new(LocalQuery::Urls));
    let error = Control::new(events).send(urls, "uid 7".to_owned()).await.unwrap_err();
    assert_eq!(error.code, ControlError::BUSY);
}

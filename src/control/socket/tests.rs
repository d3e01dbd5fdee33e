use tokio::io::AsyncReadExt;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;
use crate::control::testing::{engine, overview};
use crate::engine::protocol::query::{EngineQuery, Reply};

/// A server in a folder of its own, and the means to stop it.
struct Served {
    path: PathBuf,
    stop: oneshot::Sender<()>,
    done: JoinHandle<()>,
    _folder: tempfile::TempDir,
}

async fn serve_at(below: &str) -> Served {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(below).join("control.sock");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let control = engine(|question| match question {
        EngineQuery::Overview => Reply::Overview(Box::new(overview())),
        EngineQuery::Status
        | EngineQuery::Resources(_)
        | EngineQuery::Resource(_)
        | EngineQuery::Metrics
        | EngineQuery::Intents
        | EngineQuery::Events(_)
        | EngineQuery::Event(_)
        | EngineQuery::Hooks
        | EngineQuery::ScriptResource(_)
        | EngineQuery::ScriptFind(..)
        | EngineQuery::TrialRun(_)
        | EngineQuery::Plan
        | EngineQuery::PlanPart(_)
        | EngineQuery::Money
        | EngineQuery::ResourceContext(_)
        | EngineQuery::Graph(_)
        | EngineQuery::Scoped(_)
        | EngineQuery::Save(_)
        | EngineQuery::Approvals
        | EngineQuery::IntakeLink(_)
        | EngineQuery::JournalRefs(_)
        | EngineQuery::Addresses
        | EngineQuery::Effects(_)
        | EngineQuery::Replay(_)
        | EngineQuery::Settle => Reply::Settled,
    });
    let (stop, stopped) = oneshot::channel();
    let door = ControlSocket::bind(&path).await.unwrap();
    let done = tokio::spawn(door.serve(control, async { drop(stopped.await) }));
    Served { path, stop, done, _folder: folder }
}

async fn connected(path: &Path) -> SocketClient {
    SocketClient::connect(path).await.unwrap().expect("a process listens")
}

/// Sends these bytes to the server and returns its answer.
async fn told(path: &Path, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(path).await.unwrap();
    // The server may hang up on a request that is too long before all of it is sent.
    drop(stream.write_all(bytes).await);
    drop(stream.shutdown().await);
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn what_is_asked_is_answered_one_question_after_another() {
    let served = serve_at("").await;
    let client = connected(&served.path).await;
    assert_eq!(client.send(EngineQuery::Overview).await, Ok(Reply::Overview(Box::new(overview()))));
    assert_eq!(client.send(EngineQuery::Settle).await, Ok(Reply::Settled));
}

#[tokio::test]
async fn a_folder_with_a_long_name_is_no_obstacle() {
    let served = serve_at(&"long/".repeat(40)).await;
    let client = connected(&served.path).await;
    assert_eq!(client.send(EngineQuery::Settle).await, Ok(Reply::Settled));
}

#[tokio::test]
async fn the_socket_is_its_owner_s_alone() {
    let served = serve_at("").await;
    let mode = fs::metadata(&served.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(may_ask(1000, 1000) && may_ask(0, 1000));
    assert!(!may_ask(1001, 1000) && !may_ask(1000, 0));
}

#[tokio::test]
async fn a_socket_that_somebody_serves_is_not_taken_over() {
    let served = serve_at("").await;
    let error = ControlSocket::bind(&served.path).await.unwrap_err();
    assert!(matches!(error, SocketError::Served { .. }), "{error}");
    assert!(SocketClient::connect(&served.path).await.unwrap().is_some());
}

#[tokio::test]
async fn a_socket_that_was_left_behind_is_nobody_and_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.sock");
    assert!(SocketClient::connect(&path).await.unwrap().is_none());
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    assert!(SocketClient::connect(&path).await.unwrap().is_none());
    let door = ControlSocket::bind(&path).await.unwrap();
    assert!(SocketClient::connect(&path).await.unwrap().is_some());
    drop(door);
    assert!(!path.exists());
}

#[tokio::test]
async fn shutdown_disconnects_and_removes_the_socket() {
    let served = serve_at("").await;
    let client = connected(&served.path).await;
    assert_eq!(client.send(EngineQuery::Settle).await, Ok(Reply::Settled));
    served.stop.send(()).unwrap();
    served.done.await.unwrap();
    assert!(!served.path.exists());
    assert_eq!(client.send(EngineQuery::Settle).await.unwrap_err().code, ControlError::LOST);
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_with_what_to_send() {
    let served = serve_at("").await;
    let answer = told(&served.path, b"hello\n{\"ask\":\"settle\"}\n").await;
    let lines: Vec<Response> =
        answer.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0].as_ref().unwrap_err().code, ControlError::BAD_REQUEST);
    assert_eq!(lines[1], Ok(Reply::Settled));
}

#[tokio::test]
async fn a_request_without_an_end_is_given_up_at_the_limit() {
    let served = serve_at("").await;
    let long = vec![b'x'; usize::try_from(REQUEST_BYTES_MAX).unwrap() + 1];
    let mut stream = UnixStream::connect(&served.path).await.unwrap();
    stream.write_all(&long).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains(ControlError::TOO_LONG), "{answer}");
}

#[tokio::test]
async fn one_too_many_is_told_so() {
    let served = serve_at("").await;
    let mut seated = Vec::new();
    for _ in 0..CONNECTIONS_MAX {
        let client = connected(&served.path).await;
        assert_eq!(client.send(EngineQuery::Settle).await, Ok(Reply::Settled));
        seated.push(client);
    }
    let late = connected(&served.path).await;
    assert_eq!(late.send(EngineQuery::Settle).await.unwrap_err().code, ControlError::BUSY);
}

#[tokio::test]
async fn a_question_that_was_given_up_spoils_the_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.sock");
    let (events, _never_answers) = tokio::sync::mpsc::channel(8);
    let door = ControlSocket::bind(&path).await.unwrap();
    let served = tokio::spawn(door.serve(Control::new(events), std::future::pending()));
    let client = connected(&path).await;
    {
        let asked = client.send(EngineQuery::Plan);
        let mut asked = pin!(asked);
        assert!(futures::poll!(&mut asked).is_pending());
    }
    assert_eq!(client.send(EngineQuery::Plan).await.unwrap_err().code, ControlError::LOST);
    served.abort();
}

#[tokio::test]
async fn a_line_ends_at_its_end_at_the_limit_or_with_the_input() {
    let mut input: &[u8] = b"one\n\nthree";
    let mut next = async || read_line(&mut input, 5).await.unwrap();
    assert_eq!(next().await, LineRead::Whole(b"one".to_vec()));
    assert_eq!(next().await, LineRead::Whole(Vec::new()));
    assert_eq!(next().await, LineRead::Whole(b"three".to_vec()));
    assert_eq!(next().await, LineRead::End);
    assert_eq!(
        read_line(&mut &b"12345\n"[..], 5).await.unwrap(),
        LineRead::Whole(b"12345".to_vec())
    );
    assert_eq!(read_line(&mut &b"123456\n"[..], 5).await.unwrap(), LineRead::TooLong);
}

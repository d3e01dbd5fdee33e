//! The limit of a receiver: a bare handler, and one fdatasync for all waiting bodies. It checks nothing.

use std::fs::File;
use std::io::Write;
use std::net::Ipv4Addr;
use std::path::Path;
use std::{io, thread};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use http::StatusCode;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use crate::connection::Failed;

/// Bodies made durable by one sync.
const GROUP_MAX: usize = 1024;

/// A body, and the sender that answers its request.
type Job = (Bytes, oneshot::Sender<()>);

/// Listens on any port of this machine, prints the address, and appends to this file until it is killed.
pub(crate) async fn serve(path: &Path) -> Result<(), Failed> {
    let file = File::create(path)?;
    let (queue, jobs) = mpsc::channel(GROUP_MAX);
    thread::spawn(move || append(file, jobs));
    let router = Router::new().route("/hooks/events", post(take)).with_state(queue);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("listening http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}

fn append(mut file: File, mut jobs: mpsc::Receiver<Job>) -> io::Result<()> {
    let (mut group, mut batch) = (Vec::new(), Vec::new());
    while jobs.blocking_recv_many(&mut group, GROUP_MAX) > 0 {
        batch.clear();
        for (body, _) in &group {
            batch.extend_from_slice(body);
        }
        file.write_all(&batch)?;
        file.sync_data()?;
        for (_, answer) in group.drain(..) {
            answer.send(()).unwrap_or_default();
        }
    }
    Ok(())
}

async fn take(State(queue): State<mpsc::Sender<Job>>, body: Bytes) -> StatusCode {
    let (answer, durable) = oneshot::channel();
    if queue.send((body, answer)).await.is_err() || durable.await.is_err() {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    StatusCode::OK
}

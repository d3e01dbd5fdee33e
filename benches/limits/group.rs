//! The limit of a journal: concurrent writers append records to one file, and one fdatasync answers every waiting
//! writer.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{io, thread};

use tokio::sync::{mpsc, oneshot};

use crate::connection::Failed;

/// Bytes of a record.
const RECORD_BYTES: usize = 512;

/// Appends `count` records, `writers` at a time; returns the time that it took.
pub(crate) async fn append_in_groups(
    path: &Path,
    count: usize,
    writers: usize,
) -> Result<Duration, Failed> {
    let mut file = File::create(path)?;
    let (queue, mut waiting) = mpsc::channel::<oneshot::Sender<()>>(writers.max(1));
    let disk = thread::spawn(move || -> io::Result<()> {
        let record = [b'x'; RECORD_BYTES];
        let (mut group, mut batch) = (Vec::new(), Vec::new());
        while waiting.blocking_recv_many(&mut group, writers) > 0 {
            batch.clear();
            for _ in &group {
                batch.extend_from_slice(&record);
            }
            file.write_all(&batch)?;
            file.sync_data()?;
            for answer in group.drain(..) {
                // Every writer waits for its answer.
                answer.send(()).unwrap_or_default();
            }
        }
        Ok(())
    });
    let started = Instant::now();
    let each = count.checked_div(writers).unwrap_or(0);
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..writers {
        let queue = queue.clone();
        running.spawn(async move {
            for _ in 0..each {
                let (answer, durable) = oneshot::channel();
                queue.send(answer).await.map_err(|_| "the disk's thread ended")?;
                durable.await.map_err(|_| "a record was not written")?;
            }
            Ok::<(), Failed>(())
        });
    }
    drop(queue);
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    let time = started.elapsed();
    disk.join().map_err(|_| "the disk's thread panicked")??;
    Ok(time)
}

//! Threads with enough stack for scripts: a few for all scripts, and only a part of them for one script.
//! They persist: a further thread is started only while all existing ones have work.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use parking_lot::{Condvar, Mutex};
use tokio::sync::{OwnedMutexGuard, Semaphore, oneshot};

use crate::scripting::language::limits::STACK_BYTES;

/// Largest number of simultaneous runs.
const WORKERS: usize = 8;
/// Most simultaneous runs of one script, whatever it asks for: a slow one leaves room for others.
const WORKERS_EACH: usize = 3;

pub(crate) struct ScriptPool {
    threads: ThreadPool,
    all: Semaphore,
    each: Mutex<BTreeMap<String, Arc<Semaphore>>>,
    turns: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl Default for ScriptPool {
    fn default() -> Self {
        Self {
            threads: ThreadPool::new(WORKERS),
            all: Semaphore::new(WORKERS),
            each: Mutex::default(),
            turns: Mutex::default(),
        }
    }
}

impl ScriptPool {
    /// Runs work of a script on a thread with enough stack, once one is free. `None`: it panicked,
    /// or no thread can be started.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        script: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let made = || Arc::new(Semaphore::new(WORKERS_EACH));
        let own = self.each.lock().entry(script.to_owned()).or_insert_with(made).clone();
        let _own = own.acquire().await.ok()?;
        let _all = self.all.acquire().await.ok()?;
        self.threads.run(work).await
    }

    /// Waits until no other merchant's events use this script: the values it keeps are on disk.
    pub(crate) async fn lock_script(&self, script: &str) -> OwnedMutexGuard<()> {
        let turn = Arc::clone(self.turns.lock().entry(script.to_owned()).or_default());
        turn.lock_owned().await
    }
}

type PoolTask = Box<dyn FnOnce() + Send>;

/// A pool of threads; they end with this value, once their work is done.
pub(crate) struct ThreadPool {
    desk: Arc<PoolQueue>,
    most: usize,
}

#[derive(Default)]
struct PoolQueue {
    state: Mutex<PoolState>,
    news: Condvar,
}

#[derive(Default)]
struct PoolState {
    waiting: VecDeque<PoolTask>,
    /// Threads that wait for work.
    idle: usize,
    all: usize,
    ends: bool,
}

impl ThreadPool {
    /// Builds a pool with this limit; starts no thread yet.
    pub(crate) fn new(most: usize) -> Self {
        Self { desk: Arc::default(), most }
    }

    /// Runs work on a free thread. `None`: it panicked, or no thread can be started.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, done) = oneshot::channel();
        self.submit(Box::new(move || drop(answer.send(work()))));
        done.await.ok()
    }

    fn submit(&self, job: PoolTask) {
        let mut state = self.desk.state.lock();
        state.waiting.push_back(job);
        if state.idle >= state.waiting.len() || state.all >= self.most {
            self.desk.news.notify_one();
            return;
        }
        state.all = state.all.saturating_add(1);
        drop(state);
        let desk = self.desk.clone();
        let thread = thread::Builder::new().stack_size(STACK_BYTES).name("hooks".to_owned());
        if thread.spawn(move || desk.serve()).is_err() {
            let mut state = self.desk.state.lock();
            state.all = state.all.saturating_sub(1);
            if state.all == 0 {
                // Without any thread all waiting jobs are dropped.
                state.waiting.clear();
            }
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.desk.state.lock().ends = true;
        self.desk.news.notify_all();
    }
}

impl PoolQueue {
    /// Loop of one thread: runs jobs until the pool ends. A panic affects no other job.
    fn serve(&self) {
        while let Some(job) = self.next() {
            drop(catch_unwind(AssertUnwindSafe(job)));
        }
    }

    fn next(&self) -> Option<PoolTask> {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                return Some(job);
            }
            if state.ends {
                return None;
            }
            state.idle = state.idle.saturating_add(1);
            self.news.wait(&mut state);
            state.idle = state.idle.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::ThreadId;

    use super::*;

    #[tokio::test]
    async fn a_script_that_takes_long_leaves_room_for_others() {
        let pool = Arc::new(ScriptPool::default());
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let slow: Vec<_> = (0..WORKERS)
            .map(|_| {
                let (pool, held) = (pool.clone(), held.clone());
                let wait = move || held.lock().recv().is_ok();
                tokio::spawn(async move { pool.run("slow", wait).await })
            })
            .collect();
        for number in 0..WORKERS {
            assert_eq!(pool.run("quick", move || number).await, Some(number));
        }
        for _ in 0..WORKERS {
            release.send(()).unwrap();
        }
        for one in slow {
            assert_eq!(one.await.unwrap(), Some(true));
        }
    }

    fn me() -> ThreadId {
        thread::current().id()
    }

    #[tokio::test]
    async fn work_that_panics_takes_nothing_along() {
        let threads = ThreadPool::new(1);
        let before = threads.run(me).await;
        assert_eq!(threads.run(|| -> u8 { panic!("a bug") }).await, None);
        assert_eq!(threads.run(|| 7).await, Some(7));
        assert_eq!(threads.run(me).await, before, "the same thread goes on");
    }

    /// Waits until this number of threads is idle: a thread that has answered may not be idle yet.
    fn back(threads: &ThreadPool, idle: usize) {
        while threads.desk.state.lock().idle < idle {
            thread::yield_now();
        }
    }

    #[tokio::test]
    async fn more_threads_are_begun_only_where_all_are_busy() {
        let threads = ThreadPool::new(2);
        let first = threads.run(me).await.unwrap();
        back(&threads, 1);
        assert_eq!(threads.run(me).await, Some(first), "it was idle");
        back(&threads, 1);
        let (told, held) = mpsc::channel::<()>();
        let busy = threads.run(move || (me(), held.recv().is_ok()));
        let other = async {
            let other = threads.run(me).await.unwrap();
            back(&threads, 1);
            let again = threads.run(me).await.unwrap();
            told.send(()).unwrap();
            (other, again)
        };
        let ((busy, held), (other, again)) = tokio::join!(async { busy.await.unwrap() }, other);
        assert!(held && busy != other, "one is busy, and another one was begun");
        assert_eq!(other, again);
        assert!([busy, other].contains(&first));
    }

    #[tokio::test]
    async fn threads_end_with_their_owner() {
        let threads = ThreadPool::new(1);
        assert_eq!(threads.run(|| 1).await, Some(1));
        let desk = Arc::downgrade(&threads.desk);
        drop(threads);
        while desk.strong_count() > 0 {
            thread::yield_now();
        }
    }
}

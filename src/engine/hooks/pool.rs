//! Threads for scripts: a few for all scripts, and only a part of them for one script.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedMutexGuard, Semaphore};

use super::threads::ThreadPool;

/// Largest number of simultaneous runs.
const WORKERS: usize = 8;
/// Largest number of simultaneous runs of one script, whatever it asks for: a slow one leaves room
/// for others.
const WORKERS_EACH: usize = 3;

/// The threads and their limits.
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
        let own = self.script_limit(script);
        let _own = own.acquire().await.ok()?;
        let _all = self.all.acquire().await.ok()?;
        self.threads.run(work).await
    }

    /// Waits until no other merchant's events use this script, so that the values which it keeps
    /// between runs are on disk.
    pub(crate) async fn lock_script(&self, script: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(turns.entry(script.to_owned()).or_default())
        };
        turn.lock_owned().await
    }

    fn script_limit(&self, script: &str) -> Arc<Semaphore> {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || Arc::new(Semaphore::new(WORKERS_EACH));
        each.entry(script.to_owned()).or_insert_with(made).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_script_that_takes_long_leaves_room_for_others() {
        let pool = Arc::new(ScriptPool::default());
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let slow: Vec<_> = (0..WORKERS)
            .map(|_| {
                let (pool, held) = (pool.clone(), held.clone());
                let wait = move || held.lock().unwrap().recv().is_ok();
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
}

//! The daemon of a flood, killed at random moments and started again.

use std::net::SocketAddr;
use std::process::Child;
use std::time::{Duration, Instant};

use http::Method;

use crate::connection::Failed;
use crate::control;
use crate::random::Random;
use crate::stand::Stand;

/// The first and the last moment of a kill after a daemon's start, in milliseconds.
const MOMENTS_MS: [u64; 2] = [300, 2_500];
const GLANCE: Duration = Duration::from_millis(20);
const READY_MAX: Duration = Duration::from_mins(2);

/// A daemon, and the number of its kills.
#[derive(Debug)]
pub(crate) struct Killer<'a> {
    stand: &'a Stand,
    listen: SocketAddr,
    random: Random,
    child: Child,
    left: usize,
    /// Daemons that were killed.
    pub(crate) killed: usize,
    /// Daemons that had ended by themselves.
    pub(crate) ended: usize,
}

impl Drop for Killer<'_> {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

impl<'a> Killer<'a> {
    /// Starts a daemon that is killed `kills` times.
    pub(crate) async fn start(
        stand: &'a Stand,
        listen: SocketAddr,
        kills: usize,
        seed: u64,
    ) -> Result<Self, Failed> {
        let (child, random) = (stand.command(&["run"])?.spawn()?, Random::new(seed));
        let mut killer = Self { stand, listen, random, child, left: kills, killed: 0, ended: 0 };
        killer.ready().await?;
        Ok(killer)
    }

    /// Waits until the daemon is ready.
    pub(crate) async fn ready(&mut self) -> Result<(), Failed> {
        let started = Instant::now();
        while control::ask(self.listen, Method::GET, "/readyz", None).await.is_err() {
            if self.child.try_wait()?.is_some() || started.elapsed() > READY_MAX {
                return Err("the daemon does not become ready".into());
            }
            tokio::time::sleep(GLANCE).await;
        }
        Ok(())
    }

    /// Makes the remaining kills, each after a random time.
    pub(crate) async fn kill_all(&mut self) -> Result<(), Failed> {
        let [first, last] = MOMENTS_MS;
        while self.left > 0 {
            let wait = self.random.below(last.saturating_sub(first)).saturating_add(first);
            tokio::time::sleep(Duration::from_millis(wait)).await;
            if self.child.try_wait()?.is_some() {
                self.ended = self.ended.saturating_add(1);
            } else {
                self.child.kill()?;
                self.child.wait()?;
                self.killed = self.killed.saturating_add(1);
            }
            self.left = self.left.saturating_sub(1);
            self.child = self.stand.command(&["run"])?.spawn()?;
        }
        self.ready().await
    }
}

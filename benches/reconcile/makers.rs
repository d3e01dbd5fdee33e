//! Makers of the same contacts: the program, a bare loop, and two Python scripts as a partner would write them.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::bare_loop::make_contacts;
use crate::connection::Failed;
use crate::first_apply::{Cost, apply, token};
use crate::meter::Threads;
use crate::stand::Stand;
use crate::{Bench, meter};

/// Calls under way at once, of all makers but `Requests`.
const AT_ONCE: usize = 16;
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/reconcile.py");

/// A program that makes contacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    /// The limit: the same requests, without start, files or state. Its CPU and time exclude the bench's start.
    BareLoop,
    /// `reckon apply`, every operation in the journal.
    Reckon,
    /// The script with `httpx`, 16 calls at once.
    Httpx,
    /// The script with `requests`, one call at a time.
    Requests,
}

impl Maker {
    /// Returns the name of a peer.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BareLoop => "the bare loop",
            Self::Reckon => "reckon",
            Self::Httpx => "httpx, 16 at once",
            Self::Requests => "requests, one at a time",
        }
    }

    /// Returns the module of the script.
    fn module(self) -> &'static str {
        if self == Self::Httpx { "httpx" } else { "requests" }
    }

    /// Returns true if the peers' Python has the modules of the script.
    pub(crate) fn is_here(self, bench: &Bench) -> bool {
        let Some(python) = &bench.peers else { return false };
        let imports = format!("import yaml, {}", self.module());
        let mut command = Command::new(python);
        let status = command.args(["-c", &imports]).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    /// Makes the contacts of a tree.
    pub(crate) async fn make(
        self,
        bench: &Bench,
        stand: &Stand,
        documents: usize,
    ) -> Result<Cost, Failed> {
        match self {
            Self::BareLoop => bare_loop(stand, documents).await,
            Self::Reckon => apply(stand),
            Self::Httpx | Self::Requests => {
                let python = bench.peers.clone().ok_or("no Python with peers")?;
                self.script(python, stand, documents).await
            }
        }
    }

    async fn script(
        self,
        python: PathBuf,
        stand: &Stand,
        documents: usize,
    ) -> Result<Cost, Failed> {
        let mut command = Command::new(python);
        command.args([SCRIPT, self.module()]).arg(stand.folder.join("specs"));
        command.arg(format!("http://{}/contacts", stand.sandbox.address));
        command.arg(stand.folder.join(format!("{}.json", self.module())));
        command.env("RECONCILE_TOKEN", token(stand, self.module()).await?).stdin(Stdio::null());
        let (cpu, started) = (meter::children()?, Instant::now());
        let output = command.stderr(Stdio::inherit()).output()?;
        let wall = started.elapsed();
        let made = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || made != documents.to_string() {
            return Err(format!("{} made {made:?} contacts: {}", self.name(), output.status).into());
        }
        Ok(Cost { wall, cpu: meter::children()?.saturating_sub(cpu) })
    }
}

async fn bare_loop(stand: &Stand, documents: usize) -> Result<Cost, Failed> {
    let (url, token) =
        (format!("http://{}", stand.sandbox.address), token(stand, "bare-loop").await?);
    let mut threads = Threads::default();
    let cpu = threads.cpu("self")?;
    let wall = make_contacts(&url, &token, documents, AT_ONCE).await?;
    Ok(Cost { wall, cpu: threads.cpu("self")?.saturating_sub(cpu) })
}

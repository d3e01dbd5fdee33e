//! A settled tree of documents on a sandbox: made once for each size, measured by many goals.

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use crate::connection::Failed;
use crate::daemon::free_address;
use crate::figures::ms;
use crate::first_apply::{Cost, apply};
use crate::stand::Stand;
use crate::tree::{Document, Kinds};
use crate::{Bench, r4, tree};

/// Timeout and grace of calls that never fail.
const PATIENT: [&str; 2] = ["30s", "30s"];

/// A settled tree of documents of all kinds.
#[derive(Debug)]
pub(crate) struct Settled {
    /// The sandbox and the folders.
    pub(crate) stand: Stand,
    /// Number of documents. The documents themselves are on disk alone, so that many take no memory here.
    pub(crate) documents: usize,
    /// The first documents that can be edited, with their places in the tree.
    pub(crate) editable: Vec<(usize, Document)>,
    /// The address of a daemon over the tree.
    pub(crate) listen: SocketAddr,
    /// The cost of the first apply.
    pub(crate) first_apply: Cost,
}

impl Settled {
    /// Makes the tree and applies it. Trees of the same size have different numbers.
    pub(crate) async fn make(
        bench: &Bench,
        documents: usize,
        number: usize,
    ) -> Result<Self, Failed> {
        let tree = tree::documents(Kinds::Mixed, documents, bench.seed)?;
        let merchants = tree.iter().filter(|document| document.kind == "Merchant").count();
        let folder = bench.folder(&format!("settled-{documents}-{number}"));
        let stand = Stand::start(&bench.binary, &folder, "public", merchants).await?;
        let listen = free_address()?;
        stand.settle_config(stand.sandbox.address, &listen.to_string(), PATIENT)?;
        stand.write(&tree, |_, _| true)?;
        let editable = r4::editable(tree);
        bench.progress.say(&format!("{documents} documents: first apply"));
        let first_apply = apply(&stand)?;
        bench.progress.say(&format!("{documents} documents: settled in {}", ms(first_apply.wall)));
        Ok(Self { stand, documents, editable, listen, first_apply })
    }

    /// Points the configuration at another address of the service; `None` is the sandbox itself.
    pub(crate) fn behind(&self, service: Option<SocketAddr>) -> Result<(), Failed> {
        let service = service.unwrap_or(self.stand.sandbox.address);
        self.stand.settle_config(service, &self.listen.to_string(), PATIENT)
    }

    /// Runs a plan and returns its time.
    ///
    /// # Errors
    ///
    /// The plan would change something.
    pub(crate) fn plan(&self, more: &[&str]) -> Result<Duration, Failed> {
        let mut command = self.stand.command(&["plan", "--detailed-exitcode"])?;
        let started = std::time::Instant::now();
        let status = command.args(more).status()?;
        let time = started.elapsed();
        match status.code() {
            Some(0) => Ok(time),
            code => Err(format!("a plan over a settled tree ended with {code:?}").into()),
        }
    }

    /// Ends the sandbox and deletes the files.
    pub(crate) fn clear(self) -> Result<(), Failed> {
        let folder = self.stand.folder.clone();
        drop(self);
        Ok(fs::remove_dir_all(folder)?)
    }
}

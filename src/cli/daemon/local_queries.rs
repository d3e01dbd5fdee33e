//! Answers of a daemon that its engine cannot give, for commands of another machine
//! (`crate::control::protocol`).
//!
//! An engine of its own, which never runs, plans a tree that was sent: over the same facts, under
//! the same limits, with the same key. So its checksum is the one that the daemon's plan has once
//! the daemon's tree is this one.

use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;

use crate::base::folder_location::FolderLocation;
use crate::cli::commands::{event_detail, hook_trials, links, why};
use crate::cli::context::git::tracked::TrackedSpecs;
use crate::cli::context::git::tree::{self, TempTree};
use crate::cli::context::open::Context;
use crate::cli::context::{machine, sent_tree};
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::control::handle::LocalQueries;
use crate::control::protocol::{ControlError, Response};
use crate::control::protocol::{LocalQuery, SentFile, SentTree, TreeContents, TreeDifferences};
use crate::engine::core::coordinator::Engine;
use crate::engine::handles::shared::{EngineParts, EngineShared};
use crate::engine::protocol::diagnostics::LocalReply;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::kinds::register::KINDS;
use crate::kinds::schema::kind::{AttachmentFiles, FileProblem, Stamp};
use crate::model::manifest::AttachedFile;
use crate::spec::document::ReadContext;
use crate::spec::tree::attachments::AttachmentFolder;
use crate::spec::tree::loader::Loader;
use crate::spec::tree::rendered::{OUTPUT, RenderedText, RenderedTree};
use crate::spec::tree::roots::SpecRoots;
use crate::store::audit::{AuditRequest, AuditTrail};

/// Sent trees that are planned or wait for it, at most: each is in memory.
const WAITING_MAX: usize = 4;

/// The daemon's configuration and state, for read-only queries.
#[derive(Debug)]
pub(crate) struct DaemonQueries {
    setup: Arc<Context>,
    shared: Arc<EngineShared>,
    /// Serialises the plans of sent trees: each takes memory.
    planning: Mutex<()>,
    waiting: PlanQueue,
}

/// Places of sent trees that are planned or wait; more are refused.
#[derive(Debug, Default)]
struct PlanQueue(Arc<()>);

impl PlanQueue {
    /// Takes a place, which is free again once it is dropped.
    fn take_place(&self) -> CommandResult<Arc<()>> {
        let place = self.0.clone();
        if Arc::strong_count(&place) > WAITING_MAX.saturating_add(1) {
            let what = "the daemon is planning other trees";
            return Err(CommandFailure::environment("reckon::server::busy", what)
                .help("try again in a moment"));
        }
        Ok(place)
    }
}

impl DaemonQueries {
    pub(crate) fn new(setup: Arc<Context>, shared: Arc<EngineShared>) -> Self {
        Self { setup, shared, planning: Mutex::default(), waiting: PlanQueue::default() }
    }

    fn plan_of_sent_tree(&self, sent: SentTree, question: EngineQuery) -> CommandResult<Reply> {
        if !matches!(question, EngineQuery::Plan | EngineQuery::Scoped(_) | EngineQuery::Save(_)) {
            let what = "a sent tree can only be planned";
            return Err(CommandFailure::input("reckon::server::question", what));
        }
        let _waiting = self.waiting.take_place()?;
        let _one = self.planning.lock();
        let SentTree { prefix, commit, files, attached } = sent;
        let tree = ReceivedTree::of(files)?;
        let attached =
            attached.map(|files| -> Arc<dyn AttachmentFiles> { Arc::new(SentFiles(files)) });
        let mut check = self.setup.check.clone();
        check.files = attached.or(check.files);
        let mut loader = Loader::new(tree.roots(), &prefix, ReadContext { kinds: KINDS, check });
        loader.load_all();
        let specs = TrackedSpecs::at(loader, commit);
        let engine = Engine::new(self.shared_copy()?, Box::new(specs))?;
        Ok(engine.answer(question)?)
    }

    /// Returns the daemon's handles for an engine of its own, which counts for itself.
    fn shared_copy(&self) -> CommandResult<Arc<EngineShared>> {
        let shared = &self.shared;
        Ok(EngineShared::new(EngineParts {
            client: shared.client.clone(),
            writer: shared.writer.clone(),
            facts: shared.facts.clone(),
            vault: shared.vault.clone(),
            clock: shared.clock.clone(),
            secrets: shared.secrets.clone(),
            partner: shared.partner.clone(),
            settings: shared.settings.clone(),
            rng: machine::rng()?.into(),
        }))
    }

    fn audit(&self, request: &AuditRequest) -> CommandResult<AuditTrail> {
        let (facts, head) = (&self.shared.facts, self.shared.writer.head());
        let sequences = request.sequences(facts, head.sequence)?;
        let found = why::open_journals(&self.setup)?.audit(request, &sequences);
        found.map_err(why::journal_failure)
    }

    fn urls(&self) -> CommandResult<Reply> {
        json_reply(links::addresses(&self.setup, &self.shared.facts.rotations()?)?)
    }

    fn compare(&self, theirs: &TreeContents) -> CommandResult<TreeDifferences> {
        let commit = self.setup.commit();
        let mut mine = match sent_tree::local_digests(&self.setup.specs.roots()) {
            Ok(mine) => mine,
            Err(trouble) => {
                let trouble = Some(trouble.message);
                return Ok(TreeDifferences { commit, trouble, ..TreeDifferences::default() });
            }
        };
        if let Some(folder) = self.setup.attachments_path()? {
            let folder =
                AttachmentFolder::new(FolderLocation::from_config(&self.setup.root, &folder));
            let known = theirs.attached.keys();
            let known =
                known.filter_map(|path| Some((path.clone(), folder.inspect(path).ok()?.sha256)));
            mine.attached = known.collect();
        }
        Ok(TreeDifferences { commit, ..mine.differences(theirs) })
    }
}

impl LocalQueries for DaemonQueries {
    fn local_query(&self, look: LocalQuery) -> Response {
        let reply = match look {
            LocalQuery::PlanOf(sent, question) => self.plan_of_sent_tree(sent, question),
            LocalQuery::Compare(theirs) => self.compare(&theirs).and_then(json_reply),
            LocalQuery::Why { what, verify } => {
                why::of_daemon(&self.setup, &self.shared, &what, verify).and_then(json_reply)
            }
            LocalQuery::Event(id) => {
                event_detail::of_state(&self.setup, &self.shared, &id).and_then(json_reply)
            }
            LocalQuery::Audit(request) => self.audit(&request).and_then(json_reply),
            LocalQuery::Past(since) => {
                hook_trials::past_events_of_daemon(&self.setup, &self.shared, since)
                    .and_then(json_reply)
            }
            LocalQuery::Urls => self.urls(),
            LocalQuery::Intake { key, terms, days } => {
                let link = links::make_link(&self.setup, &key, terms, days);
                link.and_then(|link| json_reply(link.expose()))
            }
        };
        reply.map_err(|why| ControlError::new(why.code, why.message, why.help.unwrap_or_default()))
    }
}

fn json_reply(value: impl Serialize) -> CommandResult<Reply> {
    Ok(Reply::Local(LocalReply(serde_json::to_value(value).map_err(CommandFailure::bug)?)))
}

/// The tree of a runner: its files in a folder of their own, or the output of its program.
enum ReceivedTree {
    Files(TempTree),
    Output(Arc<RenderedTree>),
}

impl ReceivedTree {
    fn of(mut files: BTreeMap<String, String>) -> CommandResult<Self> {
        let only = files.len() == 1;
        match files.remove(OUTPUT).filter(|_| only) {
            Some(text) => {
                let output = Box::new(RenderedText(text));
                Ok(Self::Output(Arc::new(RenderedTree::new(output))))
            }
            None => write_tree(&files).map(Self::Files),
        }
    }

    fn roots(&self) -> SpecRoots {
        match self {
            Self::Files(folder) => SpecRoots::from(&folder.specs),
            Self::Output(output) => {
                SpecRoots::from(Path::new("")).rendered_by(Some(output.clone()))
            }
        }
    }
}

fn write_tree(files: &BTreeMap<String, String>) -> CommandResult<TempTree> {
    let folder = TempTree::make()?;
    for (path, text) in files {
        let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || path.is_empty() {
            let what = format!("invalid path in the sent tree: {path:?}");
            return Err(CommandFailure::input("reckon::server::path", what));
        }
        tree::write(&folder.specs.join(path), text.as_bytes()).map_err(|error| {
            let what = format!("store the sent tree: {error}");
            CommandFailure::environment("reckon::server::keep", what)
        })?;
    }
    Ok(folder)
}

/// Files of another machine, with the sizes and digests that it sent.
#[derive(Debug)]
struct SentFiles(BTreeMap<String, SentFile>);

impl AttachmentFiles for SentFiles {
    fn inspect(&self, path: &str) -> Result<AttachedFile, FileProblem> {
        let file = self.0.get(path).ok_or_else(|| FileProblem {
            code: "reckon::file::unreadable",
            message: format!(
                "the file {path} is missing, or not permitted, on the machine that asked for the plan"
            ),
            help: "run `reckon validate` on that machine".to_owned(),
        })?;
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        Ok(AttachedFile { path: path.to_owned(), name, size: file.size, sha256: file.sha256 })
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        self.0.get(path).map(|file| Stamp { size: file.size, mtime_ns: 0, inode: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_four_sent_trees_are_planned_or_wait_and_a_finished_one_makes_room() {
        let queue = PlanQueue::default();
        let mut places: Vec<Arc<()>> =
            (0..4).map(|_| queue.take_place().expect("a free place")).collect();
        let refused = queue.take_place().unwrap_err();
        assert_eq!(refused.code, "reckon::server::busy");
        places.pop();
        places.push(queue.take_place().expect("one has ended"));
        assert!(queue.take_place().is_err());
    }
}

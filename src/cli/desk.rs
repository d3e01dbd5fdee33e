//! Answers of a daemon that its engine cannot give, for commands of another machine
//! (`crate::control::look`).
//!
//! An engine of its own, which never runs, plans a tree that was sent: over the same facts, under
//! the same limits, with the same key. So its checksum is the one that the daemon's plan has once
//! the daemon's tree is this one.

use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::exit::Failure;
use super::git_tree::{self, Folder};
use super::server::tree;
use super::setup::Setup;
use super::tracked::Tracked;
use super::{host, intake, past, urls, why};
use crate::base::folder::Place;
use crate::control::look::{self, Contents, Differences, Look, SentFile, SentTree};
use crate::control::{ControlError, Response};
use crate::engine::{Engine, Parts, Question, Reply, Shared, Told};
use crate::kinds::files::{FileTrouble, Files, Stamp};
use crate::kinds::register::KINDS;
use crate::model::manifest::AttachedFile;
use crate::spec::document::ReadCx;
use crate::spec::loader::Loader;
use crate::spec::source::folder::AttachmentFolder;

/// The daemon's configuration and state, for read-only queries.
#[derive(Debug)]
pub(super) struct Desk {
    setup: Arc<Setup>,
    shared: Arc<Shared>,
    /// Serialises the plans of sent trees: each takes memory.
    planning: Mutex<()>,
}

impl Desk {
    pub(super) fn new(setup: Arc<Setup>, shared: Arc<Shared>) -> Self {
        Self { setup, shared, planning: Mutex::default() }
    }

    /// Returns the engine's answer for a sent tree.
    fn of(&self, sent: SentTree, question: Question) -> Result<Reply, Failure> {
        if !matches!(question, Question::Plan | Question::Scoped(_) | Question::Save(_)) {
            return Err(Failure::input(
                "reckon::server::question",
                "only a plan is made of a tree",
            ));
        }
        let _one = self.planning.lock().unwrap_or_else(PoisonError::into_inner);
        let SentTree { prefix, commit, files, attached } = sent;
        let folder = written(&files)?;
        let attached = attached.map(|files| -> Arc<dyn Files> { Arc::new(SentFiles(files)) });
        let mut check = self.setup.check.clone();
        check.files = attached.or(check.files);
        let mut loader = Loader::new(folder.specs(), &prefix, ReadCx { kinds: KINDS, check });
        loader.load_all();
        let specs = Tracked::at(loader, commit);
        let engine = Engine::new(self.beside()?, Box::new(specs))?;
        Ok(engine.answer(question)?)
    }

    /// Returns the daemon's handles for an engine of its own, which counts for itself.
    fn beside(&self) -> Result<Arc<Shared>, Failure> {
        let shared = &self.shared;
        Ok(Shared::new(Parts {
            client: shared.client.clone(),
            writer: shared.writer.clone(),
            facts: shared.facts.clone(),
            vault: shared.vault.clone(),
            clock: shared.clock.clone(),
            secrets: shared.secrets.clone(),
            partner: shared.partner.clone(),
            settings: shared.settings.clone(),
            rng: host::rng()?,
        }))
    }

    /// Returns the webhook addresses and the applicants' links.
    fn urls(&self) -> Result<Reply, Failure> {
        told(urls::addresses(&self.setup, &self.shared.facts.rotations()?)?)
    }

    /// Compares the daemon's tree with another one.
    fn compared(&self, theirs: &Contents) -> Result<Differences, Failure> {
        let commit = self.setup.commit();
        let mut mine = match tree::held(&self.setup.place()) {
            Ok(mine) => mine,
            Err(trouble) => {
                let trouble = Some(trouble.message);
                return Ok(Differences { commit, trouble, ..Differences::default() });
            }
        };
        if let Some(folder) = self.setup.attachments_path()? {
            let folder = AttachmentFolder::new(Place::configured(&self.setup.root, &folder));
            let known = theirs.attached.keys();
            let known =
                known.filter_map(|path| Some((path.clone(), folder.look(path).ok()?.sha256)));
            mine.attached = known.collect();
        }
        Ok(Differences { commit, ..mine.differences(theirs) })
    }
}

impl look::Desk for Desk {
    fn look(&self, look: Look) -> Response {
        let reply = match look {
            Look::Of(sent, question) => self.of(sent, question),
            Look::Compare(theirs) => self.compared(&theirs).and_then(told),
            Look::Why { what, verify } => {
                why::of_daemon(&self.setup, &self.shared, &what, verify).and_then(told)
            }
            Look::Past(since) => past::of_daemon(&self.setup, &self.shared, since).and_then(told),
            Look::Urls => self.urls(),
            Look::Intake { key, terms, days } => {
                let link = intake::made(&self.setup, &key, terms, days);
                link.and_then(|link| told(link.expose()))
            }
        };
        reply.map_err(|why| ControlError::new(why.code, why.message, why.help.unwrap_or_default()))
    }
}

fn told(value: impl Serialize) -> Result<Reply, Failure> {
    Ok(Reply::Told(Told(serde_json::to_value(value).map_err(Failure::bug)?)))
}

/// Writes a sent tree into a folder of its own.
///
/// # Errors
/// A path leads out of the folder.
fn written(files: &BTreeMap<String, String>) -> Result<Folder, Failure> {
    let folder = Folder::make()?;
    for (path, text) in files {
        let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || path.is_empty() {
            let what = format!("{path:?} is no path below a folder of specs");
            return Err(Failure::input("reckon::server::path", what));
        }
        git_tree::write(&folder.specs().join(path), text.as_bytes()).map_err(|error| {
            let what = format!("keep a tree that was sent: {error}");
            Failure::environment("reckon::server::keep", what)
        })?;
    }
    Ok(folder)
}

/// Files of another machine, with the sizes and digests that it sent.
#[derive(Debug)]
struct SentFiles(BTreeMap<String, SentFile>);

impl Files for SentFiles {
    fn look(&self, path: &str) -> Result<AttachedFile, FileTrouble> {
        let file = self.0.get(path).ok_or_else(|| FileTrouble {
            code: "reckon::file::unreadable",
            message: format!(
                "the file {path} is not there, or may not be used, where the plan was asked for"
            ),
            help: "`reckon validate` says more there".to_owned(),
        })?;
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        Ok(AttachedFile { path: path.to_owned(), name, size: file.size, sha256: file.sha256 })
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        self.0.get(path).map(|file| Stamp { size: file.size, mtime_ns: 0, inode: 0 })
    }
}

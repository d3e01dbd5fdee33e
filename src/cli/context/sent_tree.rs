//! Sends the tree of this machine to a daemon elsewhere, for its plan there.
//!
//! Documents are sent as they are, and of a rendered tree the output; their secrets stay sources and
//! are not read. Of files that documents attach only size and digest are sent.

use std::collections::BTreeMap;

use crate::base::folder_location::FolderLocation;
use crate::base::hash::sha256;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::control::protocol::{REQUEST_BYTES_MAX, SentFile, SentTree, TreeContents};
use crate::kinds::schema::kind::AttachmentFiles;
use crate::spec::tree::attachments::AttachmentFolder;
use crate::spec::tree::files::Listing;
use crate::spec::tree::roots::SpecRoots;

/// Reads the tree.
///
/// # Errors
/// The tree cannot be read completely (a missing file would look like a removal), or is too large.
pub(crate) fn read_tree(setup: &Context) -> CommandResult<SentTree> {
    let mut files = BTreeMap::new();
    let mut bytes = 0_usize;
    for (path, content) in contents(&setup.specs.roots())? {
        bytes = bytes.saturating_add(content.len());
        let text = String::from_utf8(content).map_err(|_| {
            let what = format!("{path} is not valid UTF-8");
            CommandFailure::input("reckon::server::encoding", what)
                .help("run `reckon validate` to see the place")
        })?;
        files.insert(path, text);
    }
    if bytes > REQUEST_BYTES_MAX {
        let what = format!("the tree has more than {} MiB", REQUEST_BYTES_MAX >> 20);
        return Err(CommandFailure::input("reckon::server::too_large", what)
            .help("plan it on the daemon's machine, or split it"));
    }
    let prefix = setup.specs.prefix("");
    Ok(SentTree { prefix, commit: setup.commit(), files, attached: attached_files(setup)? })
}

fn contents(roots: &SpecRoots) -> CommandResult<Vec<(String, Vec<u8>)>> {
    let Listing { files, problems: troubles } = roots.list("");
    if let Some(trouble) = troubles.into_values().next() {
        let what = format!("{}: {}", roots.disk_path(&trouble.path).display(), trouble.message);
        return Err(CommandFailure::input(trouble.code, what).help(trouble.help));
    }
    let opened = roots.open();
    let content = |path: String| {
        let content = opened.read(&path).map_err(|error| {
            let what = format!("read {}: {error}", roots.disk_path(&path).display());
            CommandFailure::input("reckon::server::unreadable", what)
        })?;
        Ok((path, content))
    };
    files.into_keys().map(content).collect()
}

/// Returns size and digest of the files that documents name; `None` where no folder is open.
fn attached_files(setup: &Context) -> CommandResult<Option<BTreeMap<String, SentFile>>> {
    let Some(folder) = setup.attachments_path()? else { return Ok(None) };
    let folder = AttachmentFolder::new(FolderLocation::from_config(&setup.root, &folder));
    let loader = setup.loaded_tree();
    let known = loader.attached_files().into_iter().filter_map(|(path, _)| {
        let found = folder.inspect(&path).ok()?;
        Some((path, SentFile { size: found.size, sha256: found.sha256 }))
    });
    Ok(Some(known.collect()))
}

pub(crate) fn digests(sent: &SentTree) -> TreeContents {
    let files = sent.files.iter();
    let attached = sent.attached.iter().flatten();
    TreeContents {
        files: files.map(|(path, text)| (path.clone(), sha256(text.as_bytes()))).collect(),
        attached: attached.map(|(path, file)| (path.clone(), file.sha256)).collect(),
    }
}

pub(crate) fn local_digests(roots: &SpecRoots) -> CommandResult<TreeContents> {
    let files = contents(roots)?.into_iter();
    let files = files.map(|(path, content)| (path, sha256(&content))).collect();
    Ok(TreeContents { files, attached: BTreeMap::new() })
}

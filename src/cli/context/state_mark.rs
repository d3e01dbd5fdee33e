//! The mark of the state: its folder, and the messages about it when a state is opened.

use std::path::{Path, PathBuf};

use rand_core::Rng;

use super::machine;
use super::open::Context;
use crate::base::clock::{Clock, SystemClock};
use crate::cli::output::exit::CommandFailure;
use crate::cli::output::print::print_note;
use crate::config::setting::ProcessEnv;
use crate::store::state::open::OpenReport;
use crate::store::state::watch::{MarkOptions, RollbackDetected};

/// Returns the settings of this state's mark: its folder is the one that the configuration names,
/// else one beside the state.
pub(crate) fn mark_settings(setup: &Context) -> Result<MarkOptions, CommandFailure> {
    let named = setup.config.state_mark.as_ref();
    let named = named.map(|folder| folder.get(&ProcessEnv)).transpose()?;
    let mut fresh = [0; 16];
    machine::rng()?.fill_bytes(&mut fresh);
    Ok(MarkOptions {
        required: named.is_some(),
        folder: named.unwrap_or_else(|| default_folder(&setup.state)),
        fresh,
        at: SystemClock.now(),
        actor: machine::actor(),
    })
}

/// Returns the default folder, such as `.reckon.mark` beside `.reckon`.
fn default_folder(state: &Path) -> PathBuf {
    let absolute = std::path::absolute(state).unwrap_or_else(|_| state.to_owned());
    let mut name = absolute.file_name().unwrap_or_default().to_owned();
    name.push(".mark");
    absolute.with_file_name(name)
}

/// Prints to standard error the finding about the mark.
pub(crate) fn print_finding(found: &OpenReport) {
    if let Some(RollbackDetected { marked, head, epoch }) = &found.put_back {
        print_note(&format!(
            "warning: this state was put back: it ends at record {head}, but its mark names \
            record {marked}. Epoch {epoch} began: reckon reads every merchant again, looks for \
            each effect that may have been sent since before sending it, and holds effects that \
            cannot be looked for (`reckon store release` ends that)"
        ));
    }
    if let Some(why) = &found.unmarked {
        print_note(&format!("note: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_a_folder_beside_it() {
        assert_eq!(default_folder(Path::new("/work/.reckon")), Path::new("/work/.reckon.mark"));
        assert_eq!(default_folder(Path::new("/data/state/")), Path::new("/data/state.mark"));
    }
}

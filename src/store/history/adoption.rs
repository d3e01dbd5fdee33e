//! Entries of a history about adopted and forgotten resources, and about blocking objects.

use super::reader::{HistoryEntry, RecordRef, entry};
use crate::model::record::Record;
use crate::model::state::adoption::Adoption;

/// Returns the entry of such a record; `None` for any other record.
pub(crate) fn entry_of(stands: RecordRef, record: &Record) -> Option<HistoryEntry> {
    if let Record::Adopted(adoption) = record {
        return Some(adoption_entry(stands, adoption));
    }
    if let Record::Forgotten(one) = record {
        let id = one.remote_id.as_ref().map(ToString::to_string);
        let detail = format!("by {}; nothing was done at the service", one.actor);
        let line = entry(stands, one.at, "forgotten", Some(detail));
        return Some(HistoryEntry { remote_id: id, ..line });
    }
    if let Record::Disowned(one) = record {
        let detail = format!("by {}: {} is not ours", one.actor, one.remote_id);
        return Some(entry(stands, one.at, "disowned", Some(detail)));
    }
    if let Record::UnknownObjects(strays) = record {
        let named: Vec<String> = strays.found.iter().map(ToString::to_string).collect();
        let (what, detail) = match named.as_slice() {
            [] => ("unblocked", "no unknown object blocks it any more".to_owned()),
            _ => ("unknown marks", named.join(", ")),
        };
        return Some(entry(stands, strays.at, what, Some(detail)));
    }
    None
}

fn adoption_entry(stands: RecordRef, adoption: &Adoption) -> HistoryEntry {
    let Adoption { fact, mark: _, verified, actor, place, commit } = adoption;
    let how = if *verified { "verified" } else { "unverified" };
    let place = place.as_ref().map(|(file, line)| format!("{file}:{line}"));
    let commit = commit.as_ref().map(|commit| format!("commit {commit}"));
    let parts: Vec<String> =
        [Some(format!("by {actor}, {how}")), place, commit].into_iter().flatten().collect();
    let remote_id = fact.remote_id.as_ref().map(ToString::to_string);
    HistoryEntry { remote_id, ..entry(stands, fact.at, "taken over", Some(parts.join(", "))) }
}

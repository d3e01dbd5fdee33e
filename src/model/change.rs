//! The planned change of one resource: its action, the invoice that it replaces, the money that
//! falls due by it in a month, the limit that it exceeds, and the status of a removal or a rename.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;
use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::base::wording::count_verb;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlannedAction {
    #[serde(rename = "settled")]
    Settled,
    Create,
    Update,
    Delete,
    /// The service is read, to learn more.
    Read,
    Orphan,
    /// The step waits for another event.
    Wait,
    /// A person has to change something first.
    Blocked,
}

impl PlannedAction {
    pub fn is_change(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Delete | Self::Read)
    }
}

/// An invoice that a new one replaces. The service cannot end it: anyone with its link can pay it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, derive_more::Display)]
#[display(
    "old invoice {} stays payable; the new one is {source_id}",
    old_number.as_ref().or(old_id.as_ref()).map_or("(number unknown)", String::as_str)
)]
pub struct Replaced {
    pub source_id: String,
    pub old_number: Option<String>,
    pub old_id: Option<String>,
    /// Always true.
    pub old_stays_payable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthlyDue {
    pub month: NaiveDate,
    pub currency: Currency,
    pub mode: Mode,
    pub before: i64,
    pub after: i64,
}

/// A limit that a step exceeds. Its sentence leaves the checksum of the plan out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, derive_more::Display)]
#[display("{}", self.sentence("`reckon plan` shows the command"))]
pub struct LimitExceeded {
    pub limit: String,
    /// The allowed value, such as `5000.00 USD` or `10 deletes`.
    #[serde(rename = "allows")]
    pub allowed: String,
    #[serde(rename = "would")]
    pub resulting: String,
    pub place: String,
    pub scope: LimitScope,
    #[serde(rename = "wants")]
    pub intended: PlannedAction,
    pub approved_by: Vec<String>,
    /// Number of necessary approvers, as far as it is known.
    pub approvers: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LimitScope {
    /// One amount by itself.
    Object,
    /// A sum, with this step added.
    Sum,
    /// A sum, with all steps of the plan added: none of them is done.
    Plan,
}

impl LimitExceeded {
    /// Returns the sentence with the command that approves the plan of this checksum.
    pub fn for_plan(&self, checksum: &str) -> String {
        self.sentence(&format!("`reckon approve {checksum}`"))
    }

    fn sentence(&self, command: &str) -> String {
        let Self { limit, allowed, resulting, place, approvers, .. } = self;
        let what = if self.scope == LimitScope::Plan { "the whole plan" } else { "this step" };
        let many = *approvers > 1;
        let people = if many { format!("have {approvers} people ") } else { String::new() };
        let progress = self.approval_progress();
        format!(
            "{limit} allows {allowed} ({place}), and {what} would make it {resulting}; raise the limit there, or \
             {people}approve the plan: {command}{progress}"
        )
    }

    fn approval_progress(&self) -> String {
        let Self { approved_by, approvers, .. } = self;
        let missing = approvers.saturating_sub(approved_by.len());
        if approved_by.is_empty() || missing == 0 {
            return String::new();
        }
        let more = count_verb(missing, "more person has", "more people have");
        format!(" ({} approved; {more} to approve)", approved_by.join(", "))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Removal {
    Delete,
    /// The object collects no more money; the service keeps it.
    Neutralise,
    /// The authorisation is withdrawn, and the credentials are erased.
    Deauthorise,
    /// The object stays unchanged and is unmanaged.
    Orphan,
}

impl Removal {
    pub fn past_participle(self) -> &'static str {
        match self {
            Self::Delete => "deleted",
            Self::Neutralise => "neutralised",
            Self::Deauthorise => "deauthorised",
            Self::Orphan => "orphaned",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardTripped {
    /// The guard's key in `reckon.yaml`, such as `policy.prune.percent`.
    pub guard: &'static str,
    pub why: String,
    /// The origin of the limit: file and line, or `default`.
    pub set_at: String,
}

/// Removal status of a resource without a document, or with a new name.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
pub enum RemovalStatus {
    /// Its collection is ended; holds the necessary steps and the amount that is not collected.
    #[display("document missing (reckon.dev/deletion: delete); {_0}")]
    Neutralised(String),
    #[display(
        "document missing (reckon.dev/deletion: delete); the authorisation is withdrawn and the credentials are erased"
    )]
    Deauthorised,
    /// Its document returned after the object was ended, in this way.
    #[display(
        "the object was ended while its document was missing ({_0}); raise reckon.dev/generation to create a new one"
    )]
    Ended(String),
    /// A guard blocks its removal.
    #[display(
        "document missing, but {} blocks the removal: {} (set at {}); if you want the removal, run `reckon apply \
         --allow-prune {}`, or `--allow-prune all` for all blocked ones",
        trip.guard, trip.why, trip.set_at, key.short()
    )]
    Guarded { key: Key, trip: GuardTripped },
    /// It is live, and its missing document is not marked yet; holds the wait after the mark.
    #[display(
        "document missing: `apply` marks it now, and removes the object if the document is still missing after {delay} \
         (policy.prune.delay)"
    )]
    Unmarked { delay: String },
    /// It is live and marked, and is removed after `until` if its document is still missing then.
    #[display(
        "document missing since {}: an `apply` after {} removes the object, if the document is still missing then",
        timestamp(since),
        timestamp(until)
    )]
    Marked { until: DateTime<Utc>, since: DateTime<Utc> },
    /// It is new, and equal to a resource whose document is missing.
    #[display(
        "same content as {}, whose document is missing; to keep that object, write `reckon.dev/moved-from: {}`; to \
         have both, run `reckon apply --allow-prune {}`",
        from.short(), former_name(key, from), key.short()
    )]
    LooksRenamed { key: Key, from: Key },
    /// It takes over the known facts of another name.
    #[display("takes over the object of {}; nothing changes at the service", from.short())]
    Moved { from: Key },
    /// Its name belongs to another resource, which was moved from it.
    #[display(
        "this name belongs to the object of {}, which was moved from it; to move the object back, remove that document \
         and write `reckon.dev/moved-from: {}` here; otherwise choose another name",
        to.short(), whole_name(to)
    )]
    MovedAway { to: Key },
    /// It cannot take over the facts of the name in its annotation; holds the reason.
    CannotMove(String),
}

impl RemovalStatus {
    pub fn word(&self) -> &'static str {
        self.row().0
    }

    /// Returns whether a person has to act: exit code 3.
    pub fn needs_operator(&self) -> bool {
        self.row().1
    }

    pub fn removal(&self) -> Option<Removal> {
        self.row().2
    }

    /// Returns the word, whether a person has to act, and the kind of removal in progress.
    fn row(&self) -> (&'static str, bool, Option<Removal>) {
        match self {
            Self::Neutralised(_) => ("Neutralised", false, Some(Removal::Neutralise)),
            Self::Deauthorised => ("Deauthorised", false, Some(Removal::Deauthorise)),
            Self::Ended(_) => ("Ended", true, None),
            Self::Guarded { .. } => ("Guarded", true, None),
            Self::Unmarked { .. } => ("Unmarked", false, None),
            Self::Marked { .. } => ("Marked", false, None),
            Self::LooksRenamed { .. } => ("LooksRenamed", true, None),
            Self::Moved { .. } => ("Moved", false, None),
            Self::MovedAway { .. } => ("MovedAway", true, None),
            Self::CannotMove(_) => ("CannotMove", true, None),
        }
    }
}

fn whole_name(key: &Key) -> String {
    format!("{}/{}", key.namespace, key.name)
}

fn former_name(key: &Key, from: &Key) -> String {
    if key.namespace == from.namespace { from.name.to_string() } else { whole_name(from) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes M15: the message of a name that moved away contains the way back and the name to
    /// write.
    #[test]
    fn m15_a_move_back_is_told_how() {
        let to: Key = "Contact/team-b/jane".parse().unwrap();
        let told = RemovalStatus::MovedAway { to }.to_string();
        assert!(
            told.contains("remove that document and write `reckon.dev/moved-from: team-b/jane`"),
            "{told}"
        );
    }
}

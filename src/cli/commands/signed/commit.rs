//! One commit: its authors, its signer, and the key of the signature.

use chrono::{DateTime, Utc};

use crate::cli::context::git::program::{Git, GitError};

/// The claims of a commit, and its verified signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedCommit {
    pub id: String,
    pub parents: usize,
    /// The addresses of author, committer and co-authors. They are unverified: a commit can claim
    /// any address.
    pub people: Vec<String>,
    /// The commit's own time, unverified.
    pub at: DateTime<Utc>,
    pub signature: CommitSignature,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommitSignature {
    Unsigned,
    NotSsh,
    Invalid,
    /// The signature is valid, by a key that is not among the allowed ones.
    UnknownKey(String),
    /// The signature is valid, by an allowed key.
    Valid(Signer),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signer {
    /// The name in the file of allowed signers: an address, or patterns of addresses.
    pub principal: String,
    pub key: String,
}

impl SignedCommit {
    pub(crate) fn read(git: &Git, id: &str) -> Result<Self, GitError> {
        let raw = git.output(&["cat-file", "commit", id], &[])?;
        let text = String::from_utf8_lossy(&raw);
        let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
        let of = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
        let signature = match of("gpgsig ").or_else(|| of("gpgsig-sha256 ")) {
            None => CommitSignature::Unsigned,
            Some(begin) if !begin.contains("BEGIN SSH SIGNATURE") => CommitSignature::NotSsh,
            Some(_) => verify(git, id)?,
        };
        let made = [of("author "), of("committer ")];
        let people = made.into_iter().flatten().filter_map(address).chain(co_authors(body));
        Ok(Self {
            id: id.to_owned(),
            parents: head.lines().filter(|line| line.starts_with("parent ")).count(),
            people: people.collect(),
            at: of("committer ").and_then(moment).unwrap_or(DateTime::UNIX_EPOCH),
            signature,
        })
    }
}

impl Signer {
    /// Returns true if the signer's name consists of addresses, or patterns of addresses.
    pub(crate) fn is_named_by_address(&self) -> bool {
        self.principal.split(',').all(|pattern| pattern.contains('@'))
    }

    pub(crate) fn may_be(&self, address: &str) -> bool {
        let address = address.to_lowercase();
        let mut patterns = self.principal.split(',').map(|pattern| pattern.trim().to_lowercase());
        patterns.any(|pattern| matches(pattern.as_bytes(), address.as_bytes()))
    }

    /// Returns true if two signatures may be of one person.
    pub(crate) fn may_also_be(&self, other: &Self) -> bool {
        let shared = |one: &Self, two: &Self| two.principal.split(',').any(|name| one.may_be(name));
        self.key == other.key || shared(self, other) || shared(other, self)
    }
}

/// Returns true if a text matches a pattern of `*` and `?`.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, text)
                || text.split_first().is_some_and(|(_, text)| matches(pattern, text))
        }
        (Some((b'?', rest)), Some((_, text))) => matches(rest, text),
        (Some((one, rest)), Some((other, text))) => one == other && matches(rest, text),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn verify(git: &Git, id: &str) -> Result<CommitSignature, GitError> {
    let said = git.run(&["verify-commit", "--raw", id], &[])?;
    let good = said.err.lines().find_map(|line| line.strip_prefix("Good \"git\" signature "));
    let Some((who, key)) = good.and_then(|good| good.rsplit_once(" key ")) else {
        return Ok(CommitSignature::Invalid);
    };
    let key = key.trim().to_owned();
    let principal = who.strip_prefix("for ").and_then(|who| who.rsplit_once(" with "));
    Ok(match principal {
        Some((principal, _)) if said.success => {
            CommitSignature::Valid(Signer { principal: principal.to_owned(), key })
        }
        Some(_) | None => CommitSignature::UnknownKey(key),
    })
}

/// Returns the address of `NAME <ADDRESS> …`.
fn address(line: &str) -> Option<String> {
    let (before, _) = line.rsplit_once('>')?;
    Some(before.rsplit_once('<')?.1.trim().to_owned())
}

/// Returns the moment of `NAME <ADDRESS> SECONDS ZONE`.
fn moment(line: &str) -> Option<DateTime<Utc>> {
    let (_, after) = line.rsplit_once('>')?;
    DateTime::from_timestamp(after.split_whitespace().next()?.parse().ok()?, 0)
}

fn co_authors(body: &str) -> impl Iterator<Item = String> {
    const TRAILER: &str = "co-authored-by:";
    let lines = body.lines().map(str::trim);
    lines.filter(|line| line.to_lowercase().starts_with(TRAILER)).filter_map(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(principal: &str, key: &str) -> Signer {
        Signer { principal: principal.to_owned(), key: key.to_owned() }
    }

    #[test]
    fn patterns_may_be_anybody_who_fits_them() {
        for (principal, address, expect) in [
            ("ann@example.com", "Ann@Example.com", true),
            ("ann@example.com", "ann@example.co", false),
            ("*@example.com", "joe@example.com", true),
            ("a?n@*", "ann@x", true),
            ("ann@x,bob@x", "bob@x", true),
            ("ann@x, bob@x", "bob@x", true),
            ("ann@x", "", false),
        ] {
            assert_eq!(signer(principal, "k").may_be(address), expect, "{principal} {address}");
        }
        assert!(!signer("ann", "k").is_named_by_address());
        assert!(signer("ann@x,*@y", "k").is_named_by_address());
    }

    #[test]
    fn one_key_is_one_person_whatever_it_is_called() {
        let ann = signer("ann@x", "1");
        assert!(ann.may_also_be(&signer("bob@x", "1")));
        assert!(ann.may_also_be(&signer("*@x", "2")));
        assert!(signer("*@x", "2").may_also_be(&ann));
        assert!(ann.may_also_be(&signer("ANN@x", "2")));
        assert!(!ann.may_also_be(&signer("bob@x", "2")));
    }

    #[test]
    fn addresses_are_the_last_ones_of_their_lines() {
        assert_eq!(address("A <b> <a@x> 12 +0000").as_deref(), Some("a@x"));
        assert_eq!(address("nobody"), None);
        assert_eq!(moment("A <a@x> 12 +0000").map(|at| at.timestamp()), Some(12));
        let body = "why\n\nCo-Authored-By: Bob <bob@x>\nco-authored-by: no address\n";
        assert_eq!(co_authors(body).collect::<Vec<_>>(), ["bob@x"]);
    }
}

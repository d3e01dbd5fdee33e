//! Stored objects: each kept once, and listed newest first by owner. They carry the order of their
//! creation.
//!
//! The cost of a page depends on its size and the entries skipped, not on the list; the number of
//! entries is stored.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::store::{ChangeUnit, sortable_key};
use crate::api::{PAGE_SIZE_MAX, Page};
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;

/// Test or live; separates all data of a merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MerchantMode {
    Test,
    Live,
}

impl MerchantMode {
    pub(crate) fn of_test(test: bool) -> Self {
        if test { Self::Test } else { Self::Live }
    }

    pub(crate) fn other(self) -> Self {
        if self == Self::Test { Self::Live } else { Self::Test }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Live => "live",
        }
    }
}

/// Merchant and mode of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ObjectOwner {
    pub(crate) merchant: String,
    pub(crate) mode: MerchantMode,
}

impl ObjectOwner {
    pub(crate) fn key(&self) -> String {
        format!("{}.{}", self.merchant, self.mode.as_str())
    }
}

/// A stored object: the visible object, its owner, and its private part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stored<T, X> {
    pub(crate) owner: ObjectOwner,
    pub(crate) sequence: u64,
    pub(crate) object: T,
    #[serde(rename = "inside")]
    pub(crate) internal: X,
}

/// A kind of object: its word in keys, and its type name in a 404.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectKind {
    pub(crate) word: &'static str,
    pub(crate) name: &'static str,
}

impl ObjectKind {
    fn object(self, id: &str) -> String {
        format!("o/{}/{id}", self.word)
    }
}

impl ChangeUnit<'_> {
    /// Stores a new object and adds it to the list `under` (an owner or a parent).
    pub(crate) fn create<T: Serialize, X: Serialize>(
        &mut self,
        kind: ObjectKind,
        under: &str,
        id: &str,
        kept: &Stored<T, X>,
    ) -> Result<(), SandboxRefusal> {
        self.update(kind, id, kept)?;
        self.list_add(&format!("{}/{under}", kind.word), kept.sequence, id)
    }

    /// Stores a new or changed object.
    pub(crate) fn update<T: Serialize, X: Serialize>(
        &mut self,
        kind: ObjectKind,
        id: &str,
        kept: &Stored<T, X>,
    ) -> Result<(), SandboxRefusal> {
        self.put(&kind.object(id), kept)
    }

    /// Deletes an object and its list entry.
    pub(crate) fn delete(
        &mut self,
        kind: ObjectKind,
        under: &str,
        id: &str,
        sequence: u64,
    ) -> Result<(), SandboxRefusal> {
        self.remove(&kind.object(id));
        self.list_remove(&format!("{}/{under}", kind.word), sequence)
    }

    /// Returns an object of this owner.
    ///
    /// # Errors
    ///
    /// 404 for an unknown object and for one of another owner.
    pub(crate) fn find<T: DeserializeOwned, X: DeserializeOwned>(
        &self,
        kind: ObjectKind,
        owner: &ObjectOwner,
        id: &str,
    ) -> Result<Stored<T, X>, SandboxRefusal> {
        let kept: Option<Stored<T, X>> = self.find_any_owner(kind, id)?;
        kept.filter(|kept| kept.owner == *owner)
            .ok_or_else(|| SandboxRefusal::not_found(kind.name, id))
    }

    /// Returns an object of any owner.
    pub(crate) fn find_any_owner<T: DeserializeOwned, X: DeserializeOwned>(
        &self,
        kind: ObjectKind,
        id: &str,
    ) -> Result<Option<Stored<T, X>>, SandboxRefusal> {
        self.get(&kind.object(id))
    }

    /// Adds an id to the top of a list.
    pub(crate) fn list_add(&mut self, list: &str, at: u64, id: &str) -> Result<(), SandboxRefusal> {
        self.put(&newest_first(list, at), &id)?;
        let count = self.count(list)?.saturating_add(1);
        self.put(&format!("n/{list}"), &count)
    }

    /// Removes an entry from a list.
    pub(crate) fn list_remove(&mut self, list: &str, at: u64) -> Result<(), SandboxRefusal> {
        self.remove(&newest_first(list, at));
        let count = self.count(list)?.saturating_sub(1);
        self.put(&format!("n/{list}"), &count)
    }

    /// Returns the list entry that was added as `at`.
    pub(crate) fn list_entry(&self, list: &str, at: u64) -> Result<Option<String>, SandboxRefusal> {
        self.get(&newest_first(list, at))
    }

    /// Returns every object of a kind and any owner, in order of creation.
    pub(crate) fn all<T: DeserializeOwned, X: DeserializeOwned>(
        &self,
        kind: ObjectKind,
    ) -> Result<Vec<Stored<T, X>>, SandboxRefusal> {
        let all = self.scan(&kind.object(""), None, usize::MAX)?;
        let all = all.into_iter().map(|(_, value)| Ok(serde_json::from_value(value)?));
        let mut all: Vec<Stored<T, X>> = all.collect::<Result<_, SandboxRefusal>>()?;
        all.sort_by_key(|kept| kept.sequence);
        Ok(all)
    }

    /// Returns the number of entries of a list.
    pub(crate) fn count(&self, list: &str) -> Result<u64, SandboxRefusal> {
        Ok(self.get(&format!("n/{list}"))?.unwrap_or(0))
    }

    /// Returns `take` ids of a list, newest first, after the first `skip`.
    pub(crate) fn ids(
        &self,
        list: &str,
        skip: u64,
        take: u64,
    ) -> Result<Vec<String>, SandboxRefusal> {
        let all = skip.saturating_add(take);
        let entries = self.scan(&format!("l/{list}/"), None, to_usize(all))?;
        let ids = entries.into_iter().skip(to_usize(skip));
        Ok(ids.filter_map(|(_, id)| id.as_str().map(str::to_owned)).collect())
    }
}

fn newest_first(list: &str, at: u64) -> String {
    format!("l/{list}/{}", sortable_key(u64::MAX.saturating_sub(at)))
}

pub(crate) fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The requested page (gateway-api, Endpoints: `page` from 1, `page_size` 20 to 100).
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageQuery {
    pub(crate) page: u64,
    pub(crate) size: u64,
}

const PAGE_SIZE_DEFAULT: u64 = 20;

impl PageQuery {
    pub(crate) fn of(asked: &ParsedRequest) -> Result<Self, SandboxRefusal> {
        let page = number(asked, "page", 1, u64::MAX)?.unwrap_or(1);
        let size = number(asked, "page_size", 1, PAGE_SIZE_MAX)?.unwrap_or(PAGE_SIZE_DEFAULT);
        Ok(Self { page, size })
    }

    pub(crate) fn skip(self) -> u64 {
        self.page.saturating_sub(1).saturating_mul(self.size)
    }

    /// Returns a page of a list whose entries can be shown by id.
    pub(crate) fn of_list<T>(
        self,
        cx: &ChangeUnit<'_>,
        list: &str,
        show: impl Fn(&str) -> Result<T, SandboxRefusal>,
    ) -> Result<Page<T>, SandboxRefusal> {
        let ids = cx.ids(list, self.skip(), self.size)?;
        let results = ids.iter().map(|id| show(id)).collect::<Result<_, _>>()?;
        Ok(self.page_of(cx.count(list)?, results))
    }

    /// Returns a page of results that were filtered before.
    pub(crate) fn of_vec<T>(self, all: Vec<T>) -> Page<T> {
        let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let results = all.into_iter().skip(to_usize(self.skip())).take(to_usize(self.size));
        let results = results.collect();
        self.page_of(total, results)
    }

    pub(crate) fn page_of<T>(self, total_entries: u64, results: Vec<T>) -> Page<T> {
        Page { page: self.page, page_size: self.size, total_entries, results }
    }
}

/// Parses a number of the query within bounds.
pub(crate) fn number(
    asked: &ParsedRequest,
    name: &str,
    min: u64,
    max: u64,
) -> Result<Option<u64>, SandboxRefusal> {
    let Some(text) = asked.query(name) else {
        return Ok(None);
    };
    match text.parse::<u64>() {
        Ok(number) if number > max => {
            Err(SandboxRefusal::field(name, "exceeds_maximum_value", "Value exceeds the maximum"))
        }
        Ok(number) if number < min => Err(SandboxRefusal::field(
            name,
            "below_minimum_value",
            "Value is less than the minimum",
        )),
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(SandboxRefusal::field(name, "invalid", "Value is invalid")),
    }
}

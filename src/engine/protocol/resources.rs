//! The list of resources: its filter, and the list as plain data.

use std::collections::BTreeMap;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::base::id::{Key, Kind, Name};
use crate::engine::protocol::time_rules::TimeRuleView;
use crate::engine::protocol::views::ResourceView;
use crate::kinds::register;
use crate::model::holds::Hold;

/// Selects resources: those that satisfy every part. An empty filter selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceFilter {
    pub kind: Option<Kind>,
    /// One resource.
    pub key: Option<Key>,
    pub namespace: Option<Name>,
    /// The merchant itself, and its resources.
    pub merchant: Option<Key>,
    pub labels: Vec<LabelTerm>,
    pub not_ready: bool,
    /// Only resources that need attention.
    pub attention: bool,
    /// Text that the name contains, in any case.
    pub search: Option<String>,
    /// The part of the selected resources that is listed.
    pub part: ListPart,
}

impl ResourceFilter {
    /// Returns true if it selects every resource.
    pub fn is_empty(&self) -> bool {
        *self == Self { part: self.part, ..Self::default() }
    }
}

/// The parts of a filter that people and programs write as text.
#[derive(Debug, Clone, Default)]
pub struct FilterText<'a> {
    /// A kind, exactly.
    pub kind: Option<&'a str>,
    /// A merchant: NAME, or NAMESPACE/NAME.
    pub merchant: Option<&'a str>,
    /// Conditions with commas between them.
    pub labels: Option<&'a str>,
}

impl FilterText<'_> {
    /// Returns a filter of these parts alone.
    ///
    /// # Errors
    /// There is no such kind, or a text is no name of a merchant or no condition on labels.
    pub fn parse(&self) -> Result<ResourceFilter, String> {
        let Self { kind, merchant, labels } = self;
        let known = |kind: &str| register::find(kind).ok_or(format!("there is no kind {kind}"));
        let merchant = merchant.map(|name| format!("Merchant/{name}").parse::<Key>()).transpose();
        let labels = labels.map(LabelTerm::parse_list).transpose();
        Ok(ResourceFilter {
            kind: kind.map(known).transpose()?.map(|row| Kind::new(row.name)),
            merchant: merchant.map_err(|why| why.to_string())?,
            labels: labels.map_err(|why| why.to_string())?.unwrap_or_default(),
            ..ResourceFilter::default()
        })
    }
}

/// A part of a list: `limit` items behind the first `offset`; all of them without a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListPart {
    pub offset: usize,
    pub limit: Option<usize>,
}

impl ListPart {
    /// Returns true for the place, counted from 0, of an item of this part.
    pub fn contains(self, place: usize) -> bool {
        let behind = place.checked_sub(self.offset);
        behind.is_some_and(|behind| self.limit.is_none_or(|limit| behind < limit))
    }
}

/// One condition on the labels of a document: `KEY=VALUE`, `KEY!=VALUE`, or `KEY` for any value.
#[derive(Debug, Clone, PartialEq, Eq, SerializeDisplay, DeserializeFromStr, derive_more::Display)]
pub enum LabelTerm {
    #[display("{_0}")]
    Has(String),
    #[display("{_0}={_1}")]
    Is(String, String),
    /// Also satisfied where there is no such label, as in kubectl.
    #[display("{_0}!={_1}")]
    IsNot(String, String),
}

/// The text is no condition on labels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no label filter: write KEY=VALUE, KEY!=VALUE or KEY, several with commas")]
pub struct LabelTermError(String);

impl FromStr for LabelTerm {
    type Err = LabelTermError;

    fn from_str(text: &str) -> Result<Self, LabelTermError> {
        let wrong = || LabelTermError(text.to_owned());
        let part = |part: &str| {
            Some(part.trim().to_owned()).filter(|part| !part.contains(['=', '!', ',']))
        };
        let key = |text: &str| part(text).filter(|key| !key.is_empty()).ok_or_else(wrong);
        let value = |text: &str| part(text).ok_or_else(wrong);
        if let Some((name, other)) = text.split_once("!=") {
            return Ok(Self::IsNot(key(name)?, value(other)?));
        }
        match text.split_once("==").or_else(|| text.split_once('=')) {
            Some((name, wanted)) => Ok(Self::Is(key(name)?, value(wanted)?)),
            None => Ok(Self::Has(key(text)?)),
        }
    }
}

impl LabelTerm {
    /// Parses a list of conditions with commas between them.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, LabelTermError> {
        text.split(',').map(str::parse).collect()
    }

    pub fn is_satisfied(&self, labels: &BTreeMap<String, String>) -> bool {
        match self {
            Self::Has(key) => labels.contains_key(key),
            Self::Is(key, value) => labels.get(key) == Some(value),
            Self::IsNot(key, value) => labels.get(key) != Some(value),
        }
    }
}

/// The selected resources in the order of their keys: `get -o json` and `/api/v1/resources`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceList {
    pub items: Vec<ResourceView>,
    /// Number of selected resources, listed or not.
    #[serde(default)]
    pub total: usize,
    /// The reason for which no change of a document is sent now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Box<Hold>>,
    /// The windows and freezes of the configuration that hold changes back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<TimeRuleView>,
    /// The daemon's time: ages are relative to it.
    pub at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn label_filters_have_the_three_forms_of_kubectl() {
        let terms = LabelTerm::parse_list("team=a, env!=live,owner").unwrap();
        let satisfied = |pairs| {
            let labels = labels(pairs);
            terms.iter().map(|term| term.is_satisfied(&labels)).collect::<Vec<_>>()
        };
        assert_eq!(satisfied(&[("team", "a"), ("env", "test"), ("owner", "")]), [true; 3]);
        assert_eq!(satisfied(&[("team", "b"), ("env", "live")]), [false; 3]);
        assert_eq!(satisfied(&[]), [false, true, false]);
        assert_eq!("a==b".parse(), Ok(LabelTerm::Is("a".to_owned(), "b".to_owned())));
    }

    #[test]
    fn anything_else_is_refused_and_what_is_accepted_reads_back() {
        for wrong in ["", "=a", "!=a", "a=b=c", "a!", "a=b,"] {
            assert!(LabelTerm::parse_list(wrong).is_err(), "{wrong}");
        }
        for term in ["a", "a=b", "a!=b", "a="] {
            let parsed: LabelTerm = term.parse().unwrap();
            assert_eq!(parsed.to_string(), term);
        }
    }
}

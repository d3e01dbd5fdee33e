//! A parsed request, as the handlers receive it: no sockets, no framework.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use http::HeaderMap;
use http::request::Parts;
use serde_json::{Map, Value};

use crate::api::call::{PAGE_SIZE_MAX, Page};
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::state::objects::{ObjectOwner, to_usize};
use crate::sandbox::state::store::ChangeUnit;

/// The caller, after its credential was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SandboxCaller {
    /// No checked caller: the endpoint reads its credentials from the body, or needs none.
    Anyone,
    /// The partner itself.
    Partner,
    /// The partner, acting for a merchant.
    Authorized { merchant: String },
    /// A key of a merchant, valid for one mode.
    Key {
        owner: ObjectOwner,
        /// The account that the key belongs to, for an account's own key.
        account: Option<String>,
    },
}

#[derive(Debug)]
pub(crate) struct ParsedRequest {
    pub(crate) caller: SandboxCaller,
    pub(crate) parameters: Vec<String>,
    pub(crate) query: BTreeMap<String, Vec<String>>,
    pub(crate) parts: Arc<Parts>,
    pub(crate) body: Vec<u8>,
}

impl ParsedRequest {
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// Returns the n-th path parameter, or an empty text.
    pub(crate) fn parameter(&self, at: usize) -> &str {
        self.parameters.get(at).map_or("", String::as_str)
    }

    /// Returns the first value of a query parameter, unless empty.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let values = self.query.get(name)?;
        values.first().map(String::as_str).filter(|text| !text.is_empty())
    }

    pub(crate) fn owner(&self) -> Result<ObjectOwner> {
        let SandboxCaller::Key { owner, .. } = &self.caller else {
            return Err(SandboxRefusal::not_authorized());
        };
        Ok(owner.clone())
    }

    /// Returns the account of the caller's key, for an account's own key.
    pub(crate) fn account_of_key(&self) -> Option<&str> {
        let SandboxCaller::Key { account, .. } = &self.caller else { return None };
        account.as_deref()
    }

    pub(crate) fn merchant(&self) -> Result<&str> {
        let SandboxCaller::Authorized { merchant } = &self.caller else {
            return Err(SandboxRefusal::not_authorized());
        };
        Ok(merchant)
    }

    pub(crate) fn is_form(&self) -> bool {
        content_type(self.headers()) == Some("application/x-www-form-urlencoded")
    }

    /// Returns the JSON body; an absent body is an empty object.
    pub(crate) fn json(&self) -> Result<Value> {
        if self.body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Value::Object(Map::new()));
        }
        match content_type(self.headers()) {
            None | Some("application/json") => {}
            Some(_) => return Err(SandboxRefusal::invalid("Content type is not supported")),
        }
        serde_json::from_slice(&self.body)
            .map_err(|_| SandboxRefusal::malformed_body("Body is not JSON"))
    }

    /// Returns the form body as an object; a repeated key becomes an array.
    pub(crate) fn form(&self) -> Value {
        let mut object = Map::new();
        for (key, values) in pairs(&String::from_utf8_lossy(&self.body)) {
            let mut values: Vec<Value> = values.into_iter().map(Value::String).collect();
            let value = match values.len() {
                1 => values.remove(0),
                _ => Value::Array(values),
            };
            object.insert(key, value);
        }
        Value::Object(object)
    }
}

fn content_type(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(http::header::CONTENT_TYPE)?.to_str().ok()?;
    value.split(';').next().map(str::trim)
}

/// Parses a query or form, percent-decoded; values of one name stay in order.
pub(crate) fn pairs(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in form_urlencoded::parse(text.as_bytes()) {
        found.entry(name.into_owned()).or_default().push(value.into_owned());
    }
    found
}

/// The requested page (gateway-api, Endpoints: `page` from 1, `page_size` 20 to 100).
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageQuery {
    pub(crate) page: u64,
    pub(crate) size: u64,
}

const PAGE_SIZE_DEFAULT: u64 = 20;

impl PageQuery {
    pub(crate) fn of(asked: &ParsedRequest) -> Result<Self> {
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
        cx: &ChangeUnit,
        list: &str,
        show: impl Fn(&str) -> Result<T>,
    ) -> Result<Page<T>> {
        let ids = cx.ids(list, self.skip(), self.size)?;
        let results = ids.iter().map(|id| show(id)).collect::<Result<_, _>>()?;
        Ok(self.page_of(cx.count(list)?, results))
    }

    /// Returns a page of results that were filtered before.
    pub(crate) fn of_vec<T>(self, all: Vec<T>) -> Page<T> {
        let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let results = all.into_iter().skip(to_usize(self.skip())).take(to_usize(self.size));
        self.page_of(total, results.collect())
    }

    pub(crate) fn page_of<T>(self, total_entries: u64, results: Vec<T>) -> Page<T> {
        Page { page: self.page, page_size: self.size, total_entries, results }
    }
}

pub(crate) fn number(asked: &ParsedRequest, name: &str, min: u64, max: u64) -> Result<Option<u64>> {
    let Some(text) = asked.query(name) else { return Ok(None) };
    let (sub_code, message) = match text.parse::<u64>() {
        Ok(number) if number > max => ("exceeds_maximum_value", "Value exceeds the maximum"),
        Ok(number) if number < min => ("below_minimum_value", "Value is less than the minimum"),
        Ok(number) => return Ok(Some(number)),
        Err(_) => ("invalid", "Value is invalid"),
    };
    Err(SandboxRefusal::field(name, sub_code, message))
}

pub(crate) fn moment(asked: &ParsedRequest, name: &str) -> Result<Option<DateTime<Utc>>> {
    let Some(text) = asked.query(name) else { return Ok(None) };
    let time = DateTime::parse_from_rfc3339(text).map(|time| time.with_timezone(&Utc));
    time.map(Some).map_err(|_| SandboxRefusal::field(name, "invalid", "Date is invalid"))
}

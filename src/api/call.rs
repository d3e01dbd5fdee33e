//! Endpoints as types, requests as plain data, the parameters of a query, and the pages of a list.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ParameterType::{Integer, Text};

use crate::api::rules::AMOUNT_MAX;

/// An HTTP method that the service uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Reads; never an effect.
    Get,
    /// Creates or acts.
    Post,
    /// Changes some fields.
    Patch,
    /// Replaces the content.
    Put,
    Delete,
}

impl Method {
    /// Returns the method as HTTP writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// The service's host that serves a path (partner-api, address placeholders).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// `{base_url}`: tokens, credentials, bank accounts, contacts, invoices and the gateway.
    Base,
    /// `{web_url}`: the merchant-facing web application, one per product brand.
    Web,
}

/// Credential that a call must carry (both documents, Authentication).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// No credential, or credentials in the body (the token endpoint).
    None,
    /// A bearer token of scope `tenant`.
    Tenant,
    /// A bearer token of scope `payments`, one per merchant.
    Payments,
    /// HTTP Basic with a merchant's public key.
    PublicKey,
    /// HTTP Basic with a merchant's secret key.
    SecretKey,
}

/// One endpoint of the service. Its own doc comment is its description in `/openapi.json`.
pub trait Endpoint: JsonSchema {
    /// Our name of the endpoint: `contact.create`.
    const NAME: &'static str;
    const METHOD: Method;
    const HOST: Host;
    /// The path, with parameters in braces: `/v1/cards/{id}`.
    const PATH: &'static str;
    const AUTH: Auth;
    /// The parameters of the query.
    const QUERY: &'static [Parameter] = &[];
    /// The request's body; `()` without one.
    type Request: JsonSchema;
    /// The body of a reply with status 200; `()` where it is empty.
    type Reply: JsonSchema;
}

/// Defines endpoints. An entry has name, word, method, host, path, credential, `Request => Reply`,
/// and the parameters of the query.
macro_rules! endpoints {
    ($(
        $(#[$doc:meta])*
        $name:ident $word:literal: $method:ident $host:ident $path:literal by $auth:ident,
            $request:ty => $reply:ty $(, [$($query:expr),+])?;
    )+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, schemars::JsonSchema)]
        pub struct $name;

        impl $crate::api::call::Endpoint for $name {
            const NAME: &'static str = $word;
            const METHOD: $crate::api::call::Method = $crate::api::call::Method::$method;
            const HOST: $crate::api::call::Host = $crate::api::call::Host::$host;
            const PATH: &'static str = $path;
            const AUTH: $crate::api::call::Auth = $crate::api::call::Auth::$auth;
            $(const QUERY: &'static [$crate::api::call::Parameter] = &[$($query),+];)?
            type Request = $request;
            type Reply = $reply;
        }
    )+};
}

pub(crate) use endpoints;

/// Defines wire objects: each has every common derive, absent fields take their defaults, and `None`
/// is not written.
macro_rules! objects {
    ($($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* })+) => {$(
        #[serde_with::skip_serializing_none]
        #[derive(Debug, Clone, Default, PartialEq)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default)]
        $(#[$meta])*
        pub struct $name { $($fields)* }
    )+};
}

pub(crate) use objects;

/// One request to the service as plain data: exactly its form on the wire, but for the credential,
/// which the client adds. `Debug` leaves the body out, since a body may hold a card number.
#[derive(Clone, PartialEq, Eq, derive_more::Debug)]
#[debug("{} {path}", method.as_str())]
pub struct Call {
    /// The endpoint's name, for logs.
    pub endpoint: String,
    pub method: Method,
    pub host: Host,
    /// The path with its parameters filled in.
    pub path: String,
    /// Query parameters, in order, not yet encoded.
    pub query: Vec<(String, String)>,
    /// The credential that the client has to add.
    pub auth: Auth,
    /// The exact bytes of a JSON body.
    pub body: Option<Vec<u8>>,
}

impl Call {
    /// Makes a call of endpoint `E`, its path parameters filled in their order of appearance.
    pub fn to<E: Endpoint>(parameters: &[&str]) -> Self {
        Self::of(E::NAME, E::METHOD, E::HOST, E::PATH, E::AUTH, parameters)
    }

    /// Makes a call of an endpoint that is only known as data.
    pub(crate) fn of(
        endpoint: &str,
        method: Method,
        host: Host,
        path: &str,
        auth: Auth,
        parameters: &[&str],
    ) -> Self {
        let (endpoint, path) = (endpoint.to_owned(), fill(path, parameters));
        Self { endpoint, method, host, path, query: Vec::new(), auth, body: None }
    }

    /// Adds one query parameter.
    #[must_use]
    pub fn query(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.query.push((name.to_owned(), value.to_string()));
        self
    }

    /// Sets these bytes as the JSON body.
    #[must_use]
    pub fn body(mut self, bytes: Vec<u8>) -> Self {
        self.body = Some(bytes);
        self
    }
}

/// Extension of an in-process response whose answer is lost: the caller has to see a broken
/// connection, whatever the response holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostReplyMarker;

/// Fills the braces of a path pattern, one parameter each, percent-encoding every character that a
/// path segment may not hold.
fn fill(pattern: &str, parameters: &[&str]) -> String {
    let mut values = parameters.iter();
    let segments = pattern.split('/').map(|segment| {
        if segment.starts_with('{') {
            values.next().map_or_else(String::new, |value| encode(value))
        } else {
            segment.to_owned()
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

/// All characters but the unreserved ones of a URL.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Percent-encodes everything but the unreserved characters of a URL.
pub(crate) fn encode(value: &str) -> String {
    utf8_percent_encode(value, RESERVED).to_string()
}

/// One parameter of a query; none is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    pub name: &'static str,
    pub value_type: ParameterType,
    /// Meaning of the parameter, in words for the `OpenAPI` document.
    pub meaning: &'static str,
}

/// Type of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    /// Any text.
    Text,
    /// Texts of this pattern; the parameter may be repeated.
    Texts(&'static str),
    /// A whole number between two bounds, both included.
    Integer(u64, u64),
    /// `yyyy-mm-dd`.
    Date,
    /// ISO 8601 with a time zone.
    Moment,
    /// `true` or `false`.
    Flag,
}

impl Parameter {
    /// Declares a parameter.
    pub const fn new(name: &'static str, holds: ParameterType, meaning: &'static str) -> Self {
        Self { name, value_type: holds, meaning }
    }
}

/// Number of a list's page.
pub const PAGE: Parameter =
    Parameter::new("page", Integer(1, i64::MAX.cast_unsigned()), "the page, from 1");
/// Number of results in a page.
pub const PAGE_SIZE: Parameter =
    Parameter::new("page_size", Integer(1, PAGE_SIZE_MAX), "results of a page; 20 by default");
/// Restricts a list to one account.
pub const ACCOUNT: Parameter = Parameter::new("account_id", Text, "only objects of this account");
/// Restricts a list to one reference.
pub const REFERENCE: Parameter =
    Parameter::new("reference", Text, "only objects with this reference");
/// Order of a list.
pub const ORDER: Parameter = Parameter::new(
    "order_by",
    Text,
    "fields separated by commas, `-` before a descending one; newest first by default",
);
/// Amount that a surcharge is calculated for.
pub const AMOUNT: Parameter = Parameter::new(
    "amount",
    Integer(1, AMOUNT_MAX.cast_unsigned()),
    "minor units; the answer then contains their surcharge and total",
);

/// One page of a list answer (gateway-api, Search results).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Page<T> {
    /// Number of this page, from 1.
    pub page: u64,
    /// Maximum number of results in a page.
    pub page_size: u64,
    /// Number of results over all pages.
    pub total_entries: u64,
    /// The results of this page.
    pub results: Vec<T>,
}

/// The largest `page_size` that a list accepts (gateway-api, Limits).
pub const PAGE_SIZE_MAX: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_parameter_cannot_leave_its_segment() {
        assert_eq!(fill("/v1/cards/{id}", &["a/../b?c"]), "/v1/cards/a%2F..%2Fb%3Fc");
        assert_eq!(fill("/v1/x/{id}/y/{other}", &["1", "_-"]), "/v1/x/1/y/_-");
    }
}

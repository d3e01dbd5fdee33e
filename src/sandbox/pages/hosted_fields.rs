//! The hosted fields: the library that a merchant's page loads, and its frames (partner-api,
//! Hosted-fields client library; service-facts, part 11).
//!
//! The frames are pages of this origin inside a page of another origin, which cannot read their
//! input. They call only this origin.

use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use super::site::SCRIPT;
use crate::api::methods::method::MethodKind;
use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::state::store::ChangeUnit;

/// Content security policy of a frame: only this origin's script and styles; any page may embed it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors *";

/// The library's files: path, type, content.
pub(crate) const FILES: [(&str, &str, &str); 4] = [
    (
        "/hosted-fields/1.5.0/hosted-fields.js",
        SCRIPT,
        include_str!("hosted_fields/hosted-fields.js"),
    ),
    (
        "/hosted-fields/1.5.0/field.html",
        "text/html; charset=utf-8",
        include_str!("hosted_fields/field.html"),
    ),
    (
        "/hosted-fields/1.5.0/field.css",
        "text/css; charset=utf-8",
        include_str!("hosted_fields/field.css"),
    ),
    ("/hosted-fields/1.5.0/field.js", SCRIPT, include_str!("hosted_fields/field.js")),
];
/// Path at which a frame asks if cards bear a surcharge.
pub(crate) const SURCHARGEABLE: &str = "/hosted-fields/1.5.0/surchargeable";

/// Answers one of these files.
pub(crate) fn file(content_type: &'static str, content: &'static str) -> SandboxAnswer {
    let answer = SandboxAnswer::of(StatusCode::OK, content_type, content.as_bytes().to_vec());
    answer
        .with(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))
        .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}

/// GET by public key: answers a frame if the merchant adds a surcharge to cards.
pub(crate) fn surchargeable(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let policy = cx.policy(&asked.owner()?.merchant)?;
    let card = policy.surcharges.iter().any(|rate| rate.kind == MethodKind::Card);
    SandboxAnswer::json(&json!({ "card": card }))
}

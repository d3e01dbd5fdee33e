//! The hosted fields: the library that a merchant's page loads, and the frames that it shows (partner-api,
//! Hosted-fields client library; service-facts, part 11).
//!
//! The frames are pages of this origin on a page of another one, so that what is typed into them is out of that page's
//! reach. They ask this origin alone.

use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::api::method::MethodKind;
use crate::sandbox::answer::Answer;
use crate::sandbox::asked::Asked;
use crate::sandbox::pages::SCRIPT;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

/// What a frame may load: this origin's own script and styles; any page may show it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors *";

/// The files of the library: path, type, content.
pub(crate) const FILES: [(&str, &str, &str); 4] = [
    ("/hosted-fields/1.5.0/hosted-fields.js", SCRIPT, include_str!("hosted/hosted-fields.js")),
    (
        "/hosted-fields/1.5.0/field.html",
        "text/html; charset=utf-8",
        include_str!("hosted/field.html"),
    ),
    ("/hosted-fields/1.5.0/field.css", "text/css; charset=utf-8", include_str!("hosted/field.css")),
    ("/hosted-fields/1.5.0/field.js", SCRIPT, include_str!("hosted/field.js")),
];
/// Where a frame asks whether cards bear a surcharge.
pub(crate) const SURCHARGEABLE: &str = "/hosted-fields/1.5.0/surchargeable";

/// One of these files.
pub(crate) fn file(content_type: &'static str, content: &'static str) -> Answer {
    let answer = Answer::of(StatusCode::OK, content_type, content.as_bytes().to_vec());
    answer
        .with(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))
        .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}

/// Whether a surcharge may be added to a card, for the merchant of a public key.
pub(crate) fn surchargeable(cx: &mut Cx<'_>, asked: &Asked) -> Result<Answer, Refusal> {
    let policy = cx.policy(&asked.owner()?.merchant)?;
    let card = policy.surcharges.iter().any(|rate| rate.kind == MethodKind::Card);
    Answer::json(&json!({ "card": card }))
}

//! Merchant: an account of the service, its mode and the credentials that open it. Its YAML shape,
//! and its checks without the service.

mod authorization;
pub(crate) mod step;
#[cfg(test)]
mod tests;
pub mod zone;

use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_with::skip_serializing_none;

use crate::base::id::{Mode, Name};
use crate::kinds::json_schema::HiddenSecret;
use crate::kinds::merchant_application::MerchantApplicationKind;
use crate::kinds::schema::kind::{CheckCx, Example, Examples, SpecField, SpecSchema, spec_fields};
use crate::kinds::schema::text;
use crate::kinds::secrets::secret_source::SecretSource;
use crate::model::issue::Issue;
use crate::model::manifest::{Desired, PackedManifest, Reference};

/// Characters of a public key, which is otherwise free (partner-api, Limits; service-facts, part 12).
pub const PUBLIC_KEY_LENGTH: usize = 24;
pub(super) const APPLICATION: &str = "spec.credentials.application";
pub(super) const APPLICATION_KIND: &str = MerchantApplicationKind::NAME;

#[derive(Debug, Clone, Copy)]
pub struct MerchantKind;

/// Merchant account of the service, with its mode and credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Spec")]
pub struct MerchantSpec {
    pub mode: Mode,
    /// An IANA name, or the Rails-style name of one. Canonical: the IANA name.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "iana")]
    pub timezone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_url: Option<String>,
    pub credentials: CredentialsSpec,
}

/// Credentials of a merchant: write exactly one of these.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
#[schemars(rename = "Credentials")]
pub struct CredentialsSpec {
    #[schemars(with = "Option<HiddenSecret>")]
    pub authorization_code: Option<SecretSource>,
    /// A `payments` token that was exchanged elsewhere.
    #[schemars(with = "Option<HiddenSecret>")]
    pub access_token: Option<SecretSource>,
    pub application: Option<String>,
    pub keys: Option<GatewayKeys>,
}

/// The keys of one account (partner-api, GET /gateway-credentials).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Keys")]
pub struct GatewayKeys {
    pub public_key: String,
    #[schemars(with = "HiddenSecret")]
    pub secret_key: SecretSource,
}

#[expect(clippy::ref_option, reason = "serde passes the field by reference")]
fn iana<S: Serializer>(zone: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    let known = zone.as_deref().and_then(zone::find).map(Tz::name);
    serializer.serialize_some(&known.or(zone.as_deref()))
}

impl SpecSchema for MerchantKind {
    const NAME: &'static str = "Merchant";
    const FIELDS: &'static [SpecField] = spec_fields! {
        Plain Immutable "mode": "`test` or `live`: which keys and accounts are used (gateway-api, Authentication).";
        Plain LocalOnly "timezone": "The zone of the merchant's days, an IANA name such as `America/Chicago` (partner-api, Gateway credentials).";
        Plain LocalOnly "web_url": "The host of the merchant's product brand (partner-api, {web_url}).";
        Plain LocalOnly "credentials": "Exactly one of `authorization_code`, `application`, `access_token` and `keys` (partner-api, Authentication).";
        Secret LocalOnly "credentials.authorization_code": "A code that is exchanged once for a token (partner-api, POST /oauth/token).";
        Plain LocalOnly "credentials.application": "The MerchantApplication whose approval brings the code, NAME or NAMESPACE/NAME; a live merchant then waits for `reckon approve` (partner-api, Events).";
        Secret LocalOnly "credentials.access_token": "A `payments` token, 64 characters (partner-api, Access token response).";
        Plain LocalOnly "credentials.keys": "Gateway keys; they cannot make contacts or invoices (gateway-api, Authentication).";
        Plain LocalOnly "credentials.keys.public_key": "The account's public key, 24 characters (partner-api, Account object).";
        Secret LocalOnly "credentials.keys.secret_key": "The account's secret key (partner-api, Account object).";
    };
    const EXAMPLES: Examples = &[
        ("mode", Example::Yaml("test")),
        ("timezone", Example::Yaml("America/Chicago")),
        ("credentials.authorization_code", Example::Variable("CODE")),
    ];
    type Spec = MerchantSpec;

    fn check(spec: &MerchantSpec, cx: &CheckCx) -> Vec<Issue> {
        let MerchantSpec { mode: _, timezone, web_url, credentials } = spec;
        let mut issues = Vec::new();
        issues.extend(timezone.as_deref().and_then(|name| zone::issue("spec.timezone", name)));
        issues.extend(web_url.as_deref().and_then(|url| web_url_issue(url, cx)));
        issues.extend(credentials_issues(credentials));
        issues
    }

    fn references(spec: &MerchantSpec, namespace: &Name) -> Vec<Reference> {
        let application = spec.credentials.application.as_deref();
        text::references(&[(APPLICATION, APPLICATION_KIND, application)], namespace)
    }

    fn check_links(
        manifest: &PackedManifest,
        desired: &Desired,
    ) -> Result<Vec<Issue>, serde_json::Error> {
        let application = text::referenced_manifest(manifest, APPLICATION, desired);
        let test = application.filter(|application| application.spec.get("test").is_some());
        let issue = test.map(|application| {
            let message = format!("{} is a test: its code opens no account", application.key);
            let help = "name an application without `test`";
            let (key, there) = (application.key.clone(), "the test is requested here");
            Issue::error("reckon::merchant::test_application", APPLICATION, message, help)
                .with_related(Some(key), "spec.test", there)
        });
        Ok(issue.into_iter().collect())
    }
}

fn web_url_issue(url: &str, cx: &CheckCx) -> Option<Issue> {
    let bare = |url: &str| url.trim_end_matches('/').to_owned();
    if cx.web_urls.iter().any(|known| bare(known) == bare(url)) {
        return None;
    }
    let known: Vec<String> = cx.web_urls.iter().map(|url| format!("`{url}`")).collect();
    let add = "add it to `service.brands` in reckon.yaml";
    let help = if known.is_empty() {
        format!("leave it out, or {add}")
    } else {
        format!("write {}, or {add}", known.join(" or "))
    };
    let message = format!("`{url}` is neither `service.web_url` nor one of `service.brands`");
    Some(Issue::error("reckon::merchant::web_url_unknown", "spec.web_url", message, help))
}

fn credentials_issues(credentials: &CredentialsSpec) -> Vec<Issue> {
    let CredentialsSpec { authorization_code, access_token, application, keys } = credentials;
    let sources = [authorization_code.is_some(), access_token.is_some()];
    let given = sources.into_iter().chain([application.is_some(), keys.is_some()]);
    let mut issues = Vec::new();
    if given.filter(|given| *given).count() != 1 {
        let help = "write one of `authorization_code`, `application`, `access_token` and `keys`";
        let message = "credentials have exactly one source";
        let code = "reckon::merchant::credentials";
        issues.push(Issue::error(code, "spec.credentials", message, help));
    }
    let name = application.as_deref();
    issues.extend(name.and_then(|name| text::reference_issue(APPLICATION, APPLICATION_KIND, name)));
    let code = authorization_code.as_ref();
    issues.extend(code.and_then(|one| one.hidden_issue("spec.credentials.authorization_code")));
    let token = access_token.as_ref();
    issues.extend(token.and_then(|one| one.hidden_issue("spec.credentials.access_token")));
    if let Some(GatewayKeys { public_key, secret_key }) = keys {
        issues.extend(public_key_issue(public_key));
        issues.extend(secret_key.hidden_issue("spec.credentials.keys.secret_key"));
    }
    issues
}

/// Checks the length. The message does not repeat the key: it may be a secret one.
fn public_key_issue(key: &str) -> Option<Issue> {
    let length = key.chars().count();
    (length != PUBLIC_KEY_LENGTH).then(|| {
        let message =
            format!("the public key has {length} characters instead of {PUBLIC_KEY_LENGTH}");
        let help = "copy `public_key` from the account's gateway credentials";
        let path = "spec.credentials.keys.public_key";
        Issue::error("reckon::merchant::public_key_length", path, message, help)
    })
}

//! Rules of the reference for a merchant and its credentials (partner-api, Authentication, Gateway credentials and POST
//! /oauth/token; gateway-api, Authentication).

use crate::rules::complete::COMPLETE;
use crate::rules::table::check;

const GOOD: &str = "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: it}
spec:
  mode: test
  timezone: America/Chicago
  web_url: https://web.example
  credentials:
    authorization_code: {env: CODE_ACME}
";

/// A merchant whose application follows in the same file.
const APPROVED: &str = "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: it}
spec: {mode: test, credentials: {application: it}}
---
";

pub(crate) const RULES: &str = r"
test-mode keys only against test accounts; live-mode keys only against live accounts: one of the two
    - mode: test
    + mode: demo
    = specs/it.yaml:5:9 reckon::spec::unknown_value: unknown value `demo` | write one of `test`, `live`
test-mode or live-mode: it is said
    - mode: test
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `mode` is missing | add `mode`: `test` or `live`: which keys and accounts are used (gateway-api, Authentication)
timezone | string: a zone that exists
    - timezone: America/Chicago
    + timezone: Chicago
    = specs/it.yaml:6:13 reckon::merchant::timezone_unknown: unknown time zone `Chicago` | write an IANA name; the nearest are `America/Chicago`, `Asia/Chita`, `Indian/Chagos`
timezone | string: a list is none
    - timezone: America/Chicago
    + timezone: [America/Chicago]
    = specs/it.yaml:6:13 reckon::spec::wrong_type: expected a text, found a list | write a text
{web_url}: there is one host per product brand
    - web_url: https://web.example
    + web_url: https://elsewhere.example
    = specs/it.yaml:7:12 reckon::merchant::web_url_unknown: `https://elsewhere.example` is neither `service.web_url` nor one of `service.brands` | write `https://web.example`, or add it to `service.brands` in reckon.yaml
{web_url}: a list is none
    - web_url: https://web.example
    + web_url: [https://web.example]
    = specs/it.yaml:7:12 reckon::spec::wrong_type: expected a text, found a list | write a text
Authentication: a credential
    - credentials:\n    authorization_code: {env: CODE_ACME}
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `credentials` is missing | add `credentials`: Exactly one of `authorization_code`, `application`, `access_token` and `keys` (partner-api, Authentication)
Authentication: one credential
    - authorization_code: {env: CODE_ACME}
    + authorization_code: {env: CODE_ACME}\n    access_token: {env: TOKEN}
    = specs/it.yaml:8:3 reckon::merchant::credentials: credentials have exactly one source | write one of `authorization_code`, `application`, `access_token` and `keys`
Authentication: one credential at least
    - credentials:\n    authorization_code: {env: CODE_ACME}
    + credentials: {}
    = specs/it.yaml:8:16 reckon::merchant::credentials: credentials have exactly one source | write one of `authorization_code`, `application`, `access_token` and `keys`
code | string | authorization code delivered after the user authorizes: a secret
    - authorization_code: {env: CODE_ACME}
    + authorization_code: in-the-open
    = specs/it.yaml:9:25 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
code | string: from one place
    - authorization_code: {env: CODE_ACME}
    + authorization_code: {env: CODE_ACME, file: code}
    = specs/it.yaml:9:25 reckon::secret::not_one_source: a secret has exactly one source | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
code | string: a variable has a name
    - authorization_code: {env: CODE_ACME}
    + authorization_code: {env: code acme}
    = specs/it.yaml:9:25 reckon::secret::env_name: invalid name of an environment variable | write capital letters, digits and `_`, such as `{env: CODE_ACME}`
code | string: a file beneath the folder of secrets
    - authorization_code: {env: CODE_ACME}
    + authorization_code: {file: ../code}
    = specs/it.yaml:9:25 reckon::secret::file_name: invalid path of a file in the folder of secrets | write a relative path without `..`, such as `{file: acme/code}`
code | string: a program that the operator declared
    - authorization_code: {env: CODE_ACME}
    + authorization_code: {exec: cat}
    = specs/it.yaml:9:25 reckon::secret::exec_unknown: reckon.yaml declares no program of this name | declare it beneath `secrets` in reckon.yaml: `exec: {NAME: [PROGRAM, ARGUMENT]}`
code | string: a sealed text is whole
    - authorization_code: {env: CODE_ACME}
    + authorization_code: {age: abc}
    = specs/it.yaml:9:25 reckon::secret::age_malformed: the text is not a sealed text | write the whole text that `reckon seal KIND/NAME FIELD` prints, with its first and last line
access_token | string | 64-character alphanumeric: a secret
    - authorization_code: {env: CODE_ACME}
    + access_token: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    = specs/it.yaml:9:19 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
code | delivered in the `merchant.provisioned` event: of an application that is there
    - authorization_code: {env: CODE_ACME}
    + application: harbor
    = specs/it.yaml:9:18 reckon::link::missing: there is no MerchantApplication `harbor` | add a document of kind MerchantApplication with this name, or correct the name
code | delivered in the `merchant.provisioned` event: an application has a name
    - authorization_code: {env: CODE_ACME}
    + application: Harbor Books
    = specs/it.yaml:9:18 reckon::reference::malformed: invalid name of a MerchantApplication: the name `Harbor Books` holds `H` | write lowercase letters, digits, `-` or `.`, such as `harbor-books` (a name, or NAMESPACE/NAME)
public_key | string | 24-character alphanumeric merchant public key
    - authorization_code: {env: CODE_ACME}
    + keys: {public_key: m_1, secret_key: {env: KEY}}
    = specs/it.yaml:9:24 reckon::merchant::public_key_length: the public key has 3 characters instead of 24 | copy `public_key` from the account's gateway credentials
public_key | string: it is written
    - authorization_code: {env: CODE_ACME}
    + keys: {secret_key: {env: KEY}}
    = specs/it.yaml:9:5 reckon::spec::missing_field: the field `public_key` is missing | add `public_key`: The account's public key, 24 characters (partner-api, Account object)
secret_key | string | secret key for the gateway: it is written
    - authorization_code: {env: CODE_ACME}
    + keys: {public_key: m_0123456789012345678901}
    = specs/it.yaml:9:5 reckon::spec::missing_field: the field `secret_key` is missing | add `secret_key`: The account's secret key (partner-api, Account object)
secret keys must never appear in pages or scripts accessible to the public
    - authorization_code: {env: CODE_ACME}
    + keys: {public_key: m_0123456789012345678901, secret_key: in-the-open}
    = specs/it.yaml:9:62 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
name, address, city, state, country, phone | string: the service's own
    + name: Acme
    = specs/it.yaml:10:3 reckon::spec::unknown_field: there is no field `name` here | write one of `mode`, `timezone`, `web_url`, `credentials`
reference_required | boolean: the service's own
    + reference_required: true
    = specs/it.yaml:10:3 reckon::spec::unknown_field: there is no field `reference_required` here | write one of `mode`, `timezone`, `web_url`, `credentials`
";

#[test]
fn what_a_merchant_may_not_say() {
    check(GOOD, RULES);
}

/// Rules of a merchant that an application opens.
pub(crate) const OF_APPLICATIONS: &str = r"
test: validate | a fake code; the code cannot be exchanged for a token
    - submission: complete
    + submission: complete\n  test: validate
    = specs/it.yaml:4:47 reckon::merchant::test_application: MerchantApplication/default/it is a test: its code opens no account | name an application without `test`
test: fail | after a short delay `merchant_application.declined`
    - submission: complete
    + submission: complete\n  test: fail
    = specs/it.yaml:4:47 reckon::merchant::test_application: MerchantApplication/default/it is a test: its code opens no account | name an application without `test`
";

#[test]
fn what_the_application_of_a_merchant_may_not_say() {
    check(&format!("{APPROVED}{COMPLETE}"), OF_APPLICATIONS);
}

use chrono::{Days, NaiveDate, TimeZone};
use proptest::prelude::*;
use serde_json::json;

use super::step::noon;
use crate::kinds::testing::{good, problems};

fn check(spec: &str, expect: &str) {
    assert_eq!(problems("Merchant", spec), expect);
}

#[test]
fn a_rails_style_zone_becomes_an_iana_zone() {
    let spec = "mode: live\ntimezone: Central Time (US & Canada)\nweb_url: https://web.example/\ncredentials: {authorization_code: {env: CODE}}";
    assert_eq!(
        good("Merchant", spec),
        json!({
            "mode": "live",
            "timezone": "America/Chicago",
            "web_url": "https://web.example/",
            "credentials": {"authorization_code": {"env": "CODE"}},
        })
    );
}

#[test]
fn an_unknown_zone_and_host_are_told_with_the_known_ones() {
    check(
        "mode: test\ntimezone: Amercia/Chicago\nweb_url: https://evil.example\ncredentials: {access_token: {file: acme/token}}",
        "reckon::merchant::timezone_unknown @ spec.timezone: unknown time zone `Amercia/Chicago` | write an IANA name; the nearest are `America/Chicago`, `America/Cuiaba`, `America/Curacao`\n\
         reckon::merchant::web_url_unknown @ spec.web_url: `https://evil.example` is neither `service.web_url` nor one of `service.brands` | write `https://web.example`, or add it to `service.brands` in reckon.yaml",
    );
}

#[test]
fn credentials_come_from_exactly_one_place() {
    let expect = "reckon::merchant::credentials @ spec.credentials: credentials have exactly one source | write one of `authorization_code`, `application`, `access_token` and `keys`";
    check("mode: test\ncredentials: {}", expect);
    check(
        "mode: test\ncredentials: {access_token: {env: A}, authorization_code: {env: B}}",
        expect,
    );
}

#[test]
fn a_secret_in_the_open_is_refused_and_not_repeated() {
    check(
        "mode: test\ncredentials: {access_token: canarytoken}",
        "reckon::secret::in_the_open @ spec.credentials.access_token: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`",
    );
    check(
        "mode: test\ncredentials: {keys: {public_key: canarykey, secret_key: canarysecret}}",
        "reckon::merchant::public_key_length @ spec.credentials.keys.public_key: the public key has 9 characters instead of 24 | copy `public_key` from the account's gateway credentials\n\
         reckon::secret::in_the_open @ spec.credentials.keys.secret_key: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`",
    );
}

#[test]
fn a_source_has_one_good_name() {
    let source = |source: &str| {
        problems("Merchant", &format!("mode: test\ncredentials: {{access_token: {source}}}"))
    };
    let env = "reckon::secret::env_name @ spec.credentials.access_token: invalid name of an environment variable | write capital letters, digits and `_`, such as `{env: CODE_ACME}`";
    let file = "reckon::secret::file_name @ spec.credentials.access_token: invalid path of a file in the folder of secrets | write a relative path without `..`, such as `{file: acme/code}`";
    for name in ["code", "1CODE", "''", "A-B"] {
        assert_eq!(source(&format!("{{env: {name}}}")), env, "{name}");
    }
    for name in ["/etc/passwd", "a/../b", "..", "''", "a//b", "'a\\b'"] {
        assert_eq!(source(&format!("{{file: {name}}}")), file, "{name}");
    }
    let several = "reckon::secret::not_one_source @ spec.credentials.access_token: a secret has exactly one source | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`";
    assert_eq!(source("{env: A, file: b}"), several);
    assert_eq!(source("{}"), several);
    assert_eq!(
        source("''"),
        "reckon::secret::empty @ spec.credentials.access_token: the secret is empty | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`"
    );
}

#[test]
fn sources_that_do_not_exist_are_unknown_fields() {
    for name in ["vault", "literally"] {
        check(
            &format!("mode: test\ncredentials: {{access_token: {{{name}: x}}}}"),
            &format!(
                "reckon::spec::unknown_field @ spec.credentials.access_token.{name} (key): there is no field `{name}` here | write one of `env`, `file`, `exec`, `age`"
            ),
        );
    }
}

#[test]
fn a_merchant_has_a_mode() {
    check(
        "credentials: {access_token: {env: A}}",
        "reckon::spec::missing_field @ spec.mode (key): the field `mode` is missing | add `mode`: `test` or `live`: which keys and accounts are used (gateway-api, Authentication)",
    );
    check(
        "mode: tset\ncredentials: {access_token: {env: A}}",
        "reckon::spec::unknown_value @ spec.mode: unknown value `tset` | write `test`",
    );
}

proptest! {
    #[test]
    fn noon_of_a_date_is_on_that_date_in_every_zone_whatever_its_clocks_do(
        zone in prop::sample::select(&chrono_tz::TZ_VARIANTS[..]),
        days in 0_u64..20_000,
    ) {
        let date = NaiveDate::from_ymd_opt(2024, 1, 1).unwrap().checked_add_days(Days::new(days)).unwrap();
        let noon = noon(date, zone.name()).unwrap();
        prop_assert_eq!(zone.from_utc_datetime(&noon.naive_utc()).date_naive(), date);
    }
}

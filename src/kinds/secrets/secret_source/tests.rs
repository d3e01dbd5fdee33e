use super::*;
use crate::kinds::testing::problems;

/// Returns the code of a source's issue, if it has one.
fn wrong(source: &str) -> String {
    let told =
        problems("Merchant", &format!("mode: test\ncredentials: {{access_token: {source}}}"));
    told.split(" @ ").next().unwrap_or_default().to_owned()
}

const SEALED: &str = "-----BEGIN AGE ENCRYPTED FILE-----\\nYWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBhCg==\\n-----END AGE ENCRYPTED FILE-----\\n";

#[test]
fn each_of_the_four_forms_is_good_alone() {
    for form in ["{env: CODE_A}", "{file: acme/code}", "{exec: card-of-jane}"] {
        assert_eq!(wrong(form), "", "{form}");
    }
    assert_eq!(wrong(&format!("{{age: \"{SEALED}\"}}")), "");
}

#[test]
fn what_is_no_name_or_no_sealed_text_has_a_code_of_its_own() {
    for (source, code) in [
        ("{env: a b}", "reckon::secret::env_name"),
        ("{file: ../code}", "reckon::secret::file_name"),
        ("{exec: /usr/bin/vault kv get}", "reckon::secret::exec_name"),
        ("{exec: ''}", "reckon::secret::exec_name"),
        ("{exec: -x}", "reckon::secret::exec_name"),
        ("{age: sk_live_1}", "reckon::secret::age_malformed"),
        ("{age: ''}", "reckon::secret::age_malformed"),
        ("{}", "reckon::secret::not_one_source"),
        ("{env: A, exec: b}", "reckon::secret::not_one_source"),
        ("{exec: b, age: c}", "reckon::secret::not_one_source"),
        ("in-the-open", "reckon::secret::in_the_open"),
    ] {
        assert_eq!(wrong(source), code, "{source}");
    }
}

#[test]
fn an_unknown_form_is_told_with_all_four() {
    let told = problems("Merchant", "mode: test\ncredentials: {access_token: {vault: x}}");
    assert!(told.ends_with("| write one of `env`, `file`, `exec`, `age`"), "{told}");
    let told = problems("Merchant", "mode: test\ncredentials: {access_token: [x]}");
    assert!(told.ends_with(&format!("| write {FORMS}")), "{told}");
}

use serde_json::json;

use crate::kinds::testing::{good, link_problems, manifest, problems};

const GOOD: &str = "merchant: acme\nfirst_name: Jane\nlast_name: Doe\nemail_addresses: [{address: jane@example.com}]";

fn check(spec: &str, expect: &str) {
    assert_eq!(problems("Contact", spec), expect);
}

#[test]
fn a_good_contact_is_its_own_canonical_form() {
    assert_eq!(
        good("Contact", GOOD),
        json!({
            "merchant": "acme",
            "first_name": "Jane",
            "last_name": "Doe",
            "email_addresses": [{"address": "jane@example.com"}],
        })
    );
}

#[test]
fn every_wrong_field_is_told_at_once() {
    check(
        "merchant: Acme_Inc\nfirst_name: ''\nlast_name: ' '\nemail_addresses: [{address: a@b.c}, {address: jane}]\ntest_mode: true",
        "reckon::reference::malformed @ spec.merchant: invalid name of a Merchant: the name `Acme_Inc` holds `A` | write lowercase letters, digits, `-` or `.`, such as `acme-inc` (a name, or NAMESPACE/NAME)\n\
         reckon::text::empty @ spec.first_name: the text is empty | write a text, such as `Jane`\n\
         reckon::text::empty @ spec.last_name: the text is empty | write a text, such as `Doe`\n\
         reckon::text::email @ spec.email_addresses[1].address: the text is not an e-mail address | write one, such as `jane@example.com`\n\
         reckon::spec::refused_field @ spec.test_mode (key): the merchant's mode decides whether a contact is for tests | leave it out, or write `mode` in the merchant",
    );
}

#[test]
fn a_contact_has_an_address() {
    check(
        "merchant: acme\nfirst_name: Jane\nlast_name: Doe\nemail_addresses: []",
        "reckon::contact::no_address @ spec.email_addresses: the service wants an e-mail address | write at least one, such as `[{address: jane@example.com}]`",
    );
}

#[test]
fn keys_alone_make_no_contact() {
    let merchant = manifest(
        "Merchant",
        "acme",
        "mode: test\ncredentials: {keys: {public_key: m_0123456789012345678901, secret_key: {env: KEY}}}",
    );
    assert_eq!(
        link_problems(&[manifest("Contact", "jane", GOOD), merchant]),
        "reckon::reference::keys_alone @ spec.merchant: a contact needs an access token, and Merchant/default/acme has only gateway keys | give the merchant an `authorization_code` or an `access_token`\n  \
         Merchant/default/acme spec.credentials.keys: the gateway accepts these keys, the partner interface does not"
    );
    let merchant =
        manifest("Merchant", "acme", "mode: test\ncredentials: {access_token: {env: TOKEN}}");
    assert_eq!(link_problems(&[manifest("Contact", "jane", GOOD), merchant]), "");
}

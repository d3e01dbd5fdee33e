//! Laws of the addresses: two resources never share one, and an address that was handed out stays
//! valid.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const KEY: [u8; 32] = [3; 32];

fn ours() -> PublicRoutes {
    PublicRoutes::new(&KEY)
}

/// Generates short names of few letters, so that many pairs differ only in where one part ends.
fn name() -> impl Strategy<Value = String> {
    "[a0]([a0.-]{0,4}[a0])?"
}

fn key(kind: &str, (namespace, name): (&str, &str)) -> Key {
    format!("{kind}/{namespace}/{name}").parse().unwrap()
}

fn intake_link(key: Key, generation: u32, replaces: Option<&str>, until: i64) -> IntakeLink {
    let terms = IntakeTerms { generation, replaces: replaces.map(str::to_owned) };
    IntakeLink { key, terms, until: DateTime::from_timestamp(until, 0).unwrap() }
}

/// Returns every address that names a resource, of these parts.
fn addresses(names: (&str, &str), number: u32, live: bool) -> Vec<String> {
    let mode = if live { Mode::Live } else { Mode::Test };
    let method = key("SavedMethod", names);
    let replaces = live.then_some("0123456789ab");
    vec![
        ours().gateway_url("", &key("Merchant", names), mode, number),
        ours().apply_url("", &key("MerchantApplication", names)),
        ours().intake_url("", &intake_link(method, number, replaces, i64::from(number))),
    ]
}

proptest! {
    /// Closes S3: whatever two resources are called, no address of the one is an address of the
    /// other.
    #[test]
    fn two_resources_never_share_an_address(parts in vec((name(), name()), 2..6), number in 0_u32..3, live: bool) {
        for one in &parts {
            for other in parts.iter().filter(|other| *other != one) {
                let of = |(namespace, name): &(String, String)| addresses((namespace, name), number, live);
                for (one, other) in of(one).iter().zip(of(other)) {
                    let signature = |address: &str| address.rsplit_once(SEPARATOR).unwrap().1.to_owned();
                    prop_assert_ne!(one, &other);
                    prop_assert_ne!(signature(one), signature(&other));
                }
            }
        }
    }

    #[test]
    fn an_address_names_what_it_was_made_for(
        namespace in name(), name in name(), generation: u32, live: bool, until in 0_i64..=9_999_999_999,
        replaces in proptest::option::of("[0-9a-f_.-]{1,12}"),
    ) {
        let names = (namespace.as_str(), name.as_str());
        let mode = if live { Mode::Live } else { Mode::Test };
        let merchant = key("Merchant", names);
        let url = ours().gateway_url("https://a.example/", &merchant, mode, generation);
        let token = url.strip_prefix("https://a.example/webhooks/gateway/").unwrap();
        let opened = ours().verify_gateway_url(token).unwrap();
        prop_assert_eq!((opened.candidates, opened.terms), (vec![merchant], (mode, generation)));

        let application = key("MerchantApplication", names);
        let url = ours().apply_url("", &application);
        let opened = ours().verify_apply_url(url.strip_prefix("/apply/").unwrap()).unwrap();
        prop_assert_eq!(opened.candidates, vec![application]);

        let link = intake_link(key("SavedMethod", names), generation, replaces.as_deref(), until);
        let url = ours().intake_url("", &link);
        let opened = ours().verify_intake_url(url.strip_prefix("/intake/").unwrap()).unwrap();
        prop_assert_eq!((opened.candidates, opened.terms), (vec![link.key], (link.terms, link.until)));
    }
}

/// Returns an address of the older form: parts joined by dots, and a signature.
fn older(label: &str, text: &str) -> String {
    format!("{text}.{}", ours().signature(label, text, SIGNATURE_LENGTH))
}

#[test]
fn an_older_address_stays_good_and_names_every_resource_that_it_can_mean() {
    // As they were handed out, byte for byte.
    let given = "default.acme.test.20a8219784a6c662f65c74b2c71d36a5";
    assert_eq!(older("gateway-token", "default.acme.test"), given);
    let opened = ours().verify_gateway_url(given).unwrap();
    assert_eq!(opened.candidates, [key("Merchant", ("default", "acme"))]);
    assert_eq!(opened.terms, (Mode::Test, 0));
    let opened = ours().verify_gateway_url(&older("gateway-token", "a.b.acme.live.7")).unwrap();
    assert_eq!(
        opened.candidates,
        [key("Merchant", ("a", "b.acme")), key("Merchant", ("a.b", "acme"))]
    );
    assert_eq!(opened.terms, (Mode::Live, 7));
    let opened = ours().verify_apply_url(&older("apply-link", "default.harbor")).unwrap();
    assert_eq!(opened.candidates, [key("MerchantApplication", ("default", "harbor"))]);
    let opened =
        ours().verify_intake_url(&older("intake-link", "a.b.c.2-0123456789ab.1796169600")).unwrap();
    assert_eq!(
        opened.candidates,
        [key("SavedMethod", ("a", "b.c")), key("SavedMethod", ("a.b", "c"))]
    );
    let (terms, until) = opened.terms;
    let wanted = IntakeTerms { generation: 2, replaces: Some("0123456789ab".to_owned()) };
    assert_eq!((terms, until.timestamp()), (wanted, 1_796_169_600));
}

#[test]
fn a_signature_of_one_sort_or_form_opens_nothing_of_another() {
    let link = ours().apply_url("", &key("MerchantApplication", ("default", "jane")));
    let link = link.strip_prefix("/apply/").unwrap();
    assert!(ours().verify_intake_url(link).is_none() && ours().verify_gateway_url(link).is_none());
    let (text, code) = link.rsplit_once(SEPARATOR).unwrap();
    for forged in [format!("{}.{code}", text.replace('_', ".")), format!("default_john_{code}")] {
        assert!(ours().verify_apply_url(&forged).is_none(), "{forged}");
    }
}

//! Laws of marks, digests and canonical JSON.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn source(generation: u32) -> SourceId {
    SourceId::new("acme", &"Invoice/default/jane".parse().unwrap(), generation)
}

#[test]
fn a_source_id_grows_a_suffix_with_a_deliberate_replacement_only() {
    assert_eq!(source(0).as_str(), "acme:Invoice/default/jane");
    assert_eq!(source(2).as_str(), "acme:Invoice/default/jane;r2");
    assert_ne!(source(0).mark(), source(1).mark());
}

/// S3: marks on the service are recognised for ever.
#[test]
fn names_and_marks_on_the_service_never_change() {
    let of = |key: &str, generation| SourceId::new("acme", &key.parse().unwrap(), generation);
    for (key, generation, source_id, mark) in [
        ("Invoice/default/jane", 0, "acme:Invoice/default/jane", "rkqiqg3nzsppv7qdefd6qfdzwbce"),
        ("SavedMethod/a.b/c", 2, "acme:SavedMethod/a.b/c;r2", "rkvyz3pqdh7mba6tgzfq5ljxronu"),
        ("SavedMethod/a/b.c", 2, "acme:SavedMethod/a/b.c;r2", "rkxzj3ozpv7l7vp3nf55xtwdvt6i"),
    ] {
        let found = of(key, generation);
        assert_eq!((found.as_str(), found.mark().as_str()), (source_id, mark));
    }
}

proptest! {
    /// Closes S3 for names and marks: two required effects never share one.
    #[test]
    fn two_obligations_never_share_a_name(
        parts in proptest::collection::vec(("[AB]", "[a0]([a0.-]{0,3}[a0])?", "[a0]([a0.-]{0,3}[a0])?", 0_u32..12), 2..6)
    ) {
        let of = |(kind, namespace, name, generation): &(String, String, String, u32)| {
            SourceId::new("acme", &format!("{kind}/{namespace}/{name}").parse().unwrap(), *generation)
        };
        for one in &parts {
            for other in parts.iter().filter(|other| *other != one) {
                prop_assert_ne!(of(one), of(other));
                prop_assert_ne!(of(one).mark(), of(other).mark());
            }
        }
    }
}

#[test]
fn a_mark_is_rk_and_the_first_128_bits_of_the_hash() {
    let mark = source(0).mark();
    assert_eq!(mark.as_str().len(), MARK_LENGTH);
    let code = mark.as_str().strip_prefix("rk").unwrap().to_uppercase();
    let hash = sha256(b"acme:Invoice/default/jane");
    assert_eq!(BASE32_NOPAD.decode(code.as_bytes()).unwrap(), hash.as_bytes()[..16]);
    assert_eq!(Mark::parse(mark.as_str()), Some(mark));
}

#[test]
fn what_is_almost_a_mark_is_none() {
    let mark = source(0).mark().to_string();
    let stray_bits = format!("rk{}b", "a".repeat(25));
    for bad in [&mark.to_uppercase(), &mark[1..], &format!("{mark}a"), &stray_bits, "", "rk"] {
        assert_eq!(Mark::parse(bad), None, "{bad}");
        assert!(serde_json::from_value::<Mark>(json!(bad)).is_err());
    }
}

#[test]
fn only_a_mark_in_brackets_at_the_end_is_found_and_stripped() {
    let mark = source(0).mark();
    for text in [format!("{mark}"), format!("x[{mark}]"), format!("[{mark}] x"), "[x]".into()] {
        assert_eq!(Mark::find_in(&text), None, "{text}");
        assert_eq!(Mark::strip_tag(&text), text);
    }
    assert_eq!(Mark::find_in(&format!("Rent [{mark}] \n")), Some(mark.clone()));
    assert_eq!(mark.tag(""), format!("[{mark}]"));
}

#[test]
fn known_answers_of_sha256_and_of_the_keyed_digest() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(sha256(b"").to_string(), empty);
    assert_eq!(sha256(b"").short(), "e3b0c44298fc");
    // Computed with another implementation: the label's length as 8 bytes, the label, the data.
    let expect = "63ba637f9c606d7f5193a2d4baa1d03d1b350d6972f8c3d400c615303094cc9f";
    assert_eq!(keyed_digest(&[7; 32], "card", b"4242").to_string(), expect);
}

#[test]
fn a_keyed_digest_depends_on_key_label_and_data_and_on_where_they_meet() {
    let base = keyed_digest(&[1; 32], "ab", b"c");
    assert!(base.matches(&keyed_digest(&[1; 32], "ab", b"c")));
    for other in
        [keyed_digest(&[2; 32], "ab", b"c"), keyed_digest(&[1; 32], "a", b"bc"), sha256(b"abc")]
    {
        assert!(!base.matches(&other));
    }
}

#[test]
fn a_digest_is_hex_in_json_and_is_checked_on_the_way_in() {
    let digest = sha256(b"x");
    let json = serde_json::to_string(&digest).unwrap();
    assert_eq!(json, format!("\"{digest}\""));
    assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
    assert!(digest.to_string().to_uppercase().parse::<Digest>().is_err());
    assert!("00".parse::<Digest>().is_err());
}

#[test]
fn canonical_json_sorts_keys_by_bytes_at_every_depth() {
    let value = json!({"b": [1, {"z": null, "a": "é\n"}], "B": {}, "a": [], "é": true});
    let text = String::from_utf8(canonical(&value)).unwrap();
    assert_eq!(text, r#"{"B":{},"a":[],"b":[1,{"a":"é\n","z":null}],"é":true}"#);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,3}", inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().rev().map(|(k, v)| (k.clone(), reversed(v))).collect())
        }
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

proptest! {
    #[test]
    fn canonical_json_keeps_the_value_and_forgets_the_order(value in any_json()) {
        let bytes = canonical(&value);
        prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), value.clone());
        prop_assert_eq!(canonical(&reversed(&value)), bytes);
    }

    #[test]
    fn stripping_a_tagged_text_gives_the_text_back(text in "\\PC{0,40}") {
        let mark = source(0).mark();
        let tagged = mark.tag(&text);
        prop_assert_eq!(Mark::find_in(&tagged), Some(mark));
        prop_assert_eq!(Mark::strip_tag(&tagged), text);
    }
}

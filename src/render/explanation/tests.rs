use serde_json::{Value, json};

use super::*;

#[test]
fn what_is_printed_can_be_pasted() {
    let yaml =
        sealed_yaml("SavedMethod/default/jane/source.card.number", "source.card.number", "a\nb\n");
    let read: Value = serde_yaml::from_str(&yaml).unwrap();
    assert_eq!(read, json!({"number": {"age": "a\nb\n"}}));
    assert!(yaml.starts_with(
        "# opens in spec.source.card.number of SavedMethod/default/jane, and nowhere else\n"
    ));
}

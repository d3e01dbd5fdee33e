//! Renders a sealed secret as YAML to paste into its document.

/// Renders the lines that replace the field. `place` is the document and field of the text, and
/// `field` is the path below `spec`.
pub fn sealed_yaml(place: &str, field: &str, armored: &str) -> String {
    let key = field.rsplit('.').next().unwrap_or(field);
    let document = place.strip_suffix(field).unwrap_or(place).trim_end_matches('/');
    let lines: Vec<String> = armored.lines().map(|line| format!("    {line}\n")).collect();
    let lines = lines.concat();
    format!("# opens in spec.{field} of {document}, and nowhere else\n{key}:\n  age: |\n{lines}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_printed_can_be_pasted() {
        let yaml = super::sealed_yaml(
            "SavedMethod/default/jane/source.card.number",
            "source.card.number",
            "a\nb\n",
        );
        let read: serde_json::Value = serde_yaml::from_str(&yaml).unwrap();
        assert_eq!(read, serde_json::json!({"number": {"age": "a\nb\n"}}));
        assert!(yaml.starts_with(
            "# opens in spec.source.card.number of SavedMethod/default/jane, and nowhere else\n"
        ));
    }
}

//! Rendering of every output; no other module renders.

pub mod actions;
pub mod approvals;
pub mod diagnostic;
pub mod document_template;
pub mod effects;
pub mod events;
pub mod explanation;
pub mod hooks;
pub mod intents;
pub mod log;
pub mod metrics;
pub mod overview;
pub mod page;
pub mod plan;
pub mod progress;
/// Pages of `docs/reference`, made from the tables that the program itself uses.
pub mod reference {
    pub mod configuration;
    pub mod event_types;
    pub mod kinds;
    mod tables;
}
/// Findings of files and plans for the programs that show them beside a change.
pub mod reports {
    pub mod annotations;
    pub mod findings;
    mod fingerprint;
    pub mod junit;
    pub mod sarif;
    #[cfg(test)]
    mod tests;
}
pub mod resource;
pub mod status;
mod table;
pub mod waiting;
pub mod why;
pub mod words;

use serde::Serialize;

/// Renders a value for programs, as indented JSON.
pub fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|error| unserialisable(&error.to_string()))
}

/// Renders a value for programs, as JSON in one line.
pub fn json_line<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| unserialisable(&error.to_string()))
}

/// Renders a value for programs, as YAML.
pub fn yaml<T: Serialize + ?Sized>(value: &T) -> String {
    serde_yaml::to_string(value).unwrap_or_else(|error| unserialisable(&error.to_string()))
}

/// Renders the replacement for a value that cannot be serialised, valid as JSON and as YAML: none of
/// ours fails.
fn unserialisable(why: &str) -> String {
    serde_json::json!({ "error": { "code": "our_mistake", "message": why } }).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn programs_read_back_what_was_rendered() {
        let value = json!({ "items": [{ "name": "jané\u{1b}[31m", "ready": true }], "n": 1 });
        let from_json: serde_json::Value = serde_json::from_str(&super::json(&value)).unwrap();
        let from_yaml: serde_json::Value = serde_yaml::from_str(&super::yaml(&value)).unwrap();
        assert_eq!((&from_json, &from_yaml), (&value, &value));
        assert!(!super::json(&value).contains('\u{1b}'));
        assert!(!super::yaml(&value).contains('\u{1b}'));
    }
}

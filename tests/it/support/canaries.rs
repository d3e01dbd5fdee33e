//! Searches files and texts for planted values, in every form in which a value could leak.

use std::collections::BTreeMap;
use std::path::Path;

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, Encoding, HEXLOWER, HEXUPPER};

/// Planted values by name. A finding names the canary and its form, never the value.
#[derive(Default)]
pub(crate) struct Canaries {
    forms: BTreeMap<String, Vec<(String, String)>>,
}

impl Canaries {
    /// Plants a value. A value of less than eight characters would be found by chance.
    pub(crate) fn plant(&mut self, name: &str, value: &str) {
        assert!(value.len() >= 8, "{name} is too short to search for");
        self.forms.insert(name.to_owned(), forms(value));
    }

    /// Returns every canary in these bytes.
    pub(crate) fn in_bytes(&self, place: &str, bytes: &[u8]) -> Vec<String> {
        let text = String::from_utf8_lossy(bytes);
        let mut found = Vec::new();
        for (name, forms) in &self.forms {
            let shown = forms.iter().filter(|(_, form)| text.contains(form.as_str()));
            found.extend(shown.map(|(how, _)| format!("{place} shows {name} ({how})")));
        }
        found
    }

    /// Returns every canary in the files of a folder, or in their names.
    pub(crate) fn in_folder(&self, folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in walkdir::WalkDir::new(folder) {
            let entry = entry.expect("the folder can be listed");
            let place = entry.path().display().to_string();
            found.extend(self.in_bytes(&place, place.as_bytes()));
            if entry.file_type().is_file() {
                let bytes = std::fs::read(entry.path()).expect("the file can be read");
                found.extend(self.in_bytes(&place, &bytes));
            }
        }
        found
    }
}

/// Returns the forms of a value, each with its name.
fn forms(value: &str) -> Vec<(String, String)> {
    let bytes = value.as_bytes();
    let listed: Vec<String> = bytes.iter().map(u8::to_string).collect();
    let escaped = |digits: &Encoding| {
        let escape = |byte: &u8| format!("\\u00{}", digits.encode(&[*byte]));
        bytes.iter().map(escape).collect::<Vec<_>>().concat()
    };
    let percent: Vec<String> = bytes.iter().map(|byte| format!("%{byte:02X}")).collect();
    let json = serde_json::to_string(value).expect("a text serialises as JSON");
    let mut forms = vec![
        ("plain".to_owned(), value.to_owned()),
        ("JSON".to_owned(), json.trim_matches('"').to_owned()),
        ("escaped JSON".to_owned(), escaped(&HEXLOWER)),
        ("ESCAPED JSON".to_owned(), escaped(&HEXUPPER)),
        ("hex".to_owned(), HEXLOWER.encode(bytes)),
        ("HEX".to_owned(), HEXUPPER.encode(bytes)),
        ("percent".to_owned(), percent.concat()),
        ("list of bytes".to_owned(), listed.join(", ")),
    ];
    for before in 0..3 {
        forms.push((format!("base64 after {before}"), base64(&BASE64_NOPAD, bytes, before)));
        forms.push((format!("base64url after {before}"), base64(&BASE64URL_NOPAD, bytes, before)));
    }
    forms
}

/// Returns the characters of a longer base64 text that depend on the value alone, with this number of bytes before it.
fn base64(encoding: &Encoding, value: &[u8], before: usize) -> String {
    let bytes = [&vec![0; before], value].concat();
    let text = encoding.encode(&bytes);
    let whole = bytes.len() * 8 / 6;
    let first = (before * 8).div_ceil(6);
    text[first..whole].to_owned()
}

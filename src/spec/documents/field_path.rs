//! A field of a kind as people name it: `schedule.start`, `spec.schedule.start`,
//! `line_items[0].description`.

use crate::base::wording;
use crate::kinds::schema::kind::{Privacy, SpecField};

/// Returns the path without `spec.` at its beginning.
pub fn below_spec(text: &str) -> &str {
    match text.strip_prefix("spec") {
        Some("") => "",
        Some(rest) => rest.strip_prefix('.').unwrap_or(text),
        None => text,
    }
}

/// Returns the path in the form of the tables: any index of a sequence is `[]`.
pub fn table_path(text: &str) -> String {
    let mut pieces = below_spec(text).split('[');
    let mut pattern = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        pattern.push('[');
        pattern.extend(piece.chars().skip_while(char::is_ascii_digit));
    }
    pattern
}

/// Returns the path without any index of a sequence, the form that people write to ask for a
/// field's meaning.
fn without_indices(path: &str) -> String {
    table_path(path).replace("[]", "")
}

/// Finds the field that a person names.
///
/// # Errors
/// The text to write instead.
pub fn find<'a>(fields: &'a [SpecField], text: &str) -> Result<&'a SpecField, String> {
    let asked = without_indices(text);
    let found = fields.iter().find(|field| without_indices(field.path) == asked);
    found.ok_or_else(|| {
        wording::suggestion_help(&asked, sibling_paths(fields, &asked).iter().map(String::as_str))
    })
}

/// Returns the siblings of the requested field: those beneath its nearest existing parent.
fn sibling_paths(fields: &[SpecField], asked: &str) -> Vec<String> {
    let all: Vec<String> = fields.iter().map(|field| without_indices(field.path)).collect();
    let mut parents = asked.match_indices('.').filter_map(|(at, _)| asked.get(..at));
    let parent = parents.rfind(|parent| all.iter().any(|path| path == parent));
    let beneath = |path: &String| match parent {
        Some(parent) => path
            .strip_prefix(parent)
            .is_some_and(|rest| rest.starts_with('.') && is_single_name(rest)),
        None => !path.contains('.'),
    };
    all.iter().filter(|path| beneath(path)).cloned().collect()
}

/// Returns whether the rest is one `.name`, without anything beneath it.
fn is_single_name(rest: &str) -> bool {
    rest.matches('.').count() == 1
}

/// Finds the one place of a secret that a person names: by its whole path, or by its last word
/// where only one secret has it.
///
/// # Errors
/// The text to write instead.
pub fn secret_place(fields: &[SpecField], text: &str) -> Result<String, String> {
    let secret = || fields.iter().filter(|field| field.privacy == Privacy::Secret);
    let place = below_spec(text);
    if secret().any(|field| field.path == table_path(place) && !place.contains("[]")) {
        return Ok(place.to_owned());
    }
    let last = |path: &'static str| path.rsplit('.').next() == Some(place);
    let named: Vec<_> = secret().filter(|field| last(field.path)).collect();
    if let [only] = named.as_slice()
        && !only.path.contains("[]")
    {
        return Ok(only.path.to_owned());
    }
    let items = secret().map(|field| field.path.replace("[]", "[0]"));
    let items: Vec<String> = items.collect();
    Err(match items.as_slice() {
        [] => "this kind has no secret field".to_owned(),
        items => wording::suggestion_help(place, items.iter().map(String::as_str)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::schema::kind::Mutability;

    const fn field(path: &'static str, privacy: Privacy) -> SpecField {
        SpecField { path, privacy, mutability: Mutability::Immutable, doc: "" }
    }

    const FIELDS: &[SpecField] = &[
        field("merchant", Privacy::Plain),
        field("source", Privacy::Plain),
        field("source.number", Privacy::Secret),
        field("lines", Privacy::Plain),
        field("lines[].text", Privacy::Plain),
        field("lines[].number", Privacy::Secret),
        field("birth_date", Privacy::Secret),
    ];

    #[test]
    fn a_field_is_found_however_it_is_written() {
        for text in ["lines.text", "lines[].text", "spec.lines[3].text"] {
            assert_eq!(find(FIELDS, text).unwrap().path, "lines[].text", "{text}");
        }
        assert_eq!(find(FIELDS, "lines.txt").unwrap_err(), "did you mean `lines.text`?");
        assert_eq!(find(FIELDS, "merchnt").unwrap_err(), "did you mean `merchant`?");
        assert_eq!(
            find(FIELDS, "lines.zzz").unwrap_err(),
            "write one of `lines.text` or `lines.number`"
        );
        assert_eq!(
            find(FIELDS, "zzz").unwrap_err(),
            "write one of `merchant`, `source`, `lines` or `birth_date`"
        );
    }

    #[test]
    fn a_secret_has_one_place() {
        for (text, place) in [
            ("source.number", "source.number"),
            ("spec.source.number", "source.number"),
            ("lines[2].number", "lines[2].number"),
            ("birth_date", "birth_date"),
        ] {
            assert_eq!(secret_place(FIELDS, text).as_deref(), Ok(place), "{text}");
        }
        for text in ["number", "lines.number", "lines[].number", "merchant", "source", ""] {
            assert!(secret_place(FIELDS, text).is_err(), "{text}");
        }
        assert_eq!(secret_place(&FIELDS[1..3], "number").as_deref(), Ok("source.number"));
        assert_eq!(secret_place(FIELDS, "birthdate").unwrap_err(), "did you mean `birth_date`?");
    }
}

//! The annotations under `reckon.dev/` (design.md part 4).

use std::collections::BTreeMap;

use crate::base::id::{Key, Kind, Name, RemoteId};
use crate::base::wording;
use crate::kinds::register::KINDS;
use crate::kinds::row::KindRow;
use crate::model::issue::{Issue, Path};
use crate::model::manifest::{Annotations, Deletion, OnDoubt};

const PREFIX: &str = "reckon.dev/";
/// The names of the annotations, without the prefix.
pub const ANNOTATION_NAMES: [&str; 8] = [
    "suspend",
    "deletion",
    "generation",
    "depends-on",
    "on-doubt",
    "ignore-drift",
    "moved-from",
    "adopts",
];

fn kinds_with(property: fn(&KindRow) -> bool) -> Vec<&'static str> {
    KINDS.iter().filter(|row| property(row)).map(|row| row.name).collect()
}

/// Reads the annotations under our prefix; `kind` is `None` where it is unknown.
pub(crate) fn read(
    texts: &BTreeMap<String, String>,
    kind: Option<&str>,
    namespace: &Name,
) -> (Annotations, Vec<Issue>) {
    let mut annotations = Annotations::default();
    let mut issues = Vec::new();
    for (key, value) in texts {
        if let Some(word) = key.strip_prefix(PREFIX)
            && let Err(wrong) = set(&mut annotations, word, value, kind, namespace)
        {
            issues.push(wrong.issue(key));
        }
    }
    (annotations, issues)
}

struct AnnotationError {
    code: &'static str,
    message: String,
    help: String,
    at_key: bool,
}

impl AnnotationError {
    fn value(message: impl Into<String>, help: impl Into<String>) -> Self {
        let code = "reckon::header::annotation_value";
        Self { code, message: message.into(), help: help.into(), at_key: false }
    }

    fn key(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into(), at_key: true }
    }

    fn issue(self, key: &str) -> Issue {
        let Self { code, message, help, at_key } = self;
        let path = Path::parse("metadata.annotations").key(key);
        let issue = Issue { path, ..Issue::error(code, "", message, help) };
        if at_key { issue.underline_key() } else { issue }
    }
}

fn set(
    annotations: &mut Annotations,
    word: &str,
    value: &str,
    kind: Option<&str>,
    namespace: &Name,
) -> Result<(), AnnotationError> {
    match word {
        "suspend" => annotations.suspend = suspend(value)?,
        "deletion" => annotations.deletion = deletion(value, kind)?,
        "generation" => annotations.generation = generation(value)?,
        "depends-on" => annotations.depends_on = depends_on(value, namespace)?,
        "ignore-drift" => annotations.ignore_drift = ignore_drift(value)?,
        "on-doubt" => annotations.on_doubt = Some(on_doubt(value, kind)?),
        "moved-from" => annotations.moved_from = moved_from(value, kind, namespace)?,
        "adopts" => annotations.adopts = Some(adopts(value, kind)?),
        _ => {
            return Err(AnnotationError::key(
                "reckon::header::unknown_annotation",
                format!("unknown annotation `{PREFIX}{word}`"),
                wording::suggestion_help(word, ANNOTATION_NAMES)
                    .replace("mean `", "mean `reckon.dev/"),
            ));
        }
    }
    Ok(())
}

fn suspend(value: &str) -> Result<bool, AnnotationError> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(AnnotationError::value(
            format!("`{value}` is neither true nor false"),
            "write `\"true\"`",
        )),
    }
}

fn deletion(value: &str, kind: Option<&str>) -> Result<Deletion, AnnotationError> {
    let deletable = kinds_with(|row| row.is_deletable);
    match value {
        "orphan" => Ok(Deletion::Orphan),
        "delete" if kind.is_none_or(|kind| deletable.contains(&kind)) => Ok(Deletion::Delete),
        "delete" => Err(AnnotationError::value(
            format!("the service cannot remove a {}", kind.unwrap_or_default()),
            format!("write `orphan`; only these can be removed: {}", deletable.join(", ")),
        )),
        _ => Err(AnnotationError::value(
            format!("unknown deletion policy `{value}`"),
            wording::suggestion_help(value, ["orphan", "delete"]),
        )),
    }
}

/// Parses `true` for every field, or paths below `spec`.
fn ignore_drift(value: &str) -> Result<Box<[String]>, AnnotationError> {
    let words = value.split([',', ' ', '\n']).filter(|word| !word.is_empty());
    let paths: Box<[String]> = match value.trim() {
        "true" => Box::new(["*".to_owned()]),
        "false" => Box::default(),
        _ => words.map(|word| word.trim_start_matches("spec.").to_owned()).collect(),
    };
    let is_path = |path: &String| {
        path == "*" || path.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c))
    };
    match paths.iter().find(|path| !is_path(path)) {
        None => Ok(paths),
        Some(wrong) => Err(AnnotationError::value(
            format!("`{wrong}` is not the path of a field"),
            "write `\"true\"` for all of them, or paths below spec such as `amount, schedule.end`",
        )),
    }
}

fn generation(value: &str) -> Result<u32, AnnotationError> {
    let wrong = |_| {
        AnnotationError::value(
            format!("`{value}` is not a whole number"),
            "write `\"1\"`, `\"2\"` …",
        )
    };
    value.parse().map_err(wrong)
}

fn depends_on(value: &str, namespace: &Name) -> Result<Vec<Key>, AnnotationError> {
    value
        .split([',', ' ', '\n'])
        .filter(|word| !word.is_empty())
        .map(|word| parse_dependency(word, namespace))
        .collect()
}

fn parse_dependency(word: &str, namespace: &Name) -> Result<Key, AnnotationError> {
    let help = "write `Kind/name` or `Kind/namespace/name`, with commas between several";
    let key: Key = word.parse().map_err(|_| {
        AnnotationError::value(format!("`{word}` is not the name of a resource"), help)
    })?;
    let own_namespace = word.matches('/').count() == 1;
    Ok(if own_namespace { Key::new(key.kind.clone(), namespace, &key.name) } else { key })
}

fn moved_from(
    value: &str,
    kind: Option<&str>,
    namespace: &Name,
) -> Result<Option<Key>, AnnotationError> {
    let help = "write the former name, `NAME` or `NAMESPACE/NAME`, without its kind";
    let wrong = || AnnotationError::value(format!("`{value}` is not the name of a resource"), help);
    let (namespace, name) = match value.split_once('/') {
        Some((namespace, name)) => (namespace.parse().map_err(|_| wrong())?, name),
        None => (namespace.clone(), value),
    };
    let name: Name = name.parse().map_err(|_| wrong())?;
    Ok(kind.map(|kind| Key::new(Kind::new(kind), &namespace, &name)))
}

fn adopts(value: &str, kind: Option<&str>) -> Result<RemoteId, AnnotationError> {
    let adoptable = kinds_with(|row| row.is_adoptable);
    if kind.is_some_and(|kind| !adoptable.contains(&kind)) {
        return Err(AnnotationError::key(
            "reckon::header::annotation_kind",
            format!("a {} cannot adopt an object", kind.unwrap_or_default()),
            format!("remove the annotation; only these adopt objects: {}", adoptable.join(", ")),
        ));
    }
    let wrong = |_| {
        AnnotationError::value(
            format!("`{value}` is not an id of the service"),
            "write the object's id",
        )
    };
    RemoteId::new(value).map_err(wrong)
}

fn on_doubt(value: &str, kind: Option<&str>) -> Result<OnDoubt, AnnotationError> {
    let doubtful = kinds_with(|row| row.has_doubtful_creation);
    if kind.is_some_and(|kind| !doubtful.contains(&kind)) {
        return Err(AnnotationError::key(
            "reckon::header::annotation_kind",
            format!("the annotation does not apply to a {}", kind.unwrap_or_default()),
            format!(
                "remove the annotation; only the creation of a {} cannot be proved",
                doubtful.join(", ")
            ),
        ));
    }
    match value {
        "recreate" => Ok(OnDoubt::Recreate),
        "hold" => Ok(OnDoubt::Hold),
        _ => Err(AnnotationError::value(
            format!("unknown value `{value}`"),
            wording::suggestion_help(value, ["recreate", "hold"]),
        )),
    }
}

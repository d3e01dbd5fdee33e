//! Cases: one field of one kind, its first value, its second value, and the effect of the edit.

use reckon::kinds::schema::kind::Mutability;
use serde_json::{Map, Value, json};

/// Effect of an edited field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// Changes the object in place.
    InPlace,
    /// Changes the object by a fresh one-time token.
    ByToken,
    /// The plan reports at the field's line that the service cannot change it.
    Never,
    /// Needs no change at the service.
    Local,
    /// The field can change, but not to this value.
    Unfit,
    /// Only one value is possible; writing it is no change.
    Fixed,
}

impl Does {
    /// Returns the mutability that the kind's table must have for such a field.
    pub(crate) fn change(self) -> Option<Mutability> {
        match self {
            Self::InPlace => Some(Mutability::InPlace),
            Self::ByToken => Some(Mutability::ReplaceByToken),
            Self::Never => Some(Mutability::Immutable),
            Self::Local => Some(Mutability::LocalOnly),
            Self::Unfit | Self::Fixed => None,
        }
    }

    /// Returns true if the edit changes the object at the service.
    pub(crate) fn arrives(self) -> bool {
        matches!(self, Self::InPlace | Self::ByToken)
    }

    /// Returns true if the edit stays in the plan.
    pub(crate) fn stays(self) -> bool {
        matches!(self, Self::Never | Self::Unfit)
    }
}

/// Fields and their values in YAML; `~` removes a field.
type Put = &'static [(&'static str, &'static str)];

/// An edit of one field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    /// Path of the field, as the schema's walk writes it.
    pub(crate) path: &'static str,
    first: &'static str,
    second: &'static str,
    pub(crate) does: Does,
    base: Option<&'static str>,
    with: Put,
    also: Put,
}

const fn case(does: Does, path: &'static str, first: &'static str, second: &'static str) -> Case {
    Case { path, first, second, does, base: None, with: &[], also: &[] }
}

pub(crate) const fn in_place(
    path: &'static str,
    first: &'static str,
    second: &'static str,
) -> Case {
    case(Does::InPlace, path, first, second)
}

pub(crate) const fn by_token(
    path: &'static str,
    first: &'static str,
    second: &'static str,
) -> Case {
    case(Does::ByToken, path, first, second)
}

pub(crate) const fn never(path: &'static str, first: &'static str, second: &'static str) -> Case {
    case(Does::Never, path, first, second)
}

pub(crate) const fn local(path: &'static str, first: &'static str, second: &'static str) -> Case {
    case(Does::Local, path, first, second)
}

pub(crate) const fn unfit(path: &'static str, first: &'static str, second: &'static str) -> Case {
    case(Does::Unfit, path, first, second)
}

pub(crate) const fn fixed(path: &'static str, only: &'static str) -> Case {
    case(Does::Fixed, path, "~", only)
}

impl Case {
    /// Uses another document than the table's.
    pub(crate) const fn on(self, base: &'static str) -> Self {
        Self { base: Some(base), ..self }
    }

    /// Adds these fields to the document from the beginning.
    pub(crate) const fn with(self, with: Put) -> Self {
        Self { with, ..self }
    }

    /// Edits these fields together with the case's field.
    pub(crate) const fn also(self, also: Put) -> Self {
        Self { also, ..self }
    }

    /// Returns the document's spec, as first applied or as edited.
    pub(crate) fn spec(&self, table: &Table, is_edited: bool) -> Value {
        let mut spec = yaml(self.base.unwrap_or(table.base));
        for (path, value) in table.with.iter().chain(self.with) {
            put(&mut spec, path, yaml(value));
        }
        self.write(&mut spec, is_edited);
        spec
    }

    /// Puts the field into a spec, with the fields that are edited together with it.
    pub(crate) fn write(&self, spec: &mut Value, is_edited: bool) {
        let (value, also) =
            if is_edited { (self.second, self.also) } else { (self.first, &[][..]) };
        for (path, value) in also.iter().chain([&(self.path, value)]) {
            put(spec, path, yaml(value));
        }
    }

    /// Returns true if a field in the plan is one that the case edits.
    pub(crate) fn touches(&self, shown: &str) -> bool {
        self.is_at(shown) || self.also.iter().any(|(path, _)| is_beneath(shown, path))
    }

    /// Returns true if a field in the plan is the case's own field.
    pub(crate) fn is_at(&self, shown: &str) -> bool {
        is_beneath(shown, self.path)
    }
}

fn is_beneath(shown: &str, path: &str) -> bool {
    let rest = shown.strip_prefix(&path.replace("[]", "[0]"));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The fields of one kind.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) kind: &'static str,
    /// Spec that a case changes.
    pub(crate) base: &'static str,
    /// Fields that every case has from the beginning.
    pub(crate) with: Put,
    /// Other documents that the cases need.
    pub(crate) beside: &'static [&'static str],
    pub(crate) cases: &'static [Case],
}

impl Table {
    /// Returns the name of a case's document.
    pub(crate) fn name(&self, at: usize) -> String {
        format!("{}-{at}", self.kind.to_lowercase())
    }

    /// Returns the tree in which these cases are edited.
    pub(crate) fn tree(&self, is_edited: impl Fn(&Case) -> bool) -> String {
        let documents = self.cases.iter().enumerate().map(|(at, case)| {
            let spec = case.spec(self, is_edited(case));
            let name = self.name(at);
            let document = json!({"apiVersion": "reckon.dev/v1", "kind": self.kind, "metadata": {"name": name}, "spec": spec});
            format!("---\n{document}\n")
        });
        let beside = self.beside.iter().map(|documents| format!("---\n{documents}\n"));
        documents.chain(beside).collect()
    }
}

/// Parses a value; of a whole document it returns the spec.
fn yaml(text: &str) -> Value {
    let value: Value = serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    if value.get("kind").is_some() { value["spec"].clone() } else { value }
}

/// Puts a value at a path, and makes the missing parts of the path.
fn put(spec: &mut Value, path: &str, value: Value) {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    if !spec.is_object() {
        *spec = Value::Object(Map::new());
    }
    let fields = spec.as_object_mut().unwrap();
    let plain = name.trim_end_matches("[]");
    if value.is_null() && (rest.is_none() || !fields.contains_key(plain)) {
        fields.shift_remove(plain);
        return;
    }
    let mut place = fields.entry(plain).or_insert(Value::Null);
    if plain != name {
        if !place.is_array() {
            *place = json!([null]);
        }
        place = &mut place[0];
    }
    match rest {
        Some(rest) => put(place, rest, value),
        None => *place = value,
    }
}

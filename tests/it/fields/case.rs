//! One field of one kind: what it says first, what it says then, and what becomes of that.

use reckon::kinds::Mutability;
use serde_json::{Map, Value, json};

/// What a plan makes of a changed field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// The object is changed where it is.
    InPlace,
    /// The same, by a fresh one-time token.
    ByToken,
    /// The plan says at the field's line that the service has no way.
    Never,
    /// Nothing is to be done.
    Local,
    /// The field can change, but not like this.
    Unfit,
    /// Only one value is possible; to write it is no change.
    Fixed,
}

impl Does {
    /// The word that the kind's own table must have for such a field.
    pub(crate) fn change(self) -> Option<Mutability> {
        match self {
            Self::InPlace => Some(Mutability::InPlace),
            Self::ByToken => Some(Mutability::ReplaceByToken),
            Self::Never => Some(Mutability::Immutable),
            Self::Local => Some(Mutability::LocalOnly),
            Self::Unfit | Self::Fixed => None,
        }
    }

    /// Whether the object on the service becomes another.
    pub(crate) fn arrives(self) -> bool {
        matches!(self, Self::InPlace | Self::ByToken)
    }

    /// Whether the edit stays in the plan.
    pub(crate) fn stays(self) -> bool {
        matches!(self, Self::Never | Self::Unfit)
    }
}

/// Fields and their values in YAML; `~` takes a field away.
type Put = &'static [(&'static str, &'static str)];

/// One edit of one field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    /// The field, as the schema's walk writes it.
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
    /// On another document than the table's.
    pub(crate) const fn on(self, base: &'static str) -> Self {
        Self { base: Some(base), ..self }
    }

    /// With these in the document from the beginning.
    pub(crate) const fn with(self, with: Put) -> Self {
        Self { with, ..self }
    }

    /// With these edited together with the field.
    pub(crate) const fn also(self, also: Put) -> Self {
        Self { also, ..self }
    }

    /// The document's spec, as first applied or as edited.
    pub(crate) fn spec(&self, table: &Table, is_edited: bool) -> Value {
        let mut spec = yaml(self.base.unwrap_or(table.base));
        for (path, value) in table.with.iter().chain(self.with) {
            put(&mut spec, path, yaml(value));
        }
        self.write(&mut spec, is_edited);
        spec
    }

    /// Puts the field into a spec, with what is edited together with it.
    pub(crate) fn write(&self, spec: &mut Value, is_edited: bool) {
        let (value, also) =
            if is_edited { (self.second, self.also) } else { (self.first, &[][..]) };
        for (path, value) in also.iter().chain([&(self.path, value)]) {
            put(spec, path, yaml(value));
        }
    }

    /// Whether a field that the plan shows is one that was edited.
    pub(crate) fn touches(&self, shown: &str) -> bool {
        self.is_at(shown) || self.also.iter().any(|(path, _)| is_beneath(shown, path))
    }

    /// Whether a field that the plan shows is the one that the case is about.
    pub(crate) fn is_at(&self, shown: &str) -> bool {
        is_beneath(shown, self.path)
    }
}

fn is_beneath(shown: &str, path: &str) -> bool {
    let rest = shown.strip_prefix(&path.replace("[]", "[0]"));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A table: the fields of one kind.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) kind: &'static str,
    /// The spec that a case changes.
    pub(crate) base: &'static str,
    /// What every case has in it from the beginning.
    pub(crate) with: Put,
    /// Whole documents that it needs.
    pub(crate) beside: &'static [&'static str],
    pub(crate) cases: &'static [Case],
}

impl Table {
    /// The name of a case's document.
    pub(crate) fn name(&self, at: usize) -> String {
        format!("{}-{at}", self.kind.to_lowercase())
    }

    /// The tree in which these cases are edited.
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

/// A value in YAML; of a whole document its spec.
fn yaml(text: &str) -> Value {
    let value: Value = serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    if value.get("kind").is_some() { value["spec"].clone() } else { value }
}

/// Puts a value at a path, making what is missing on the way.
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

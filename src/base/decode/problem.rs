//! A misfit between a document and the type that it is decoded into, as data.

use std::fmt::Display;

use serde::de::{self, Expected, Unexpected};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundValue {
    /// A text; `None` where it must not be shown.
    Text(Option<String>),
    Integer(Option<String>),
    /// A number with a fraction, with its decimal point.
    Float(Option<String>),
    Bool(Option<bool>),
    Mapping,
    Sequence,
    Nothing,
    Other,
}

impl FoundValue {
    #[must_use]
    pub fn without_value(self) -> Self {
        match self {
            Self::Text(_) => Self::Text(None),
            Self::Integer(_) => Self::Integer(None),
            Self::Float(_) => Self::Float(None),
            Self::Bool(_) => Self::Bool(None),
            other @ (Self::Mapping | Self::Sequence | Self::Nothing | Self::Other) => other,
        }
    }

    fn new(found: Unexpected<'_>) -> Self {
        match found {
            Unexpected::Bool(word) => Self::Bool(Some(word)),
            Unexpected::Unsigned(number) => Self::Integer(Some(number.to_string())),
            Unexpected::Signed(number) => Self::Integer(Some(number.to_string())),
            Unexpected::Float(number) => Self::Float(Some(with_point(number.to_string()))),
            Unexpected::Char(one) => Self::Text(Some(one.to_string())),
            Unexpected::Str(text) => Self::Text(Some(text.to_owned())),
            Unexpected::Map | Unexpected::StructVariant => Self::Mapping,
            Unexpected::Seq | Unexpected::TupleVariant => Self::Sequence,
            Unexpected::Unit | Unexpected::Option => Self::Nothing,
            Unexpected::Bytes(_)
            | Unexpected::NewtypeStruct
            | Unexpected::Enum
            | Unexpected::UnitVariant
            | Unexpected::NewtypeVariant
            | Unexpected::Other(_) => Self::Other,
        }
    }
}

/// Returns the text of a number with its decimal point; infinity and the like have none.
fn with_point(number: String) -> String {
    let whole = number.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    if whole { number + ".0" } else { number }
}

/// The value that a type expects, by the way in which the type asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedValue {
    Text,
    WholeNumber,
    Number,
    Bool,
    Sequence,
    Mapping,
    Word,
    Nothing,
    /// Any of several, in the type's own words.
    Named(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeProblem {
    /// A mapping has a field that its type does not have.
    UnknownField {
        name: String,
        known: Vec<String>,
    },
    MissingField {
        name: String,
    },
    DuplicateField {
        name: String,
    },
    UnknownWord {
        found: String,
        known: Vec<String>,
    },
    WrongType {
        found: FoundValue,
        expected: ExpectedValue,
    },
    /// A value of the right type is outside its range.
    WrongValue {
        found: FoundValue,
        expected: ExpectedValue,
    },
    /// A type's own refusal, in its words.
    Other(String),
}

/// The path leads to the value, or to the mapping that has an unknown field or lacks one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem:?}")]
pub(super) struct Misfit {
    pub(super) path: Vec<DocumentSegment>,
    pub(super) problem: DecodeProblem,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DocumentSegment {
    Field(String),
    Item(usize),
}

impl Misfit {
    fn new(problem: DecodeProblem) -> Self {
        Self { path: Vec::new(), problem }
    }

    /// Returns the same problem of a value that the type asked for in this way.
    pub(super) fn of_expected(mut self, asked: ExpectedValue) -> Self {
        if let DecodeProblem::WrongType { expected, .. }
        | DecodeProblem::WrongValue { expected, .. } = &mut self.problem
            && self.path.is_empty()
        {
            *expected = asked;
        }
        self
    }

    /// Returns the same problem, seen from the parent.
    pub(super) fn beneath(mut self, segment: DocumentSegment) -> Self {
        self.path.push(segment);
        self
    }
}

/// Formats a path as `spec.line_items[0].amount`; the root is `.`.
pub(super) fn format_path<'p>(path: impl IntoIterator<Item = &'p DocumentSegment>) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            DocumentSegment::Field(name) if text.is_empty() => text.push_str(name),
            DocumentSegment::Field(name) => {
                text.push('.');
                text.push_str(name);
            }
            DocumentSegment::Item(place) => text.extend(["[", &place.to_string(), "]"]),
        }
    }
    if text.is_empty() { ".".to_owned() } else { text }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

impl de::Error for Misfit {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(DecodeProblem::Other(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = ExpectedValue::Named(expected.to_string());
        Self::new(DecodeProblem::WrongType { found: FoundValue::new(found), expected })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = ExpectedValue::Named(expected.to_string());
        Self::new(DecodeProblem::WrongValue { found: FoundValue::new(found), expected })
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        Self::new(DecodeProblem::UnknownWord { found: found.to_owned(), known: owned(known) })
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        Self::new(DecodeProblem::UnknownField { name: name.to_owned(), known: owned(known) })
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(DecodeProblem::MissingField { name: name.to_owned() })
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::new(DecodeProblem::DuplicateField { name: name.to_owned() })
    }
}

//! The forms of the output, as `-o` parses them: those of every command, and those of lists.

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// The form of the output of every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Text for people.
    Text,
    /// JSON for programs.
    Json,
    /// YAML for programs and people.
    Yaml,
    /// For pull requests (plan alone; elsewhere as text).
    Markdown,
}

/// A form of the list of `get`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListForm {
    /// Text with more columns (get alone).
    Wide,
    /// One name a line (get alone).
    Name,
    /// A table for a spreadsheet (get alone).
    Csv,
}

/// The argument of `-o`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputForm {
    Common(Output),
    List(ListForm),
}

impl OutputForm {
    /// Returns the form of messages and of results other than lists: a list is text.
    pub fn common(self) -> Output {
        match self {
            Self::Common(form) => form,
            Self::List(_) => Output::Text,
        }
    }
}

impl ValueEnum for OutputForm {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Common(Output::Text),
            Self::Common(Output::Json),
            Self::Common(Output::Yaml),
            Self::Common(Output::Markdown),
            Self::List(ListForm::Wide),
            Self::List(ListForm::Name),
            Self::List(ListForm::Csv),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Common(form) => form.to_possible_value(),
            Self::List(form) => form.to_possible_value(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_parsed_by_its_name() {
        let forms = Output::value_variants().len() + ListForm::value_variants().len();
        assert_eq!(OutputForm::value_variants().len(), forms);
        for form in OutputForm::value_variants() {
            let name = form.to_possible_value().unwrap().get_name().to_owned();
            assert_eq!(OutputForm::from_str(&name, false), Ok(*form));
        }
        assert_eq!(OutputForm::List(ListForm::Csv).common(), Output::Text);
    }
}

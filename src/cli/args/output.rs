//! The forms of the output, as `-o` parses them: those of every command, of lists, and of findings.

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

/// A form of the findings of `validate` and `plan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportForm {
    /// SARIF 2.1.0, for code hosts and editors (validate and plan alone).
    Sarif,
    /// `JUnit` XML, for reports of tests (validate and plan alone).
    Junit,
    /// Workflow commands that annotate a change on GitHub (validate and plan alone).
    Github,
    /// Code Quality of GitLab (validate and plan alone).
    Gitlab,
}

/// The argument of `-o`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputForm {
    Common(Output),
    List(ListForm),
    Report(ReportForm),
}

impl OutputForm {
    /// Returns the form of messages and of results other than lists and findings: text for these.
    pub fn common(self) -> Output {
        match self {
            Self::Common(form) => form,
            Self::List(_) | Self::Report(_) => Output::Text,
        }
    }

    pub fn report(self) -> Option<ReportForm> {
        if let Self::Report(form) = self { Some(form) } else { None }
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
            Self::Report(ReportForm::Sarif),
            Self::Report(ReportForm::Junit),
            Self::Report(ReportForm::Github),
            Self::Report(ReportForm::Gitlab),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Common(form) => form.to_possible_value(),
            Self::List(form) => form.to_possible_value(),
            Self::Report(form) => form.to_possible_value(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_parsed_by_its_name() {
        let forms = Output::value_variants().len() + ListForm::value_variants().len();
        let forms = forms + ReportForm::value_variants().len();
        assert_eq!(OutputForm::value_variants().len(), forms);
        for form in OutputForm::value_variants() {
            let name = form.to_possible_value().unwrap().get_name().to_owned();
            assert_eq!(OutputForm::from_str(&name, false), Ok(*form));
        }
        assert_eq!(OutputForm::List(ListForm::Csv).common(), Output::Text);
    }
}

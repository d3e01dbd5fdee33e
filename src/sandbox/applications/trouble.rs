//! The words that tell an applicant what is wrong with a field. Programs are told in the service's own words.

use crate::api::application::{FieldType, fields};
use crate::api::rules::FieldProblem;

/// The end of a message about a field that is empty.
const BLANK: &str = "cannot be blank";

/// Returns what to do about a problem, beside its field.
pub(super) fn words(problem: &FieldProblem) -> String {
    let FieldProblem { context, sub_code, message } = problem;
    let Some(field) = fields::find(context) else { return message.clone() };
    if message.ends_with(BLANK) {
        return blank(field.of).to_owned();
    }
    wrong(field.of, sub_code).map_or_else(|| own(context, message), str::to_owned)
}

fn blank(of: FieldType) -> &'static str {
    if matches!(of, FieldType::Boolean | FieldType::Choice(_)) {
        "Please choose one"
    } else if of == FieldType::Signature {
        "Please sign here"
    } else {
        "Please fill this in"
    }
}

/// The words for a value that does not fit the type of its field.
fn wrong(of: FieldType, sub_code: &str) -> Option<&'static str> {
    match of {
        FieldType::Email => Some("Please write an e-mail address, such as jane@example.com"),
        FieldType::Phone if sub_code == "invalid_length" => Some("This number is too long"),
        FieldType::Phone => Some("Please write a phone number"),
        FieldType::PostalCode => Some("Please write a ZIP code, such as 60601"),
        FieldType::State => Some("Please write two capital letters, such as IL"),
        FieldType::Country => Some("Please write two letters, such as US"),
        FieldType::Date => Some("Please write a date"),
        FieldType::Choice(_) => Some("Please choose one"),
        FieldType::Signature => Some("This signature cannot be read: please sign once more"),
        FieldType::Text
        | FieldType::Url
        | FieldType::Timestamp
        | FieldType::Boolean
        | FieldType::Integer(..) => None,
    }
}

/// The words for what one field alone can have, else those of the message without the name of the field.
fn own(context: &str, message: &str) -> String {
    if context == "owner_has_significant_responsibility" {
        return "No owner holds more than 25 percent: please say yes for the one who manages the business".to_owned();
    }
    let name = context.replace(['_', '.'], " ");
    let rest = message.get(name.len()..).unwrap_or_default();
    let begins = message.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(&name));
    if begins && rest.starts_with(" is ") { format!("This{rest}") } else { message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::words;
    use crate::api::rules::FieldProblem;

    fn told(context: &str, sub_code: &str, message: &str) -> String {
        let [context, sub_code, message] = [context, sub_code, message].map(str::to_owned);
        words(&FieldProblem { context, sub_code, message })
    }

    /// Closes E16: an applicant reads no name of the API.
    #[test]
    fn a_problem_is_told_in_the_words_of_people() {
        for (context, sub_code, message, shown) in [
            (
                "business_address1",
                "not_blank",
                "Business address1 cannot be blank",
                "Please fill this in",
            ),
            ("structure", "not_blank", "Structure cannot be blank", "Please choose one"),
            ("signature", "not_blank", "Signature cannot be blank", "Please sign here"),
            (
                "second_owner.home_state",
                "invalid",
                "Second owner home state is not a code of two capital letters",
                "Please write two capital letters, such as IL",
            ),
            (
                "years_in_business",
                "number_out_of_range",
                "Years in business is not between 0 and 99",
                "This is not between 0 and 99",
            ),
            (
                "business_name",
                "invalid",
                "Business name of a test was submitted already",
                "Business name of a test was submitted already",
            ),
        ] {
            assert_eq!(told(context, sub_code, message), shown, "{context}");
        }
        let text = "Significant responsibility must be true for one owner when none owns over 25%";
        assert!(told("owner_has_significant_responsibility", "invalid", text).contains("manages"));
    }
}

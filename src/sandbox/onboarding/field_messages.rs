//! Messages for an applicant about a wrong field. API callers get the service's own messages.

use crate::api::onboarding::fields;
use crate::api::onboarding::fields::FieldType;
use crate::api::rules::FieldProblem;

/// End of a message about an empty field.
const BLANK: &str = "cannot be blank";

/// Returns the message beside the field: what the applicant should do.
pub(crate) fn applicant_message(problem: &FieldProblem) -> String {
    let FieldProblem { context, sub_code, message } = problem;
    let Some(field) = fields::find(context) else { return message.clone() };
    if message.ends_with(BLANK) {
        return blank_message(field.field_type).to_owned();
    }
    type_message(field.field_type, sub_code)
        .map_or_else(|| rule_message(context, message), str::to_owned)
}

fn blank_message(of: FieldType) -> &'static str {
    if matches!(of, FieldType::Boolean | FieldType::Choice(_)) {
        "Please choose one"
    } else if of == FieldType::Signature {
        "Please sign here"
    } else {
        "Please fill this in"
    }
}

/// Returns the message for a value that does not fit its field's type.
fn type_message(of: FieldType, sub_code: &str) -> Option<&'static str> {
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

/// Returns the message of a rule that only one field has, else the service's text without the
/// field's name.
fn rule_message(context: &str, message: &str) -> String {
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
    use super::applicant_message;
    use crate::api::rules::FieldProblem;

    fn told(context: &str, sub_code: &str, message: &str) -> String {
        let [context, sub_code, message] = [context, sub_code, message].map(str::to_owned);
        applicant_message(&FieldProblem { context, sub_code, message })
    }

    /// Closes E16: an applicant reads no API field names.
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

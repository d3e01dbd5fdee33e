//! Texts of an application's fields for the people who fill them in: labels, and messages about a
//! wrong field. API callers get the service's own messages.

use crate::api::onboarding::fields::{self, ApplicationField, FieldType, Need};
use crate::api::rules::FieldProblem;

pub(crate) struct FieldLabels {
    pub(crate) label: &'static str,
    /// The `autocomplete` token.
    pub(crate) complete: &'static str,
}

/// Label and `autocomplete` token of each field; an empty token means `off`.
const WORDS: &[(&str, &str, &str)] = &[
    ("plan", "Plan", ""),
    ("first_name", "Given name", "given-name"),
    ("last_name", "Family name", "family-name"),
    ("email", "E-mail address", "email"),
    ("business_name", "Legal name of the business", "organization"),
    ("business_address1", "Street address", "address-line1"),
    ("business_address2", "Suite or floor", "address-line2"),
    ("business_city", "City", "address-level2"),
    ("business_state", "State (two letters)", "address-level1"),
    ("business_zip_code", "ZIP code", "postal-code"),
    ("business_phone", "Phone", "tel"),
    ("business_country", "Country (two letters, such as US)", "country"),
    ("industry_code", "Industry code (SIC, up to four digits)", ""),
    ("goods_and_services", "What the business sells", ""),
    ("structure", "Form of the business", ""),
    ("business_type", "Way of selling", ""),
    ("federal_tax_id", "Tax ID, or your own number if you are the business", ""),
    ("years_in_business", "Years in business", ""),
    ("business_website", "Website", "url"),
    ("past_bankruptcy", "Was the business ever bankrupt?", ""),
    ("bankruptcy_date", "Date of the bankruptcy", ""),
    ("has_dba", "Does the business trade under another name?", ""),
    ("dba_name", "Trade name", "organization"),
    ("dba_address1", "Street address", "address-line1"),
    ("dba_address2", "Suite or floor", "address-line2"),
    ("dba_city", "City", "address-level2"),
    ("dba_state", "State (two letters)", "address-level1"),
    ("dba_zip_code", "ZIP code", "postal-code"),
    ("dba_phone", "Phone", "tel"),
    ("owner_first_name", "Given name", "given-name"),
    ("owner_last_name", "Family name", "family-name"),
    ("owner_title", "Position", "organization-title"),
    ("owner_date_of_birth", "Date of birth", "bday"),
    ("owner_social_security_number", "Social security number", ""),
    ("owner_percentage_of_ownership", "Share of the business, in percent (100 if left empty)", ""),
    ("owner_has_significant_ownership", "Does this owner hold more than 25 percent?", ""),
    ("owner_has_significant_responsibility", "Does this owner manage the business?", ""),
    ("owner_address1", "Home street address", "address-line1"),
    ("owner_address2", "Apartment", "address-line2"),
    ("owner_city", "City", "address-level2"),
    ("owner_state", "State (two letters)", "address-level1"),
    ("owner_zip_code", "ZIP code", "postal-code"),
    ("owner_phone_number", "Phone", "tel"),
    ("owner_email", "E-mail address", "email"),
    ("owner_years_in_residence", "Years at this address", ""),
    ("owner_drivers_license_number", "Driver's license number", ""),
    ("owner_drivers_license_state", "State of the license (two letters)", ""),
    ("owner_drivers_license_expiration", "License valid until", ""),
    ("owner_country_of_citizenship", "Citizenship (two letters, such as US)", "country"),
    ("operating_account_name", "Name on the account", ""),
    ("operating_account_routing_number", "Routing number (nine digits)", ""),
    ("operating_account_bank_name", "Bank", ""),
    ("operating_account_number", "Account number", ""),
    ("trust_account_name", "Name on the account", ""),
    ("trust_account_routing_number", "Routing number (nine digits)", ""),
    ("trust_account_bank_name", "Bank", ""),
    ("trust_account_number", "Account number", ""),
    ("signed_by", "Name of the person who signs", "name"),
    ("signature", "Signature", ""),
    ("number_of_locations", "Number of locations", ""),
    ("currently_accepting_cards", "Do you take cards today?", ""),
    ("current_card_processor", "Who processes them?", ""),
    ("wants_to_accept_amex", "Do you want to take American Express?", ""),
    ("current_amex_merchant_number", "Your American Express merchant number", ""),
    ("job_title", "Position", ""),
];

/// Returns the label and token of a field. A second owner has the labels of the first; it is
/// another person, so the browser fills in none of their fields.
pub(crate) fn labels_of(name: &str) -> FieldLabels {
    let (is_second, own) = name.split_once('.').map_or((false, name), |(_, own)| (true, own));
    let find = |name: &str| WORDS.iter().find(|(known, _, _)| *known == name);
    let of_owner = || find(&format!("owner_{}", own.trim_start_matches("home_")));
    let found = find(own).or_else(|| of_owner().filter(|_| is_second));
    let (label, complete) = found.map_or(("More", ""), |(_, label, complete)| (*label, *complete));
    let complete = if is_second || complete.is_empty() { "off" } else { complete };
    FieldLabels { label, complete }
}

pub(crate) fn may_be_empty(field: &ApplicationField) -> Option<&'static str> {
    match field.need {
        Need::Required => None,
        Need::Optional => Some("optional"),
        Need::WithDba => Some("with a trade name"),
        Need::TrustPlan => Some("with a trust plan"),
    }
}

pub(crate) fn choice(field: &ApplicationField, word: &str) -> String {
    match (field.field_type, word) {
        (FieldType::Boolean, "true") => "Yes".to_owned(),
        (FieldType::Boolean, "false") => "No".to_owned(),
        _ => word
            .replace("V.President", "Vice president")
            .replace("Exec.Director", "Executive director"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::onboarding::fields::{FIELDS, SECOND_OWNER, SECOND_OWNER_FIELDS};

    #[test]
    fn every_field_that_a_person_fills_in_has_words_of_its_own() {
        let unasked =
            |name: &str| crate::api::rules::has_word(super::super::form::OMITTED_FIELDS, name);
        for field in FIELDS.iter().filter(|field| !unasked(field.name)) {
            assert_ne!(labels_of(field.name).label, "More", "{}", field.name);
            assert!(!labels_of(field.name).label.contains('_'), "{}", field.name);
        }
        for field in SECOND_OWNER_FIELDS {
            let name = format!("{SECOND_OWNER}.{}", field.name);
            assert_eq!(
                (labels_of(&name).complete, labels_of(&name).label == "More"),
                ("off", false),
                "{name}"
            );
        }
    }
}

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
        return "Please choose one";
    }
    if of == FieldType::Signature { "Please sign here" } else { "Please fill this in" }
}

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
mod message_tests {
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

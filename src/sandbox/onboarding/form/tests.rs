use super::*;

#[test]
fn every_field_that_a_person_fills_in_has_words_of_its_own() {
    let unasked = |name: &str| has_word(OMITTED_FIELDS, name);
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

//! The form of a sign-up as HTML. It works without scripts: the signature is then the name that its
//! signer types.
//!
//! A secret that was filled in before is not shown again; if its input is left empty, the stored
//! value stays. Labels and messages about a wrong field are texts for the people who fill the form
//! in. API callers get the service's own messages.

use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::api::onboarding::fields::{
    self, ApplicationField, ApplicationPrivacy, FIELDS, FieldType, Need, SECOND_OWNER,
    SECOND_OWNER_FIELDS,
};
use crate::api::rules::{FieldProblem, has_word};

/// Fields that the form does not ask for: the partner's own, and those filled from the request.
pub(crate) const OMITTED_FIELDS: &str = "reference plan test ip_address ip_address_timestamp \
                                         browser_user_agent browser_language";

struct FormPart {
    heading: &'static str,
    /// Prefixes of the names of its fields.
    begins: &'static str,
    /// Folded while it is empty and has no problem.
    folds: bool,
}

const fn part(heading: &'static str, begins: &'static str, folds: bool) -> FormPart {
    FormPart { heading, begins, folds }
}

const BUSINESS: &str = "business_ structure industry_code goods_ federal_ years_in_business past_ \
                        bankruptcy_";
const MORE: &str = "number_of_ currently_ current_ wants_";

const PARTS: [FormPart; 9] = [
    part("You", "first_name last_name email", false),
    part("Your business", BUSINESS, false),
    part("Another name that the business trades under", "has_dba dba_", true),
    part("Owner", "owner_", false),
    part("Second owner, if there is one", "second_owner.", true),
    part("Bank account for your money", "operating_", false),
    part("Bank account for money held in trust", "trust_", true),
    part("More about your business", MORE, true),
    part("Signature", "signed_by signature", false),
];

struct FormInput {
    name: String,
    field: &'static ApplicationField,
}

fn inputs() -> Vec<FormInput> {
    let asked = FIELDS.iter().filter(|field| !has_word(OMITTED_FIELDS, field.name));
    let own = asked.map(|field| FormInput { name: field.name.to_owned(), field });
    let second = SECOND_OWNER_FIELDS
        .iter()
        .map(|field| FormInput { name: format!("{SECOND_OWNER}.{}", field.name), field });
    own.chain(second).collect()
}

/// Renders the form with the filled-in values, and each problem beside its field.
pub(crate) fn render_form(fields: &Map<String, Value>, problems: &[FieldProblem]) -> Markup {
    let form = SignUpForm { fields, problems };
    let inputs = inputs();
    html! {
        (form.notice())
        form method="post" novalidate {
            @for part in &PARTS {
                @let own: Vec<&FormInput> = inputs.iter().filter(|input| part.contains_field(&input.name)).collect();
                (form.part(part, &own))
            }
            div.actions { button { "Submit the application" } }
        }
    }
}

impl FormPart {
    fn contains_field(&self, name: &str) -> bool {
        self.begins.split(' ').any(|start| name.starts_with(start))
    }
}

struct SignUpForm<'a> {
    fields: &'a Map<String, Value>,
    problems: &'a [FieldProblem],
}

impl SignUpForm<'_> {
    /// Renders the list of wrong fields, each with a link to it. The page opens at this list.
    fn notice(&self) -> Markup {
        let count = match self.problems.len() {
            1 => "One field needs a correction:".to_owned(),
            many => format!("{many} fields need a correction:"),
        };
        html! {
            @if self.problems.is_empty() {
                p.quiet { "This takes about ten minutes. A field marked “optional” may stay empty." }
            } @else {
                div.notice.bad role="alert" tabindex="-1" autofocus {
                    (count)
                    ul {
                        @for problem in self.problems {
                            li { a href={ "#" (problem.context) } { (field_title(&problem.context)) } ": " (applicant_message(problem)) }
                        }
                    }
                }
            }
        }
    }

    fn part(&self, part: &FormPart, inputs: &[&FormInput]) -> Markup {
        let fields = html! {
            fieldset {
                legend { (part.heading) }
                div.fields { @for input in inputs { (self.input(input)) } }
            }
        };
        let is_used = |input: &&FormInput| {
            self.filled_value(input).is_some() || self.problem(&input.name).is_some()
        };
        html! {
            @if part.folds {
                details.part open[inputs.iter().any(is_used)] { summary { (part.heading) } (fields) }
            } @else { (fields) }
        }
    }

    fn problem(&self, name: &str) -> Option<&FieldProblem> {
        self.problems.iter().find(|problem| problem.context == name)
    }

    /// Returns the filled-in value; `None` where it is empty.
    fn filled_value(&self, input: &FormInput) -> Option<String> {
        let value = match input.name.split_once('.') {
            Some((whole, own)) => self.fields.get(whole)?.get(own)?,
            None => self.fields.get(&input.name)?,
        };
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .filter(|text| !text.is_empty())
    }

    fn input(&self, input: &FormInput) -> Markup {
        let (name, field) = (input.name.as_str(), input.field);
        let problem = self.problem(name);
        html! {
            div.field.wide[field.field_type == FieldType::Signature] {
                label for=(name) {
                    (labels_of(name).label)
                    @if let Some(hint) = may_be_empty(field) { " " span.hint { (hint) } }
                }
                (self.control(input, problem.is_some()))
                @if let Some(problem) = problem {
                    span.error id={ (name) "-error" } data-field=(name) { (applicant_message(problem)) }
                }
            }
        }
    }

    /// Renders the input element. A secret that was given before is not shown again.
    fn control(&self, input: &FormInput, is_wrong: bool) -> Markup {
        let (name, field) = (input.name.as_str(), input.field);
        let known = self.filled_value(input);
        let is_given = field.privacy == ApplicationPrivacy::Secret && known.is_some();
        let given = is_given.then_some("given");
        let value = known.filter(|_| !is_given).unwrap_or_default();
        let wrong = is_wrong.then_some("true");
        let beside = is_wrong.then(|| format!("{name}-error"));
        if let FieldType::Choice(choices) = field.field_type {
            return select(input, choices, &value, is_wrong);
        }
        if field.field_type == FieldType::Boolean {
            return select(input, &["true", "false"], &value, is_wrong);
        }
        if field.field_type == FieldType::Signature {
            return html! {
                noscript { p.hint { "Without scripts, type your name: it becomes your signature." } }
                textarea id=(name) name=(name) data-signature placeholder=[given] aria-invalid=[wrong]
                    aria-describedby=[beside] { (value) }
            };
        }
        html! {
            input id=(name) name=(name) type=(kind(field.field_type)) value=(value) placeholder=[given]
                autocomplete=(labels_of(name).complete) maxlength=[field.field_type.length_max()]
                aria-invalid=[wrong] aria-describedby=[beside];
        }
    }
}

fn select(input: &FormInput, choices: &[&str], chosen: &str, is_wrong: bool) -> Markup {
    let FormInput { name, field } = input;
    html! {
        select id=(name) name=(name) aria-invalid=[is_wrong.then_some("true")]
            aria-describedby=[is_wrong.then(|| format!("{name}-error"))] {
            option value="" { "Choose one" }
            @for word in choices {
                option value=(word) selected[*word == chosen] { (choice(field, word)) }
            }
        }
    }
}

fn kind(of: FieldType) -> &'static str {
    if matches!(of, FieldType::Integer(..)) {
        return "number";
    }
    let kinds = [(FieldType::Email, "email"), (FieldType::Date, "date"), (FieldType::Phone, "tel")];
    kinds.into_iter().find(|(own, _)| *own == of).map_or("text", |(_, kind)| kind)
}

fn field_title(name: &str) -> String {
    let label = labels_of(name).label;
    let part = PARTS.iter().find(|part| part.contains_field(name));
    part.map_or_else(|| label.to_owned(), |part| format!("{}, {label}", part.heading))
}

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

fn may_be_empty(field: &ApplicationField) -> Option<&'static str> {
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

/// Returns the message of a rule of one field, else the service's text without the field's name.
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
mod tests;

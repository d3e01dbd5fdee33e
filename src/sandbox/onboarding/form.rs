//! The form of a sign-up as HTML. It works without scripts: the signature is then the name that its
//! signer types.
//!
//! A secret that was filled in before is not shown again; if its input is left empty, the stored
//! value stays.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::field_texts;
use crate::api::onboarding::fields::{
    ApplicationField, ApplicationPrivacy, FIELDS, FieldType, SECOND_OWNER, SECOND_OWNER_FIELDS,
};
use crate::api::rules::{FieldProblem, has_word};

/// Fields that the form does not ask for: the partner's own, and those that the service fills from
/// the request.
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
    let second = SECOND_OWNER_FIELDS.iter();
    let second =
        second.map(|field| FormInput { name: format!("{SECOND_OWNER}.{}", field.name), field });
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
                            li { a href={ "#" (problem.context) } { (field_title(&problem.context)) } ": " (field_texts::applicant_message(problem)) }
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
                    (field_texts::labels_of(name).label)
                    @if let Some(hint) = field_texts::may_be_empty(field) { " " span.hint { (hint) } }
                }
                (self.control(input, problem.is_some()))
                @if let Some(problem) = problem {
                    span.error id={ (name) "-error" } data-field=(name) { (field_texts::applicant_message(problem)) }
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
                autocomplete=(field_texts::labels_of(name).complete) maxlength=[field.field_type.length_max()]
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
                option value=(word) selected[*word == chosen] { (field_texts::choice(field, word)) }
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
    let label = field_texts::labels_of(name).label;
    let part = PARTS.iter().find(|part| part.contains_field(name));
    part.map_or_else(|| label.to_owned(), |part| format!("{}, {label}", part.heading))
}

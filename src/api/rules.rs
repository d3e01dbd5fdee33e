//! Rules of single fields, the list that they fill, and the service's error body (service-facts, 22
//! and part 2).
//!
//! The rules are pure and shared: the sandbox answers with them as 422 `invalid_data`, and the
//! client's side can apply them before sending. Every problem of a request is reported at once.
//! Texts are the service's short phrases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

pub use crate::base::money::AMOUNT_MAX;

/// The states, districts and territories of the United States, by their postal codes.
const STATES: &str = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY \
                      NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC AS GU MP PR VI UM AA AE AP FM MH PW";
/// The provinces and territories of Canada.
const PROVINCES: &str = "AB BC MB NB NL NS NT NU ON PE QC SK YT";
/// Maximum characters of a name, street line or city (service-facts, 31).
pub const NAME_LENGTH_MAX: usize = 64;
/// Maximum characters of a saved method's reference or description (service-facts, 31).
pub const REFERENCE_LENGTH_MAX: usize = 64;
/// Maximum characters of a transaction's reference (gateway-api, Limits).
pub const TRANSACTION_REFERENCE_LENGTH_MAX: usize = 128;

/// One problem of one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldProblem {
    /// The field's path, dots for nesting.
    pub context: String,
    /// `not_blank`, `invalid_length`, `invalid`, … (service-facts, 24).
    pub sub_code: String,
    /// A short English phrase.
    pub message: String,
}

impl FieldProblem {
    /// Makes a problem of the field at `context`.
    pub fn new(context: &str, sub_code: &str, message: &str) -> Self {
        let [context, sub_code, message] = [context, sub_code, message].map(str::to_owned);
        Self { context, sub_code, message }
    }

    /// Converts the problem to the service's form, its field inside `parent` (empty: at the top).
    pub fn to_message(&self, parent: &str) -> ProblemMessage {
        let context = match parent {
            "" => self.context.clone(),
            _ => format!("{parent}.{}", self.context),
        };
        let message = ProblemMessage::new("invalid_data", &self.message).with_context(&context);
        ProblemMessage { sub_code: Some(self.sub_code.clone()), ..message }
    }
}

/// Makes the error body of several field problems.
pub fn to_problem(parent: &str, problems: &[FieldProblem]) -> Problem {
    Problem { messages: problems.iter().map(|one| one.to_message(parent)).collect() }
}

/// Collects problems; each method adds at most one, `state` at most two.
#[derive(Debug, Default)]
pub struct FieldProblems(Vec<FieldProblem>);

impl FieldProblems {
    /// Returns the problems, in the order of the checks.
    pub fn into_list(self) -> Vec<FieldProblem> {
        self.0
    }

    /// Adds a problem as it is.
    pub fn add(&mut self, context: &str, sub_code: &str, message: &str) {
        self.0.push(FieldProblem::new(context, sub_code, message));
    }

    /// Adds a problem unless the condition holds.
    pub fn unless(&mut self, holds: bool, context: &str, sub_code: &str, message: &str) {
        if !holds {
            self.add(context, sub_code, message);
        }
    }

    /// Requires a value that is no text.
    pub fn require(&mut self, context: &str, label: &str, is_given: bool) {
        self.unless(is_given, context, "not_null", &format!("{label} cannot be blank"));
    }

    /// Requires more than white space.
    pub fn require_text(&mut self, context: &str, label: &str, value: &str) {
        let text = format!("{label} cannot be blank");
        self.unless(!value.trim().is_empty(), context, "not_blank", &text);
    }

    /// Allows at most `max` characters.
    pub fn length_max(&mut self, context: &str, label: &str, value: Option<&str>, max: usize) {
        let fits = value.is_none_or(|text| text.chars().count() <= max);
        self.unless(fits, context, "invalid_length", &format!("{label} length is invalid"));
    }

    /// Checks the reference of a transaction.
    pub fn transaction_reference(&mut self, value: Option<&str>) {
        self.length_max("reference", "Reference", value, TRANSACTION_REFERENCE_LENGTH_MAX);
    }

    /// Requires an amount between `min` and [`AMOUNT_MAX`].
    pub fn amount(&mut self, context: &str, label: &str, value: i64, min: i64) {
        if value < min {
            let text = format!("{label} is less than the minimum value");
            self.add(context, "below_minimum_value", &text);
        } else if value > AMOUNT_MAX {
            self.add(context, "exceeds_maximum_value", &format!("{label} exceeds the maximum"));
        }
    }

    /// Requires an amount of at least 1.
    pub fn require_amount(&mut self, context: &str, label: &str, value: Option<i64>) {
        self.require(context, label, value.is_some());
        self.amount(context, label, value.unwrap_or(1), 1);
    }

    /// Requires three to nine letters and digits, at most ten characters with spaces and dashes
    /// (service-facts, 31).
    pub fn postal_code(&mut self, context: &str, value: Option<&str>) {
        let Some(code) = value.filter(|code| !code.is_empty()) else { return };
        let plain = code.chars().filter(char::is_ascii_alphanumeric).count();
        let strange = code.chars().any(|c| !c.is_ascii_alphanumeric() && c != ' ' && c != '-');
        if strange {
            self.add(context, "invalid", "Postal code is invalid");
        } else if !(3..=9).contains(&plain) || code.chars().count() > 10 {
            self.add(context, "invalid_length", "Postal code is invalid");
        }
    }

    /// Checks a state or province: any short text, but for the United States and Canada, whose
    /// codes are known (service-facts, 31 and 32).
    pub fn state(&mut self, state: Option<&str>, country: Option<&str>) {
        let Some(state) = state.filter(|state| !state.is_empty()) else { return };
        let text = "State or province is invalid";
        self.unless(state.chars().count() <= NAME_LENGTH_MAX, "state", "invalid_length", text);
        let known = match country.map(str::to_ascii_uppercase).as_deref() {
            Some("US") => STATES,
            Some("CA") => PROVINCES,
            Some(_) | None => return,
        };
        let is_known = known.split(' ').any(|code| code.eq_ignore_ascii_case(state));
        self.unless(is_known, "state", "invalid", text);
    }

    /// Requires a two-letter country of ISO 3166. A wrong code and a wrong length give the same
    /// text (service-facts, 26a and 32).
    pub fn country(&mut self, context: &str, value: Option<&str>) {
        let Some(code) = value.filter(|code| !code.is_empty()) else { return };
        if code.chars().count() != 2 {
            self.add(context, "invalid_length", "Country is invalid");
        } else if !is_country(&code.to_ascii_uppercase()) {
            self.add(context, "invalid", "Country is invalid");
        }
    }
}

/// Returns whether a text has the form of an e-mail address: text, one `@`, text, no white space.
pub fn is_email(text: &str) -> bool {
    let parts = text.split_once('@');
    parts.is_some_and(|(user, domain)| {
        !user.is_empty() && !domain.is_empty() && !domain.contains('@')
    }) && !text.chars().any(char::is_whitespace)
}

/// Two-letter codes of countries (ISO 3166-1 alpha-2, officially assigned).
const CODES: &str = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN \
    BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ \
    EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM \
    HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK \
    LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG \
    NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG \
    SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM \
    US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

/// Returns whether a text is an assigned code, in capitals.
pub fn is_country(code: &str) -> bool {
    has_word(CODES, code)
}

/// Returns whether a word is in a list of words that are separated by spaces.
pub(crate) fn has_word(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|one| one == word)
}

/// The JSON body of every answer that is not 200.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The problems, one entry per field or rule.
    #[serde(default)]
    pub messages: Vec<ProblemMessage>,
}

/// One problem of a request.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Message")]
pub struct ProblemMessage {
    /// Machine-readable code, such as `invalid_data` or `card_declined`.
    pub code: String,
    /// `error` or `info`.
    pub level: Option<String>,
    /// `gateway` or `payment_processor`.
    pub facility: Option<String>,
    /// A short English text, shown to people as it is.
    pub message: Option<String>,
    /// The field's path, dots for nesting; or `Type[id]` of a missing object.
    pub context: Option<String>,
    /// Finer code of a field's problem, such as `invalid_length`.
    pub sub_code: Option<String>,
    /// The transaction that records a decline.
    pub entity_id: Option<String>,
}

impl Problem {
    /// Makes a problem of one message with a code and a text.
    pub fn new(code: &str, message: &str) -> Self {
        Self { messages: vec![ProblemMessage::new(code, message)] }
    }

    /// Returns the first code, empty when the body held none.
    pub fn code(&self) -> &str {
        self.messages.first().map_or("", |message| message.code.as_str())
    }
}

impl ProblemMessage {
    /// Makes an error message of the gateway with a code and a text.
    pub fn new(code: &str, message: &str) -> Self {
        Self {
            code: code.to_owned(),
            level: Some("error".to_owned()),
            facility: Some("gateway".to_owned()),
            message: Some(message.to_owned()),
            ..Self::default()
        }
    }

    /// Sets the field or object that the message refers to.
    #[must_use]
    pub fn with_context(mut self, context: &str) -> Self {
        self.context = Some(context.to_owned());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_assigned_code_is_known_and_no_other() {
        assert_eq!(CODES.split_ascii_whitespace().count(), 249);
        for code in ["US", "CA", "GB", "DE", "ZW"] {
            assert!(is_country(code), "{code}");
        }
        for code in ["UK", "XX", "us", "USA", "", "U", "EU"] {
            assert!(!is_country(code), "{code}");
        }
    }
}

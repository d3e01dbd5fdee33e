//! Text rules that several kinds share, and the serialisation of personal texts.

use serde::Serializer;

use crate::api::rules::FieldProblems;
use crate::base::secret::Personal;
use crate::model::issue::Issue;

/// Characters of an e-mail address (RFC 5321, 4.5.3.1.3, less the brackets).
pub const EMAIL_LENGTH_MAX: usize = 254;

/// Checks that the text is not blank. `example` is a text to write instead.
pub fn not_blank(path: &str, text: &str, example: &str) -> Option<Issue> {
    text.trim().is_empty().then(|| {
        let help = format!("write a text, such as `{example}`");
        Issue::error("reckon::text::empty", path, "the text is empty", help)
    })
}

/// Checks that the text has at most `max` characters.
pub fn at_most(path: &str, text: &str, max: usize) -> Option<Issue> {
    let length = text.chars().count();
    (length > max).then(|| {
        let message =
            format!("the text has {length} characters, and the service keeps at most {max}");
        let help = format!("write at most {max} characters");
        Issue::error("reckon::text::too_long", path, message, help)
    })
}

/// Checks both of the above.
pub fn not_blank_and_at_most(path: &str, text: &str, example: &str, max: usize) -> Option<Issue> {
    not_blank(path, text, example).or_else(|| at_most(path, text, max))
}

/// Checks that the text has the form of an e-mail address. The address is not probed, and the
/// message does not repeat it.
pub fn email(path: &str, address: &Personal) -> Option<Issue> {
    (!is_email(address.expose())).then(|| {
        let message = "the text is not an e-mail address";
        Issue::error("reckon::text::email", path, message, "write one, such as `jane@example.com`")
    })
}

fn is_email(text: &str) -> bool {
    let strange = |c: char| c.is_whitespace() || c.is_control() || "<>(),;:\"".contains(c);
    let labels = |domain: &str| domain.contains('.') && !domain.split('.').any(str::is_empty);
    let parts = text.split_once('@');
    parts.is_some_and(|(user, domain)| !user.is_empty() && !domain.contains('@') && labels(domain))
        && !text.contains(strange)
        && text.len() <= EMAIL_LENGTH_MAX
}

/// Checks a postal code: 3 to 9 letters and digits, at most 10 characters with spaces and dashes.
/// The message does not repeat it (service-facts, 31).
pub fn postal_code(path: &str, code: &str) -> Option<Issue> {
    let mut problems = FieldProblems::default();
    problems.postal_code("", Some(code));
    let fits = !code.is_empty() && problems.into_list().is_empty();
    (!fits).then(|| {
        let help = "write 3 to 9 letters and digits, at most 10 characters with spaces and dashes";
        Issue::error("reckon::text::postal_code", path, "the text is not a postal code", help)
    })
}

/// Serialises a personal text into the canonical form.
pub fn serialize_exposed<S: Serializer>(text: &Personal, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text.expose())
}

/// Serialises an optional personal text.
pub fn serialize_exposed_option<S: Serializer>(
    text: &Option<Personal>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match text {
        Some(text) => serialize_exposed(text, serializer),
        None => serializer.serialize_none(),
    }
}

/// Serialises a list of personal texts.
pub fn serialize_exposed_list<S: Serializer>(
    texts: &[Personal],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts.iter().map(Personal::expose))
}

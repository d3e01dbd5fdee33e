//! Maps a field in the service's error messages to the field of a spec.

use crate::kinds::schema::kind::SpecField;

/// Returns the field below `spec` that a message's `context` names. The service describes its own
/// request: fields are nested deeper (`merchant_application.email`) or less deep (`number`) than in
/// a spec (service-facts, part 2; partner-api, the list of errors). `None` if no field fits.
pub fn locate(fields: &[SpecField], context: &str) -> Option<String> {
    let context = &normalise_entries(context);
    let plain = plain(context);
    let mut said = plain.as_str();
    loop {
        if let Some(path) = ending(fields, said) {
            return Some(with_numbers(path, context));
        }
        (said, _) = said.rsplit_once('.')?;
    }
}

/// Returns the shortest path that ends with these names, or with the last ones of them.
fn ending(fields: &[SpecField], mut said: &str) -> Option<&'static str> {
    loop {
        let ends = |path: &&str| {
            let rest = path.strip_suffix(said);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let found =
            fields.iter().map(|field| field.path).filter(ends).min_by_key(|path| path.len());
        if found.is_some() {
            return found;
        }
        (_, said) = said.split_once('.')?;
    }
}

/// Writes list entries in brackets: some services write `files.0.id` for `files[0].id`.
fn normalise_entries(context: &str) -> String {
    let mut text = String::new();
    for (place, part) in context.split('.').enumerate() {
        let is_entry = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        match (place, is_entry) {
            (0, _) => text.push_str(part),
            (_, true) => text.extend(["[", part, "]"]),
            (_, false) => text.extend([".", part]),
        }
    }
    text
}

/// Returns the context as the field tables write paths: without the numbers of list entries.
fn plain(context: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in context.chars() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ if inside => continue,
            _ => {}
        }
        text.push(c);
    }
    text
}

/// Returns the path with the list entries that the context names, the last entry last.
fn with_numbers(path: &str, context: &str) -> String {
    let numbers = context.rsplit('[').filter_map(|rest| rest.split_once(']'));
    let mut numbers = numbers.map(|(number, _)| number);
    let mut parts: Vec<String> = Vec::new();
    for part in path.rsplit("[]") {
        if !parts.is_empty() {
            parts.push(format!("[{}]", numbers.next().unwrap_or("0")));
        }
        parts.push(part.to_owned());
    }
    parts.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::register::find;

    fn of(kind: &str, context: &str) -> Option<String> {
        locate(find(kind).unwrap().fields, context)
    }

    #[test]
    fn the_services_paths_are_found_in_the_spec() {
        let found = |kind, context| of(kind, context).unwrap_or_default();
        assert_eq!(found("MerchantApplication", "merchant_application.owner_email"), "owner_email");
        assert_eq!(found("MerchantApplication", "email"), "email");
        assert_eq!(found("SavedMethod", "number"), "source.card.number");
        assert_eq!(found("SavedMethod", "card.exp_month"), "source.card.exp_month");
        assert_eq!(found("RecurringCharge", "schedule.start"), "schedule.start");
        assert_eq!(found("RecurringCharge", "amount"), "amount");
        assert_eq!(found("RecurringCharge", "method.number"), "method");
        assert_eq!(
            found("Invoice", "invoice.line_items[1].rate_per_quantity"),
            "line_items[1].rate_per_quantity"
        );
    }

    #[test]
    fn entries_of_a_list_are_written_in_two_ways() {
        for context in ["attachments.3.id", "invoice.attachments[3].id"] {
            assert_eq!(of("Invoice", context).as_deref(), Some("attachments[3].id"));
        }
    }

    #[test]
    fn what_names_no_field_gives_none() {
        assert_eq!(of("Invoice", "Invoice[inv_1]"), None);
        assert_eq!(of("Invoice", ""), None);
        assert_eq!(of("Contact", "mail"), None);
    }
}

//! Time zone names in merchant records, and their IANA zones.
//!
//! Web frameworks of the Rails family keep a list of their own ("Central Time (US & Canada)"),
//! which occurs in the service's merchant records. An unknown name is refused with the nearest
//! known ones: a guessed zone would move an invoice to another day.

use chrono_tz::{TZ_VARIANTS, Tz};

use crate::model::issue::Issue;

const SUGGESTIONS_MAX: usize = 3;

/// Returns the zone of an IANA name or of a Rails-style name.
pub fn find(name: &str) -> Option<Tz> {
    let iana = rails_zones().find(|(rails, _)| *rails == name).map(|(_, iana)| iana);
    iana.unwrap_or(name).parse().ok()
}

pub fn issue(path: &str, name: &str) -> Option<Issue> {
    if find(name).is_some() {
        return None;
    }
    let (message, help) = unknown(name);
    Some(Issue::error("reckon::merchant::timezone_unknown", path, message, help))
}

/// Returns message and help for an unknown name.
pub fn unknown(name: &str) -> (String, String) {
    let near: Vec<String> = nearest(name).into_iter().map(|name| format!("`{name}`")).collect();
    let help = format!("write an IANA name; the nearest are {}", near.join(", "));
    (format!("unknown time zone `{name}`"), help)
}

/// Returns the most similar names, best first; also compares the last part of an IANA name alone.
fn nearest(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase().replace('_', " ");
    let names = TZ_VARIANTS.iter().map(|zone| zone.name());
    let names = names.chain(rails_zones().map(|(name, _)| name));
    let mut names: Vec<(usize, &'static str)> =
        names.map(|name| (edits(&text, name), name)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name).collect()
}

fn edits(text: &str, name: &str) -> usize {
    let name = name.to_lowercase().replace('_', " ");
    let place = name.rsplit('/').next().unwrap_or(&name);
    strsim::damerau_levenshtein(text, &name).min(strsim::damerau_levenshtein(text, place))
}

/// Returns the Rails-style names and the IANA names of their zones.
fn rails_zones() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("rails_zones.tsv").lines().filter_map(|line| line.split_once('\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rails_style_name_has_a_zone() {
        assert_eq!(rails_zones().count(), 151);
        for (rails, iana) in rails_zones() {
            assert_eq!(find(rails), iana.parse().ok(), "{rails}");
            assert!(find(rails).is_some(), "{rails}");
        }
    }

    #[test]
    fn a_misspelt_zone_is_refused_with_the_nearest_names() {
        assert_eq!(nearest("Amercia/Chicago").first(), Some(&"America/Chicago"));
        assert_eq!(nearest("Chicago").first(), Some(&"America/Chicago"));
        assert_eq!(
            nearest("Central Time (US and Canada)").first(),
            Some(&"Central Time (US & Canada)")
        );
    }
}

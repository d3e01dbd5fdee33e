//! Contrast of the colours (WCAG 2.2, 1.4.3 and 1.4.11), in the light look and in the dark one.

use crate::base::page_style::STYLES;

/// Pairs of text colour and background.
const TEXTS: [(&str, &str); 11] = [
    ("ink", "paper"),
    ("ink", "ground"),
    ("quiet", "paper"),
    ("quiet", "ground"),
    ("accent", "paper"),
    ("accent-ink", "accent"),
    ("accent-ink", "accent-over"),
    ("bad", "paper"),
    ("bad", "bad-ground"),
    ("good", "paper"),
    ("good", "good-ground"),
];
/// Pairs of an input's edge or the focus ring and the neighbouring colour.
const EDGES: [(&str, &str); 4] =
    [("edge", "paper"), ("bad", "paper"), ("accent", "paper"), ("accent", "ground")];

/// Returns the part of the styles that holds the colours of a look.
fn palette(is_dark: bool) -> &'static str {
    let (light, rest) = STYLES.split_once("@media (prefers-color-scheme: dark)").unwrap();
    if is_dark { rest.split_once("}\n}").unwrap().0 } else { light }
}

/// Returns the brightness of a colour, from 0 to 1.
fn luminance(palette: &str, name: &str) -> f64 {
    let (_, rest) = palette.split_once(&format!("--{name}: #")).unwrap_or_else(|| panic!("{name}"));
    let hex = rest.split(';').next().unwrap();
    let wide: String = match hex.len() {
        3 => hex.chars().flat_map(|digit| [digit, digit]).collect(),
        _ => hex.to_owned(),
    };
    let part = |at: usize| {
        let part = f64::from(u8::from_str_radix(&wide[at..][..2], 16).unwrap()) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
}

fn contrast(palette: &str, one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(palette, one), luminance(palette, other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Closes E16: every colour is readable, in either look.
#[test]
fn every_colour_is_told_apart_from_what_is_behind_it() {
    for is_dark in [false, true] {
        let palette = palette(is_dark);
        for (pairs, least) in [(&TEXTS[..], 4.5), (&EDGES[..], 3.0)] {
            for (one, other) in pairs {
                let found = contrast(palette, one, other);
                assert!(found >= least, "dark: {is_dark}, {one} on {other}: {found:.2}");
            }
        }
    }
}

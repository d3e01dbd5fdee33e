//! Recognises a clean document by the one pass of [`serde_yaml`] that makes its values.
//!
//! Only a document without anything that the lint pass could refuse is clean: a text in which no
//! anchor, alias, tag, escape, tab, explicit key, or quote or bracket over several lines can be, and
//! values without null and without keys that are no text. Every other document goes through the lint
//! pass, which knows the places and may read such a text otherwise.
//!
//! Guarantees: the lint pass finds no duplicate key, key that is no text, merge key, anchor, alias,
//! tag, depth or size in a clean document; the work is linear in the text.

use serde_yaml::{Mapping, Value};

use crate::spec::text::lint::{DEPTH_MAX, NODES_MAX, is_text};

/// Returns the values of a clean document.
pub(crate) fn clean_value(text: &str) -> Option<Value> {
    // A value or key has at least one byte, apart from those that are left out after a `:`.
    let small = text.len() < NODES_MAX.div_euclid(2);
    let value = (small && is_plain(text)).then(|| serde_yaml::from_str(text).ok())??;
    is_clean(&value, 0).then_some(value)
}

/// Returns whether a text has no character that may be the sign of a construct which hides from
/// its values, or which the two readers of YAML may take differently.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut before = b' ';
    for (at, byte) in bytes.iter().copied().enumerate() {
        let next = at.checked_add(1).and_then(|next| bytes.get(next)).copied().unwrap_or(b' ');
        let starts = !before.is_ascii_alphanumeric();
        let sign = match byte {
            b'&' | b'*' => starts && !next.is_ascii_whitespace(),
            b'!' => starts,
            b'?' => starts && next.is_ascii_whitespace(),
            b'\r' => next != b'\n',
            b'\n' => false,
            // Line breaks of old YAML: U+0085, U+2028 and U+2029.
            0xc2 => next == 0x85,
            0xe2 => bytes.get(at..).is_some_and(|rest| {
                rest.starts_with("\u{2028}".as_bytes()) || rest.starts_with("\u{2029}".as_bytes())
            }),
            other => other == b'\\' || other.is_ascii_control(),
        };
        if sign {
            return false;
        }
        before = byte;
    }
    text.lines().all(is_plain_line)
}

/// Returns whether no quote and no bracket is open at the end of a line, wherever the line is, and
/// whether a line with brackets has none of the signs that mean more within brackets.
fn is_plain_line(line: &str) -> bool {
    let count = |quote: u8| line.bytes().filter(|byte| *byte == quote).count();
    let (single, double) = (count(b'\''), count(b'"'));
    let closed = (single == 0 || double == 0) && single.saturating_add(double).is_multiple_of(2);
    closed && (!line.contains(['[', ']', '{', '}']) || has_plain_brackets(line.as_bytes()))
}

/// Returns whether the brackets of a line close each other, with no bracket or comma in a quote, no
/// comment, no explicit key, and a blank after each colon.
fn has_plain_brackets(line: &[u8]) -> bool {
    let (mut open, mut quoted) = (Vec::new(), false);
    for (at, byte) in line.iter().copied().enumerate() {
        let next = at.checked_add(1).and_then(|next| line.get(next)).copied();
        let fits = match byte {
            b'\'' | b'"' => {
                quoted = !quoted;
                true
            }
            b'[' | b'{' => {
                open.push(byte);
                !quoted
            }
            b']' => !quoted && open.pop() == Some(b'['),
            b'}' => !quoted && open.pop() == Some(b'{'),
            b',' => !quoted,
            b':' => next.is_none_or(|next| next == b' '),
            b'?' | b'#' => false,
            _ => true,
        };
        if !fits {
            return false;
        }
    }
    open.is_empty()
}

fn is_clean(value: &Value, depth: usize) -> bool {
    let within = depth.saturating_add(1);
    match value {
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        // A null is not written alike for every type.
        Value::Null | Value::Tagged(_) => false,
        Value::Sequence(items) => {
            depth < DEPTH_MAX && items.iter().all(|item| is_clean(item, within))
        }
        Value::Mapping(entries) => depth < DEPTH_MAX && has_clean_entries(entries, within),
    }
}

fn has_clean_entries(entries: &Mapping, depth: usize) -> bool {
    let is_clean = |(key, value): (&Value, &Value)| {
        key.as_str().is_some_and(|key| is_text(key) && key != "<<") && is_clean(value, depth)
    };
    entries.iter().all(is_clean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::text::lint::{Keep, lint};
    use crate::spec::text::source::split;

    #[test]
    fn what_only_the_lint_pass_can_refuse_is_never_clean() {
        let deep = format!("a: {}{}", "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX));
        let huge = format!("a: [{}]", "1,".repeat(NODES_MAX));
        for text in [
            "a: &x 1",
            "a: [&x 1]",
            "{a: 1,&b c: 2}",
            "\"a\":&x 1",
            "&a a: 1",
            "a: *b",
            "a: !b c",
            "a: ! c",
            "! a",
            "a: !!str 1",
            "<<: {a: 1}",
            "\"<<\": 1",
            "a: 1\na: 2",
            "b: {c: 1, c: 2}",
            "1: a",
            "true: a",
            "a:\n  - b: {c: 1}\n    b: 2",
            "? [a]\n: b",
            "? a\n: b",
            "{?a: 1}",
            "a: {b: 1, ?c: 2}",
            "a: {b: 1,?c: 2}",
            "a: [?b]",
            "a: [\n1\n]",
            "a: \"one\ntwo\"",
            "a: 'one\ntwo'",
            "a: {b:1}",
            "a: {\"b\":1}",
            "metadata: {name: a, # }\n  ?namespace: books}",
            "metadata: {a: x', b: '} ', c: y', ?name: e}",
            "- b, 'x: {n: v', ?m: w}",
            "\"it's\": 'x\ny'",
            "a: t { u",
            "a: {b: 1}}",
            "a: [{b: 1]}",
            "a:\t1",
            "a: \"\\x26\"",
            "a: b\u{85}c",
            "a: b\u{2028}c",
            "a: [",
            "a: 1\rb: 2",
            "007: a",
            "~: a",
            "[a]: b",
            "a: 1\n\"a\": 2",
            &deep,
            &huge,
        ] {
            assert!(clean_value(text).is_none(), "{text:.60}");
        }
    }

    #[test]
    fn ordinary_text_is_clean_and_has_no_findings() {
        let edge = format!("a: {}{}", "[".repeat(DEPTH_MAX - 1), "]".repeat(DEPTH_MAX - 1));
        for text in [
            "a: Smith & Co",
            "a: thanks!",
            "a: why?",
            "a: https://x.example/?b=1&c=2",
            "a: 3 * 4",
            "a: “one” – ‘two’",
            "---\na: [1, two, 3.5]\nb: {c: yes}\n",
            "a: {b: c, d: [1, \"2.00 USD\"]}",
            "a: [{b: 'c d'}, {b: ''}]",
            "a: it's John's",
            "a: é\r\nb: \"quoted\"\n",
            "a: |\n  text\n",
            &edge,
        ] {
            assert!(clean_value(text).is_some(), "{text:.60}");
            for slice in split(text).0 {
                assert_eq!(lint(text, &slice, Keep::All).findings, [], "{text:.60}");
            }
        }
    }
}

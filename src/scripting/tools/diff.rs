//! Line-by-line difference of two texts.

/// Returns the lines of both texts with a sign: `-` for expected only, `+` for real only, a space
/// for both.
pub(crate) fn diff(expected: &str, real: &str) -> String {
    let (one, other): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), real.lines().collect());
    let mut out = String::from("  (- expected, + real)\n");
    let mut left = one.as_slice();
    let mut right = other.as_slice();
    for line in longest_common(&one, &other) {
        left = write_until(left, line, '-', &mut out);
        right = write_until(right, line, '+', &mut out);
        write_line(' ', line, &mut out);
    }
    for line in left {
        write_line('-', line, &mut out);
    }
    for line in right {
        write_line('+', line, &mut out);
    }
    out
}

/// Writes the lines before `line`, and returns those after it.
fn write_until<'l, 's>(
    lines: &'l [&'s str],
    line: &str,
    sign: char,
    out: &mut String,
) -> &'l [&'s str] {
    let mut rest = lines;
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first == line {
            break;
        }
        write_line(sign, first, out);
    }
    rest
}

fn write_line(sign: char, line: &str, out: &mut String) {
    out.extend([' ', ' ', sign, ' ']);
    out.push_str(line);
    out.push('\n');
}

/// Returns the longest common subsequence of lines.
fn longest_common<'s>(one: &[&'s str], other: &[&str]) -> Vec<&'s str> {
    // `best`: for each prefix of `other`, by its length, the longest subsequence so far.
    let mut best: Vec<Vec<&'s str>> = vec![Vec::new(); other.len().saturating_add(1)];
    for line in one {
        let before = best.clone();
        let mut longest: Vec<&'s str> = Vec::new();
        for ((slot, kept), candidate) in best.iter_mut().skip(1).zip(&before).zip(other) {
            let mut next = slot.clone();
            if candidate == line && kept.len() >= next.len() {
                next.clone_from(kept);
                next.push(line);
            }
            if longest.len() > next.len() {
                next.clone_from(&longest);
            }
            longest.clone_from(&next);
            *slot = next;
        }
    }
    best.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_stands_beside_what_does_not() {
        let told = diff("a\nb\nc\nd\n", "a\nc\nx\nd\n");
        assert_eq!(told, "  (- expected, + real)\n    a\n  - b\n    c\n  + x\n    d\n");
        let none = diff("", "a\n");
        assert_eq!(none, "  (- expected, + real)\n  + a\n");
    }
}

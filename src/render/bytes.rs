//! Formats numbers of bytes for people.

/// Units, largest first. A number is shown in the first unit of which it has at least ten, else in
/// bytes.
const UNITS: [(u32, &str); 3] = [(30, "GiB"), (20, "MiB"), (10, "KiB")];

/// Formats a number of bytes, rounded down.
pub fn bytes(number: u64) -> String {
    let shown = UNITS.into_iter().find_map(|(shift, unit)| {
        let count = number.checked_shr(shift).filter(|count| *count >= 10)?;
        Some(format!("{count} {unit}"))
    });
    shown.unwrap_or_else(|| format!("{number} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_two_digits_at_least_where_it_can() {
        let shown = [0, 9, 10_239, 10_240, 9 << 20, 10 << 20, 10 << 30].map(bytes);
        let wanted =
            ["0 bytes", "9 bytes", "10239 bytes", "10 KiB", "9216 KiB", "10 MiB", "10 GiB"];
        assert_eq!(shown, wanted);
    }
}

//! The measurement as Markdown.

use std::fmt::Write;

use super::course::{Measured, Row};

const HEAD: &str = "| moment | events | held | journal | archive | index | vault | together | resident |\n\
                    |---|---|---|---|---|---|---|---|---|\n";

/// Bytes of each part for each verified event; `together` is without the archive.
pub(crate) fn for_each_event(measured: &Measured) -> String {
    table(measured, |row, bytes| {
        let tenths = bytes.saturating_mul(10).checked_div(row.verified).unwrap_or_default();
        format!("{}.{} B", tenths / 10, tenths % 10)
    })
}

/// Sizes of each part; `together` is without the archive.
pub(crate) fn in_all(measured: &Measured) -> String {
    table(measured, |_, bytes| format!("{} KiB", bytes.div_ceil(1024)))
}

fn table(measured: &Measured, shown: impl Fn(&Row, u64) -> String) -> String {
    let mut text = HEAD.to_owned();
    for row in &measured.rows {
        let sizes = &row.sizes;
        let parts = [sizes.journal, sizes.archive, sizes.index, sizes.vault, sizes.alive()];
        let parts = parts.map(|bytes| shown(row, bytes)).join(" | ");
        let Row { moment, verified, held, resident_kib, .. } = row;
        // Writing to a string cannot fail.
        let _written =
            writeln!(text, "| {moment} | {verified} | {held} | {parts} | {resident_kib} KiB |");
    }
    let Measured { start_kib, peak_kib, end_kib, .. } = measured;
    let resident = format!(
        "\nResident memory, the emulator's included: {start_kib} KiB at the start, {peak_kib} KiB at most, {end_kib} KiB at \
         the end.\n"
    );
    text.push_str(&resident);
    text
}

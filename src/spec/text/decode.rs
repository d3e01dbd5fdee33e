//! Decodes bytes to text. Reports early, and in words, why a file is no YAML at all.
//!
//! Guarantees: decoding never fails on any bytes. A text without an error in `findings` is UTF-8
//! without control characters. A byte order mark at the start is only warned of and left out.

use std::ops::Range;

use crate::model::issue::Severity;

/// In bytes; a larger file is refused before parsing, since a tree is many small files.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
pub const BOM: &str = "\u{feff}";
const SAMPLE_BYTES: usize = 8192;
const CONTROL_PERMILLE_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedText {
    /// The text without its byte order mark; empty for bytes that are no text at all.
    pub text: String,
    pub bom: bool,
    pub findings: Vec<Finding>,
}

impl DecodedText {
    pub fn is_good(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }
}

pub fn decode(bytes: Vec<u8>) -> DecodedText {
    if let Some(finding) = not_text(&bytes) {
        return DecodedText { text: String::new(), bom: false, findings: vec![finding] };
    }
    let (mut text, mut findings) = match String::from_utf8(bytes) {
        Ok(text) => (text, Vec::new()),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            (String::from_utf8_lossy(error.as_bytes()).into_owned(), vec![not_utf8(at)])
        }
    };
    let bom = text.starts_with(BOM);
    if bom {
        text.drain(..BOM.len());
        let shift = |finding: &mut Finding| {
            finding.span = finding.span.start.saturating_sub(BOM.len())
                ..finding.span.end.saturating_sub(BOM.len());
        };
        findings.iter_mut().for_each(shift);
        findings.push(bom_warning());
    }
    findings.extend(control_character(&text));
    DecodedText { text, bom, findings }
}

pub fn too_large(bytes: u64) -> Finding {
    Finding::error(
        "reckon::yaml::too_large",
        0..0,
        format!("the file has {bytes} bytes, more than {FILE_BYTES_MAX}"),
        "split it into several files",
    )
}

fn not_text(bytes: &[u8]) -> Option<Finding> {
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > FILE_BYTES_MAX {
        return Some(too_large(length));
    }
    if is_utf16(bytes) {
        return Some(Finding::error(
            "reckon::yaml::utf16",
            0..0,
            "the file is UTF-16 or UTF-32, not UTF-8",
            "save it as UTF-8, such as with `iconv -f UTF-16 -t UTF-8`",
        ));
    }
    is_binary(bytes).then(|| {
        Finding::error(
            "reckon::yaml::binary",
            0..0,
            "the file is binary data, not text",
            "move it out of the specs folder, or give it another extension",
        )
    })
}

fn is_utf16(bytes: &[u8]) -> bool {
    let marks: [&[u8]; 3] = [&[0xff, 0xfe], &[0xfe, 0xff], &[0, 0, 0xfe, 0xff]];
    if marks.iter().any(|mark| bytes.starts_with(mark)) {
        return true;
    }
    let sample = bytes.get(..bytes.len().min(64)).unwrap_or_default();
    let zeros = |odd: bool| {
        let places = sample.iter().enumerate().filter(|(at, _)| (at % 2 == 1) == odd);
        places.fold((0_usize, 0_usize), |(all, zero), (_, byte)| {
            (all.saturating_add(1), zero.saturating_add(usize::from(*byte == 0)))
        })
    };
    let ((odd, odd_zero), (even, even_zero)) = (zeros(true), zeros(false));
    sample.len() >= 8
        && ((odd_zero == odd && even_zero == 0) || (even_zero == even && odd_zero == 0))
}

fn is_binary(bytes: &[u8]) -> bool {
    let sample = bytes.get(..bytes.len().min(SAMPLE_BYTES)).unwrap_or_default();
    let control = sample.iter().filter(|byte| is_control(**byte)).count();
    let many = control.saturating_mul(1000) > sample.len().saturating_mul(CONTROL_PERMILLE_MAX);
    sample.contains(&0) && (many && sample.len() > 16 || std::str::from_utf8(bytes).is_err())
}

fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 127)
}

fn not_utf8(at: usize) -> Finding {
    let replacement = char::REPLACEMENT_CHARACTER.len_utf8();
    Finding::error(
        "reckon::yaml::not_utf8",
        at..at.saturating_add(replacement),
        "invalid UTF-8 byte",
        "save the file as UTF-8",
    )
}

fn bom_warning() -> Finding {
    let message = "the file starts with a byte order mark";
    let help = "save it as UTF-8 without one";
    let error = Finding::error("reckon::yaml::byte_order_mark", 0..0, message, help);
    Finding { severity: Severity::Warning, ..error }
}

/// Returns a finding for the first character that YAML does not know.
fn control_character(text: &str) -> Option<Finding> {
    let (at, found) = text.char_indices().find(|(_, found)| !is_printable(*found))?;
    let span = at..at.saturating_add(found.len_utf8());
    Some(match found {
        '\0' => Finding::error(
            "reckon::yaml::nul",
            span,
            "the file contains a NUL byte",
            "remove the byte; a document is text",
        ),
        '\u{feff}' => Finding::error(
            "reckon::yaml::byte_order_mark",
            span,
            "the file contains a byte order mark after its start",
            "remove the mark; it remains where files that start with one were joined",
        ),
        _ => Finding::error(
            "reckon::yaml::control_character",
            span,
            format!("the file contains the control character U+{:04X}", u32::from(found)),
            "remove it, or write it escaped inside double quotes",
        ),
    })
}

fn is_printable(found: char) -> bool {
    match found {
        '\t' | '\n' | '\r' | '\u{85}' => true,
        '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => !found.is_control(),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Stable for ever: `reckon::yaml::duplicate_key`.
    pub code: &'static str,
    pub severity: Severity,
    /// The guilty bytes of the text; empty where a part is missing.
    pub span: Range<usize>,
    pub message: String,
    pub help: String,
    pub related: Vec<(Range<usize>, String)>,
}

impl Finding {
    pub fn error(
        code: &'static str,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity: Severity::Error,
            span,
            message: message.into(),
            help: help.into(),
            related: Vec::new(),
        }
    }

    #[must_use]
    pub fn with_related(mut self, span: Range<usize>, message: impl Into<String>) -> Self {
        self.related.push((span, message.into()));
        self
    }
}

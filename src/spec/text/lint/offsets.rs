//! Converts the parser's places, in characters, to bytes of the whole text.

use std::ops::Range;

use saphyr_parser::Span;

/// Walks along with the parser, so that neighbouring places are found in a few steps.
pub(super) struct Offsets<'a> {
    document: &'a str,
    base: usize,
    ascii: bool,
    character: usize,
    byte: usize,
}

impl<'a> Offsets<'a> {
    /// `base` is the document's first byte in the whole text.
    pub(super) fn new(document: &'a str, base: usize) -> Self {
        Self { document, base, ascii: document.is_ascii(), character: 0, byte: 0 }
    }

    pub(super) fn bytes(&mut self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }

    /// Returns the byte at which a character starts; the end for characters that do not exist.
    pub(super) fn byte(&mut self, character: usize) -> usize {
        let within =
            if self.ascii { character.min(self.document.len()) } else { self.walk(character) };
        self.base.saturating_add(within)
    }

    fn walk(&mut self, character: usize) -> usize {
        let (before, after) = self.document.split_at_checked(self.byte).unwrap_or_default();
        if character >= self.character {
            let steps = character.saturating_sub(self.character);
            let mut rest = after.chars();
            let walked = rest.by_ref().take(steps).count();
            self.character = self.character.saturating_add(walked);
            self.byte = self.document.len().saturating_sub(rest.as_str().len());
        } else {
            let steps = self.character.saturating_sub(character);
            let mut rest = before.chars();
            let walked = rest.by_ref().rev().take(steps).count();
            self.character = self.character.saturating_sub(walked);
            self.byte = rest.as_str().len();
        }
        self.byte
    }
}

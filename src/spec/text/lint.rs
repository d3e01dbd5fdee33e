//! One pass of YAML events over one document, before any value is read from it.
//!
//! Refuses constructs that other parsers read differently, that hide values, or that explode:
//! duplicate and non-string keys, tags, merge keys, anchors and aliases, depth and size.
//! Guarantees: every finding has its bytes; the pass never fails on any text, in linear time.

use std::borrow::Cow;
use std::ops::Range;

use frame::{CollectionFrame, MapFrame, Offsets, SeqFrame};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use crate::spec::text::decode::Finding;
use crate::spec::text::node::{Node, NodeValue};
use crate::spec::text::source::Slice;

mod frame;

pub(crate) use frame::is_text;

/// The deepest permitted nesting of collections.
pub const DEPTH_MAX: usize = 64;
/// The most values and keys of one document.
pub const NODES_MAX: usize = 100_000;
/// Further findings of one document are not reported.
pub const FINDINGS_MAX: usize = 50;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Everything but the content of the top key `spec`.
    Head,
    All,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linted {
    /// The document as a tree; if the pass stopped early, the complete entries of its top mapping.
    pub root: Option<Node>,
    pub findings: Vec<Finding>,
    pub complete: bool,
}

pub fn lint(text: &str, slice: &Slice, keep: Keep) -> Linted {
    #[cfg(test)]
    RUNS.with(|runs| runs.set(runs.get().saturating_add(1)));
    let document = text.get(slice.range.clone()).unwrap_or_default();
    let mut lint = Lint {
        text,
        offsets: Offsets::new(document, slice.range.start),
        keep,
        frames: Vec::new(),
        findings: Vec::new(),
        root: None,
        nodes: 0,
        last_end: slice.range.start,
        complete: true,
    };
    let mut parser = Parser::new_from_str(document);
    while let Some(event) = parser.next_event() {
        let read = match event {
            Ok((event, span)) => lint.event(event, span),
            Err(error) => Err(lint.syntax(&error, slice)),
        };
        if read.is_err() {
            lint.complete = false;
            break;
        }
    }
    lint.finish()
}

#[cfg(test)]
thread_local! {
    pub(crate) static RUNS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

struct LintStop;

struct Lint<'a> {
    text: &'a str,
    offsets: Offsets<'a>,
    keep: Keep,
    frames: Vec<CollectionFrame<'a>>,
    findings: Vec<Finding>,
    root: Option<Node>,
    nodes: usize,
    /// The end of the last event, in bytes of the text.
    last_end: usize,
    complete: bool,
}

impl<'a> Lint<'a> {
    fn event(&mut self, event: Event<'a>, span: Span) -> Result<(), LintStop> {
        let span = self.offsets.bytes(span);
        match event {
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
            Event::Alias(_) => {
                self.report(frame::alias_finding(span.clone()));
                self.scalar(Cow::Borrowed(""), ScalarStyle::DoubleQuoted, span.clone())?;
            }
            Event::Scalar(value, style, anchor, tag) => {
                self.report_anchor_or_tag(anchor, tag.is_some(), &span);
                self.scalar(value, style, span.clone())?;
            }
            Event::SequenceStart(anchor, tag) => {
                self.report_anchor_or_tag(anchor, tag.is_some(), &span);
                let keep = self.is_kept();
                self.open(CollectionFrame::Seq(SeqFrame {
                    start: span.start,
                    items: Vec::new(),
                    keep,
                }))?;
            }
            Event::MappingStart(anchor, tag) => {
                self.report_anchor_or_tag(anchor, tag.is_some(), &span);
                let frame = MapFrame::new(span.start, self.is_kept());
                self.open(CollectionFrame::Map(frame))?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(&span)?,
        }
        self.last_end = self.last_end.max(span.end);
        Ok(())
    }

    fn report(&mut self, finding: Finding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    fn report_anchor_or_tag(&mut self, anchor: usize, tag: bool, span: &Range<usize>) {
        let sign = if anchor > 0 { '&' } else { '!' };
        let word = self.word_before(sign, span);
        if anchor > 0 {
            self.report(frame::alias_finding(word));
        } else if tag {
            self.report(Finding::error(
                "reckon::yaml::tag",
                word,
                "tags are not supported: a tag changes the type of the value",
                "remove the word that starts with `!`; quote the value if it must be text",
            ));
        }
    }

    /// Returns the word that starts with `sign` between the last event and the end of `span`.
    fn word_before(&self, sign: char, span: &Range<usize>) -> Range<usize> {
        let from = self.last_end.min(span.start);
        let before = self.text.get(from..span.end).unwrap_or_default();
        let Some(at) = before.find(sign) else { return span.clone() };
        let word = before.get(at..).unwrap_or_default();
        let length = word.find(char::is_whitespace).unwrap_or(word.len());
        let start = from.saturating_add(at);
        start..start.saturating_add(length)
    }

    fn scalar(
        &mut self,
        value: Cow<'a, str>,
        style: ScalarStyle,
        span: Range<usize>,
    ) -> Result<(), LintStop> {
        let plain = style == ScalarStyle::Plain;
        let span = match style {
            ScalarStyle::Plain if value.is_empty() => span.start..span.start,
            ScalarStyle::Literal | ScalarStyle::Folded => self.with_header(span),
            ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => span,
        };
        self.last_end = self.last_end.max(span.end);
        self.count(&span)?;
        if let Some(CollectionFrame::Map(map)) = self.frames.last_mut()
            && map.key.is_none()
        {
            let finding = map.take_key(value, plain, span);
            if let Some(finding) = finding {
                self.report(finding);
            }
            return Ok(());
        }
        let value = if self.is_kept() {
            NodeValue::Scalar { text: value.into_owned(), plain }
        } else {
            NodeValue::Skipped
        };
        self.attach(Node { span, value });
        Ok(())
    }

    /// Extends the span of a block scalar, which starts at its content, to its `|` or `>`.
    fn with_header(&self, span: Range<usize>) -> Range<usize> {
        let from = self.last_end.min(span.start);
        let before = self.text.get(from..span.start).unwrap_or_default();
        match before.find(['|', '>']) {
            Some(at) => from.saturating_add(at)..span.end,
            None => span,
        }
    }

    fn count(&mut self, span: &Range<usize>) -> Result<(), LintStop> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes <= NODES_MAX {
            return Ok(());
        }
        self.report(Finding::error(
            "reckon::yaml::too_many_values",
            span.clone(),
            format!("the document has more than {NODES_MAX} keys and values"),
            "split it into several documents",
        ));
        Err(LintStop)
    }

    fn open(&mut self, frame: CollectionFrame<'a>) -> Result<(), LintStop> {
        let start = frame.start();
        self.count(&(start..start))?;
        if self.frames.len() >= DEPTH_MAX {
            self.report(Finding::error(
                "reckon::yaml::too_deep",
                start..start.saturating_add(1),
                format!("the value is nested deeper than {DEPTH_MAX} levels"),
                "remove levels; no field of a document is nested that deep",
            ));
            return Err(LintStop);
        }
        self.frames.push(frame);
        Ok(())
    }

    fn end(&mut self, span: &Range<usize>) -> Result<(), LintStop> {
        let Some(frame) = self.frames.pop() else { return Err(LintStop) };
        let span = self.collection_span(frame.start(), span);
        let node = frame.into_node(span);
        if let Some(CollectionFrame::Map(map)) = self.frames.last_mut()
            && map.key.is_none()
        {
            let finding = map.take_collection_key(&node);
            self.report(finding);
            return Ok(());
        }
        self.attach(node);
        Ok(())
    }

    /// Returns the span from the start of a collection to its bracket, or to its last value.
    fn collection_span(&self, start: usize, end: &Range<usize>) -> Range<usize> {
        if !end.is_empty() {
            return start..end.end;
        }
        let whole = self.text.get(start..end.start).unwrap_or_default();
        let text_end = start.saturating_add(whole.trim_end().len());
        start..text_end.max(self.last_end.min(end.start))
    }

    fn attach(&mut self, node: Node) {
        match self.frames.last_mut() {
            None => self.root = self.root.take().or(Some(node)),
            Some(CollectionFrame::Seq(seq)) => {
                if seq.keep {
                    seq.items.push(node);
                }
            }
            Some(CollectionFrame::Map(map)) => map.attach(node),
        }
    }

    /// Returns whether the value that starts now becomes part of the tree.
    fn is_kept(&self) -> bool {
        match self.frames.last() {
            None => true,
            Some(CollectionFrame::Seq(seq)) => seq.keep,
            Some(CollectionFrame::Map(map)) => {
                let top_spec = self.keep == Keep::Head
                    && self.frames.len() == 1
                    && map.key.as_ref().is_some_and(|(key, _)| key == "spec");
                map.keep && !top_spec
            }
        }
    }

    fn syntax(&mut self, error: &ScanError, slice: &Slice) -> LintStop {
        let at = self.offsets.byte(error.marker().index());
        let finding = frame::syntax_finding(self.text, slice, at, error.info());
        self.report(finding);
        LintStop
    }

    fn finish(mut self) -> Linted {
        if self.root.is_none()
            && let Some(CollectionFrame::Map(map)) = self.frames.drain(..).next()
        {
            let span = map.start..self.last_end;
            self.root = Some(Node { span, value: NodeValue::Map(map.entries) });
        }
        Linted { root: self.root, findings: self.findings, complete: self.complete }
    }
}

#[cfg(test)]
mod tests;

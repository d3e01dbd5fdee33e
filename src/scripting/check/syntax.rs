//! Syntax errors of the language, in helpful words.

use std::collections::BTreeSet;

use rhai::{AST, Engine, LexError, ParseError, ParseErrorType as P};

use crate::base::wording::{count_noun, did_you_mean};
use crate::model::issue::PlacedIssue;
use crate::scripting::language::source::{Issues, Place, ScriptSource, defined_functions, place};

/// Returns the problem at its place, or at the end of the file if it has none.
pub(crate) fn problem(source: &ScriptSource, error: &ParseError) -> PlacedIssue {
    let last = source.text.lines().count().max(1);
    let width = source.text.lines().last().map_or(0, |line| line.chars().count());
    let at = place(error.position()).filter(|(line, _)| *line <= last);
    let at = at.unwrap_or((last, width.max(1)));
    let (message, help) =
        reserved_key(source, at, error.err_type()).unwrap_or_else(|| describe(error.err_type()));
    if let P::FnDuplicatedDefinition(name, _) = error.err_type() {
        return duplicate_function(source, name, at.0, &message, &help);
    }
    source.problem(at, "syntax", &message, &help)
}

/// Reserved words of the language that cannot be keys of a map without quotes.
const KEYWORDS: [&str; 24] = [
    "if", "else", "do", "while", "until", "loop", "for", "in", "fn", "private", "break",
    "continue", "return", "throw", "try", "catch", "switch", "let", "const", "import", "export",
    "as", "true", "false",
];

/// Returns message and fix for a reserved word as the key of a map; `None` for another problem.
fn reserved_key(source: &ScriptSource, at: Place, kind: &P) -> Option<(String, String)> {
    let word = source.key_at(at)?;
    let is_kept = KEYWORDS.contains(&word.as_str())
        || matches!(kind, P::Reserved(reserved) if *reserved == word);
    let message = format!("`{word}` is a reserved word: it cannot be a key without quotes");
    let quoted = format!("write it in quotes: `\"{word}\": …`");
    let help = match word.as_str() {
        "until" => format!("write `ends`, the option of `suspend`; for another key, {quoted}"),
        _ => quoted,
    };
    is_kept.then_some((message, help))
}

fn duplicate_function(
    source: &ScriptSource,
    name: &str,
    line: usize,
    message: &str,
    help: &str,
) -> PlacedIssue {
    let first = source.definition(name, line.saturating_sub(1));
    let problem = source.problem(source.definition(name, line), "duplicate", message, help);
    PlacedIssue { related: vec![source.related(first, "the first one")], ..problem }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the language describes other errors")]
fn describe(kind: &P) -> (String, String) {
    let owned = |message: &str, help: &str| (message.to_owned(), help.to_owned());
    match kind {
        P::UnexpectedEOF => owned(
            "unexpected end of the file",
            "close what is open: a `}`, `)`, `]` or a quote is missing",
        ),
        P::WrongFnDefinition => owned(
            "a function begins inside another one",
            "close the function before it: a `}` is missing there",
        ),
        P::BadInput(lex) => describe_lex_error(lex),
        P::MissingToken(token, why) => (
            format!("a `{token}` is missing here {why}").trim_end().to_owned(),
            format!("write `{token}` before this, or look for what is not closed above"),
        ),
        P::FnDuplicatedDefinition(name, count) => (
            format!(
                "the function `{name}` with {} is defined twice",
                count_noun(*count, "parameter")
            ),
            "remove one of them, or give it another name".to_owned(),
        ),
        P::FnDuplicatedParam(name, parameter) => (
            format!("`{name}` has two parameters named `{parameter}`"),
            "give one of them another name".to_owned(),
        ),
        P::DuplicatedProperty(name) => (
            format!("the map has `{name}` twice"),
            "remove one of them: a key has one value".to_owned(),
        ),
        P::AssignmentToConstant(name) => (
            format!("`{name}` is a constant and cannot be changed"),
            format!("write `let {name} = …` where it is made, or use another variable"),
        ),
        P::Reserved(word) => reserved_word(word),
        P::ExprExpected(what) => (
            format!("a value is missing here: {what}"),
            "write it, or remove the operator before it".to_owned(),
        ),
        P::PropertyExpected => owned(
            "a name is missing behind the dot",
            "write the name of a field; there are no fractions: money is `money(\"1.50 USD\")`",
        ),
        P::VariableExpected => {
            owned("the name of a variable is missing here", "write one, such as `let amount = …`")
        }
        P::LoopBreak => owned("`break` outside a loop", "write `return` to leave a function"),
        P::ExprTooDeep => owned("nesting is too deep", "split it: give its parts names with `let`"),
        P::TooManyFunctions => owned(
            "the script has too many functions",
            "move some into a module: `import \"lib/name\" as name;`",
        ),
        P::LiteralTooLarge(what, most) => (
            format!("a {what} of a script has {most} elements at most"),
            "make it shorter".to_owned(),
        ),
        P::UnknownOperator(text) => {
            let help = operator_help(text).unwrap_or("remove it, or write another one");
            (format!("there is no operator `{text}`"), help.to_owned())
        }
        P::VariableUndefined(name) => {
            (format!("there is no variable `{name}` here"), "write `let` first".to_owned())
        }
        other => (
            lower_first(&other.to_string()),
            "check this place and the words just before it".to_owned(),
        ),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the language describes other errors")]
fn describe_lex_error(error: &LexError) -> (String, String) {
    match error {
        LexError::UnterminatedString => (
            "the text is not closed".to_owned(),
            "write its closing `\"` on the same line; write a text of several lines between backticks".to_owned(),
        ),
        LexError::MalformedNumber(text) => (
            format!("`{text}` is not a whole number"),
            "write whole numbers; money is `money(\"1.50 USD\")`".to_owned(),
        ),
        LexError::MalformedEscapeSequence(text) => (
            format!("`{text}` is not a valid escape in a text"),
            "write `\\\\` for a backslash, `\\\"` for a quote, `\\n` for a new line".to_owned(),
        ),
        LexError::StringTooLong(most) => (
            format!("a text of a script has {most} characters at most"),
            "make it shorter".to_owned(),
        ),
        LexError::ImproperSymbol(symbol, _) if symbol == "=" => ("`=` does not compare".to_owned(), "write `==`".to_owned()),
        LexError::ImproperSymbol(symbol, _) if symbol == "eval" => reserved_word(symbol),
        LexError::UnexpectedInput(text) => (format!("unexpected `{text}`"), "remove it".to_owned()),
        other => (lower_first(&other.to_string()), "check this place and the words just before it".to_owned()),
    }
}

/// Returns the fix for an operator of other languages.
fn operator_help(text: &str) -> Option<&'static str> {
    Some(match text {
        "++" => "write `+= 1`",
        "--" => "write `-= 1`",
        "===" => "write `==`",
        "!==" => "write `!=`",
        _ => return None,
    })
}

fn reserved_word(word: &str) -> (String, String) {
    if word == "eval" {
        let help = "write the code itself: a script never runs text";
        return ("`eval` cannot be used".to_owned(), help.to_owned());
    }
    let known =
        ["let", "const", "if", "else", "for", "while", "loop", "return", "fn", "import", "switch"];
    let help = match word {
        "->" => "functions have no types here: remove it".to_owned(),
        "var" => "write `let`".to_owned(),
        "null" | "nil" => "write `()`".to_owned(),
        "match" | "case" => "write `switch value { 1 => …, _ => … }`".to_owned(),
        _ => operator_help(word)
            .map(str::to_owned)
            .or_else(|| did_you_mean(word, known))
            .unwrap_or_else(|| "give it another name".to_owned()),
    };
    (format!("`{word}` is a reserved word"), help)
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

// Fault-tolerant parser: an error in one function does not hide the errors in the next.

/// Errors after which a file is not parsed further.
const ERRORS_MAX: usize = 20;

/// Readable part of a file.
pub(crate) struct Parsed {
    pub(crate) tree: Option<AST>,
    /// Names of functions that cannot be parsed.
    pub(crate) unparsed: BTreeSet<String>,
}

/// Parses a file. Each unparsable piece is reported and removed, and the rest is parsed again.
pub(crate) fn parse(engine: &Engine, source: &ScriptSource, problems: &mut Issues) -> Parsed {
    let mut parts = split_parts(&source.text);
    let mut lost = BTreeSet::new();
    for _ in 0..ERRORS_MAX {
        let text: String = parts.iter().map(|part| part.text.as_str()).collect();
        let error = match engine.compile(&text) {
            Ok(tree) => return Parsed { tree: Some(tree), unparsed: lost },
            Err(error) => error,
        };
        problems.push(problem(source, &error));
        let line = place(error.position()).map(|(line, _)| line);
        let open = matches!(error.err_type(), P::WrongFnDefinition);
        let Some(part) = failed_part(&mut parts, line, open) else { break };
        lost.extend(defined_functions(&part.text).map(str::to_owned));
        // The other parts keep their lines.
        part.text.retain(|found| found == '\n');
    }
    Parsed { tree: None, unparsed: lost }
}

/// One piece of a file: from the line where an item begins to the line where the next one does.
struct Part {
    first: usize,
    text: String,
}

/// Splits a text into pieces; functions begin at the start of a line, as is usual.
fn split_parts(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let begins = ["fn ", "private fn ", "import ", "const "];
        let begins = begins.iter().any(|word| line.starts_with(word));
        match parts.last_mut().filter(|_| !begins) {
            Some(part) => part.text.push_str(line),
            None => parts.push(Part { first: index.saturating_add(1), text: line.to_owned() }),
        }
    }
    parts
}

/// Returns the piece that holds an error. With `open`, the piece before it, which was not closed.
fn failed_part(parts: &mut [Part], line: Option<usize>, open: bool) -> Option<&mut Part> {
    let line = line.unwrap_or(usize::MAX);
    let written = |part: &Part| !part.text.trim().is_empty();
    let before = |part: &Part| if open { part.first < line } else { part.first <= line };
    parts.iter_mut().rev().find(|part| before(part) && written(part))
}

//! A minimal tokenizer of Rust. It finds the paths from the root of the crate that a file mentions, without comments
//! and literals.

/// A word or a sign of the code.
pub(crate) struct Token {
    pub(crate) text: String,
    /// Line number, counted from 1.
    pub(crate) line: usize,
}

/// Splits code into words and signs, without comments, text and character literals. `::` is one sign.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let literal = literal_length(rest);
        let length = literal.unwrap_or_else(|| word_length(rest, first));
        let piece = &rest[..length];
        if literal.is_none() && !first.is_whitespace() {
            tokens.push(Token { text: piece.to_owned(), line });
        }
        line += piece.matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// Returns the text literals of the code as they are written, with their lines from 1.
pub(crate) fn literals(text: &str) -> Vec<(usize, &str)> {
    let mut literals = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let literal = literal_length(rest);
        let length = literal.unwrap_or_else(|| word_length(rest, first));
        let is_text = ["\"", "r\"", "r#", "b\"", "br"].iter().any(|start| rest.starts_with(start));
        if literal.is_some() && is_text {
            literals.push((text[..at].matches('\n').count() + 1, &rest[..length]));
        }
        at += length;
    }
    literals
}

/// Returns the length of the word or sign that the text begins with.
fn word_length(text: &str, first: char) -> usize {
    match text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len()) {
        0 if text.starts_with("::") => 2,
        0 => first.len_utf8(),
        word => word,
    }
}

/// Returns the length of the comment or literal that the text begins with, if any.
fn literal_length(text: &str) -> Option<usize> {
    let until = |from: usize, end: &str| {
        text[from..].find(end).map_or(text.len(), |at| from + at + end.len())
    };
    if text.starts_with("//") {
        return Some(until(0, "\n"));
    }
    if text.starts_with("/*") {
        return Some(until(2, "*/"));
    }
    if let Some(raw) = text.strip_prefix("br").or_else(|| text.strip_prefix('r')) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let open = text.len() - raw.len() + hashes + 1;
            return Some(until(open, &format!("\"{}", "#".repeat(hashes))));
        }
    }
    match text.chars().next()? {
        '"' => Some(quoted_length(text, '"')),
        '\'' if text[1..].starts_with('\\') => Some(quoted_length(text, '\'')),
        '\'' => text
            .chars()
            .nth(2)
            .filter(|c| *c == '\'')
            .map(|_| text.chars().take(3).map(char::len_utf8).sum()),
        _ => None,
    }
}

/// Returns the length of a quoted literal with backslash escapes.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// The line and the parts of a path from the root of the crate.
pub(crate) type Import = (usize, Vec<String>);

/// Returns every path from the root of the crate, by `crate::` or by enough `super::`. Groups are expanded.
pub(crate) fn imports(tokens: &[Token], depth: usize, is_module: fn(&str) -> bool) -> Vec<Import> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (start, supers) = skip_supers(tokens, at);
        let is_crate = tokens[at].text == "crate" && text_at(tokens, at + 1) == "::";
        if is_crate {
            at = expand(tokens, at + 2, &[], &mut found);
        } else if supers >= depth.max(1) && is_module(text_at(tokens, start)) {
            at = expand(tokens, start, &[], &mut found);
        } else {
            at = start.max(at + 1);
        }
    }
    found
}

/// Skips a chain of `super::`. Returns the position of the next token, and the number of `super`.
fn skip_supers(tokens: &[Token], mut at: usize) -> (usize, usize) {
    let mut supers = 0;
    while text_at(tokens, at) == "super" && text_at(tokens, at + 1) == "::" {
        at += 2;
        supers += 1;
    }
    (at, supers)
}

fn text_at(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.text.as_str())
}

/// Follows one path or `{group}` of paths after a prefix. Returns the position behind it.
pub(crate) fn expand(
    tokens: &[Token],
    mut at: usize,
    prefix: &[String],
    found: &mut Vec<Import>,
) -> usize {
    let mut path = prefix.to_vec();
    while text_at(tokens, at) != "{" {
        let Some(token) = tokens.get(at) else {
            return at;
        };
        path.push(token.text.clone());
        if text_at(tokens, at + 1) != "::" {
            found.push((token.line, path));
            return at + 1;
        }
        at += 2;
    }
    at += 1;
    while at < tokens.len() && text_at(tokens, at) != "}" {
        at = expand(tokens, at, &path, found);
        while at < tokens.len() && ![",", "}"].contains(&text_at(tokens, at)) {
            at += 1;
        }
        at += usize::from(text_at(tokens, at) == ",");
    }
    at + 1
}

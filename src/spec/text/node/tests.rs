//! Laws of places: a span covers exactly its value.
#![expect(
    clippy::format_push_string,
    clippy::arithmetic_side_effects,
    reason = "a test that writes small texts"
)]

use proptest::prelude::*;
use serde_yaml::Value;

use crate::spec::text::lint::{Keep, lint};
use crate::spec::text::node::*;
use crate::spec::text::source::split;

/// A value in the form in which it is written.
#[derive(Debug, Clone)]
enum Tree {
    Double(String),
    Single(String),
    Plain(String),
    Literal(Vec<String>),
    Folded(Vec<String>),
    Map { flow: bool, entries: Vec<Tree> },
    Seq { flow: bool, items: Vec<Tree> },
}

fn key(index: usize) -> String {
    ["a", "é", "\"q r\"", "'s'", "t-u"][index % 5].to_owned() + if index < 5 { "" } else { "x" }
}

impl Tree {
    fn value(&self) -> Value {
        match self {
            Self::Double(text) | Self::Single(text) | Self::Plain(text) => text.as_str().into(),
            Self::Literal(lines) => format!("{}\n", lines.join("\n")).into(),
            Self::Folded(lines) => lines.join(" ").into(),
            Self::Map { entries, .. } => {
                let pairs = entries.iter().enumerate();
                let pair = |(index, value): (usize, &Self)| {
                    (Value::from(key(index).trim_matches(['"', '\''])), value.value())
                };
                Value::Mapping(pairs.map(pair).collect())
            }
            Self::Seq { items, .. } => items.iter().map(Self::value).collect(),
        }
    }

    /// Writes the value after `key:` or `-`; `depth` is the indentation of the lines below it.
    fn emit(&self, flow: bool, depth: usize, out: &mut String) {
        let indent = format!("\n{}", " ".repeat(depth));
        match self {
            Self::Single(text) => out.push_str(&format!(" '{}'", text.replace('\'', "''"))),
            Self::Plain(text) => out.push_str(&format!(" {text}")),
            Self::Double(text) => out
                .push_str(&format!(" {}", Value::from(text.as_str()).as_str().map(json).unwrap())),
            Self::Literal(lines) if !flow => {
                out.push_str(&format!(" | # x{indent}{}", lines.join(&indent)));
            }
            Self::Folded(lines) if !flow => {
                out.push_str(&format!(" >-{indent}{}", lines.join(&indent)));
            }
            Self::Literal(_) | Self::Folded(_) => {
                out.push_str(&format!(" {}", json(self.value().as_str().unwrap())));
            }
            Self::Map { flow: own, entries } => {
                let flow = flow || *own || entries.is_empty();
                Self::emit_all(
                    entries,
                    flow,
                    depth,
                    ["{", "}"],
                    |index| format!("{}:", key(index)),
                    out,
                );
            }
            Self::Seq { flow: own, items } => {
                let flow = flow || *own || items.is_empty();
                let head = |_| if flow { String::new() } else { "-".to_owned() };
                Self::emit_all(items, flow, depth, ["[", "]"], head, out);
            }
        }
    }

    fn emit_all(
        items: &[Self],
        flow: bool,
        depth: usize,
        [open, close]: [&str; 2],
        head: impl Fn(usize) -> String,
        out: &mut String,
    ) {
        if flow {
            out.push_str(&format!(" {open}"));
        }
        for (index, item) in items.iter().enumerate() {
            if flow && index > 0 {
                out.push_str(", ");
            }
            if !flow {
                out.push_str(&format!("\n{}", " ".repeat(depth)));
            }
            out.push_str(&head(index));
            item.emit(flow, depth + 2, out);
        }
        if flow {
            out.push_str(close);
        }
    }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn any_tree() -> impl Strategy<Value = Tree> {
    let lines = || prop::collection::vec("[a-zé][a-zé:#'\"-]{0,5}", 1..3);
    let leaf = prop_oneof![
        "[ -~éß\n\t]{0,8}".prop_map(Tree::Double),
        "[!-~é][ -~éß]{0,8}".prop_map(Tree::Single),
        "x[a-zé-]{0,8}".prop_map(Tree::Plain),
        lines().prop_map(Tree::Literal),
        lines().prop_map(Tree::Folded),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let many = || prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (any::<bool>(), many()).prop_map(|(flow, entries)| Tree::Map { flow, entries }),
            (any::<bool>(), many()).prop_map(|(flow, items)| Tree::Seq { flow, items }),
        ]
    })
}

/// Collects every place of a value with its path.
fn paths(value: &Value, path: &Path, found: &mut Vec<(Path, Value)>) {
    found.push((path.clone(), value.clone()));
    match value {
        Value::Mapping(map) => {
            map.iter()
                .for_each(|(key, value)| paths(value, &path.key(key.as_str().unwrap()), found));
        }
        Value::Sequence(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| paths(item, &path.index(index), found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Tagged(_) => {}
    }
}

fn at<'a>(root: &'a Node, path: &Path) -> &'a Node {
    path.0.iter().fold(root, |node, segment| match segment {
        PathSegment::Key(key) => node.get(key).unwrap(),
        PathSegment::Index(index) => &node.items()[*index],
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_slice_of_every_value_reads_back_as_the_value(
        entries in prop::collection::vec(any_tree(), 1..4),
        before in "(# é\n|b: 1\n---\n)?",
    ) {
        let tree = Tree::Map { flow: false, entries };
        let mut text = before.clone();
        tree.emit(false, 0, &mut text);
        text.push_str("\n# end\n");
        let (slices, _) = split(&text);
        let linted = lint(&text, slices.last().unwrap(), Keep::All);
        prop_assert_eq!(&linted.findings, &[], "{}", text);
        let root = linted.root.unwrap();
        let mut places = Vec::new();
        paths(&tree.value(), &Path::default(), &mut places);
        for (path, value) in places {
            let span = at(&root, &path).span.clone();
            let line = text[..span.start].rfind('\n').map_or(0, |before| before + 1);
            let column = text[line..span.start].chars().count();
            let slice = format!("{}{}", " ".repeat(column), &text[span]);
            let read: Value = serde_yaml::from_str(&slice).unwrap();
            prop_assert_eq!(&read, &value, "{}: {:?} in\n{}", path, slice, text);
        }
    }
}

fn underlined(text: &str, path: &str, at: UnderlinedPart) -> String {
    let (slices, _) = split(text);
    let root = lint(text, &slices[0], Keep::All).root.unwrap();
    text[locate(&root, text, &Path::parse(path), at)].to_owned()
}

#[test]
fn what_is_missing_or_fills_lines_points_at_the_nearest_key() {
    let text = "spec:\n  list:\n  - a: 1\n  - {b: x}\n  none:\n  text: |\n    one\n";
    let check = |path: &str, at: UnderlinedPart, expect: &str| {
        assert_eq!(underlined(text, path, at), expect, "{path}");
    };
    check("spec.list[0].a", UnderlinedPart::Value, "1");
    check("spec.list[0].a", UnderlinedPart::Key, "a");
    check("spec.list[1]", UnderlinedPart::Value, "{b: x}");
    check("spec.list[1].c.d", UnderlinedPart::Value, "{b: x}");
    check("spec.list[7]", UnderlinedPart::Value, "list");
    check("spec.list", UnderlinedPart::Value, "list");
    check("spec.none", UnderlinedPart::Value, "none");
    check("spec.gone", UnderlinedPart::Key, "spec");
}

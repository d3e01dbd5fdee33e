//! Laws of the mask.

use crate::kinds::schema::kind::Mutability;
use crate::spec::text::lint::{Keep, lint};
use crate::spec::text::mask::*;
use crate::spec::text::source::split;

const fn field(path: &'static str, privacy: Privacy) -> SpecField {
    SpecField { path, privacy, mutability: Mutability::LocalOnly, doc: "" }
}

const FIELDS: &[SpecField] = &[
    field("card", Privacy::Personal),
    field("card.number", Privacy::Secret),
    field("card.exp", Privacy::Plain),
    field("emails[].address", Privacy::Personal),
    field("note", Privacy::Plain),
];

fn shown(text: &str) -> String {
    let (slices, _) = split(text);
    let rules = PrivacyRules::for_manifest(Some(FIELDS), std::iter::empty());
    let root = lint(text, &slices[0], Keep::All).root.unwrap();
    let private: Vec<_> = rules.private_leaves(&root).into_iter().map(|(range, _)| range).collect();
    let source = SourceText::new("f".into(), text.into());
    MaskedSource::new(&source, &private).source().text.to_string()
}

#[test]
fn private_leaves_are_hidden_one_for_one_and_nothing_else_is() {
    assert_eq!(
        shown("kind: X\nspec:\n  card: {number: '42', exp: 12, name: Zoë}\n  note: hi\n"),
        "kind: X\nspec:\n  card: {number: ••••, exp: 12, name: •••}\n  note: hi\n"
    );
    assert_eq!(
        shown("spec:\n  emails:\n  - address: a@b\n    label: x\n  card: |\n    one\n    two\n"),
        "spec:\n  emails:\n  - address: •••\n    label: x\n  card: •\n    •••\n    •••\n"
    );
}

#[test]
fn a_reference_to_a_secret_is_shown_and_a_misspelt_private_field_is_not() {
    assert_eq!(shown("spec: {card: {number: {env: CARD}}}"), "spec: {card: {number: {env: CARD}}}");
    assert_eq!(shown("spec: {numbr: 12}"), "spec: {numbr: ••}");
    assert_eq!(shown("number: 12"), "number: ••");
}

#[test]
fn a_card_number_and_control_characters_are_hidden_anywhere() {
    assert_eq!(
        shown("metadata: {name: a}\nspec: {note: 4242 4242 4242 4242}\n"),
        "metadata: {name: a}\nspec: {note: •••• •••• •••• ••••}\n"
    );
    let source = SourceText::new("f".into(), "a\u{1b}[1m\u{0}".into());
    assert_eq!(&*MaskedSource::new(&source, &[]).source().text, "a•[1m•");
}

#[test]
fn a_document_that_does_not_parse_is_masked_by_names() {
    let text = "metadata: {number: 1}\nspec:\n  a: 'x\n  card: {n: 1}\n  number: |\n    12\n\n    34\n  note: x\n";
    let rules = PrivacyRules::for_manifest(Some(FIELDS), std::iter::empty());
    let hidden = private_lines(text, &(0..text.len()), rules.names(), &(0..21));
    let source = SourceText::new("f".into(), text.into());
    assert_eq!(
        &*MaskedSource::new(&source, &hidden).source().text,
        "metadata: {number: 1}\nspec:\n  a: 'x\n  card: ••••••\n  number: •\n    ••\n\n    ••\n  note: x\n"
    );
}

#[test]
fn a_message_loses_private_words_and_card_numbers() {
    assert_eq!(mask_words("`CA` is no CARD", &["CA"]), "`•••` is no CARD");
    assert_eq!(mask_words("xjane@doe.example", &["jane@doe.example"]), "x•••");
    assert_eq!(mask_words("4242424242424242\u{1b}", &[]), "•••• 4242•");
}

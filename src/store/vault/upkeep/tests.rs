use super::*;

fn reference(byte: u8) -> VaultRef {
    VaultRef([byte; 16])
}

/// Closes K11.
#[test]
fn a_name_is_found_among_other_digits_and_in_two_parts() {
    let known: Vec<VaultRef> = (1..=5).map(reference).collect();
    let mut named = NameSearch::of(known.iter());
    named.read(format!("x{}y", reference(1)).as_bytes());
    named.read(format!("abc{}def0", reference(2)).as_bytes());
    let text = known[2].to_string();
    let (begin, end) = text.split_at(7);
    named.restart();
    named.read(begin.as_bytes());
    named.read(end.as_bytes());
    named.restart();
    let text = known[3].to_string();
    let (begin, end) = text.split_at(9);
    named.read(begin.as_bytes());
    named.restart();
    named.read(end.as_bytes());
    named.read(reference(9).to_string().as_bytes());
    let found: Vec<bool> = known.iter().map(|one| named.contains(*one)).collect();
    assert_eq!(found, [true, true, true, false, false]);
    assert!(!named.contains(reference(9)), "there is no such value");
}

/// Closes K11.
#[test]
fn the_key_of_a_sealed_text_is_found() {
    let payload = [[7; 16], [8; 16], [9; 16]].concat();
    let text = format!("ssealed:{}", BASE64_STANDARD_NO_PAD.encode(&payload));
    let mut named = NameSearch::default();
    for byte in text.as_bytes() {
        named.read(&[*byte]);
    }
    assert_eq!(named.keys.iter().collect::<Vec<_>>(), [&[8; 16]]);
    named.read(b"sealed:sealed:");
    assert_eq!(named.keys.len(), 1);
}

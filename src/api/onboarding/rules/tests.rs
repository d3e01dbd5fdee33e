use super::*;

#[test]
fn ordinary_texts_are_plain() {
    for text in [
        "",
        "50% off",
        "100%",
        "100%25 apples",
        "5%20 split",
        "100%dedicated",
        "100%fabric",
        "AT&T",
        "R&D; Sales",
        "Smith & Sons; Partners",
        "Consulting",
        "Internationalization",
        "McDonald",
        "12-3456789",
        "123456789",
        "1234567890123456",
        "148414841484",
        "111000025",
        "https",
        "JohnDoeAndSons12",
        "GitHubActions",
        "rkabcdefghijklmnopqrstuvwxyz",
        "a=b",
        "Café Zürich",
        "Mozilla/5.0 (X11; Linux)",
        "en-US,en;q=0.9",
        "203.0.113.7",
        "O'Neill \"The\" Lawyer",
        "%",
        "%%",
        "% 20",
        "&;",
        "&#;",
    ] {
        assert_eq!(encoding(text, false), None, "{text}");
    }
    assert_eq!(encoding("https://acme.example/a%20b?c=%26", true), None);
}

#[test]
fn encoded_texts_are_told() {
    for (text, expect) in [
        ("Smith%20%26%20Sons", Encoding::Percent),
        ("Smith %26 Sons", Encoding::Percent),
        ("Caf%C3%A9 Roma", Encoding::Percent),
        ("100%25", Encoding::Percent),
        ("https%3A%2F%2Facme.example", Encoding::Percent),
        ("Smith &amp; Sons", Encoding::Html),
        ("O&#39;Neill", Encoding::Html),
        ("O&#x27;Neill", Encoding::Html),
        ("Caf&eacute;", Encoding::Html),
        ("SmFuZQ==", Encoding::Base64),
        ("SmFuZSBEb2UgSW5j", Encoding::Base64),
        ("U21pdGggJiBTb25zIExMQw==", Encoding::Base64),
    ] {
        assert_eq!(encoding(text, false), Some(expect), "{text}");
    }
    assert_eq!(encoding("https%3A%2F%2Facme.example", true), Some(Encoding::Percent));
}

use serde_json::json;

use super::*;

#[test]
fn html_shows_no_card_either() {
    assert_eq!(html_body("<p>4242424242424242</p>"), Ok("<p>•••• 4242</p>".to_owned()));
}

#[test]
fn a_map_is_posted_as_it_is_and_a_text_as_a_map() {
    let map = json!({"b": 1, "a": [true, null]});
    assert_eq!(json_body(&map, BodyFormat::Json).unwrap(), r#"{"b":1,"a":[true,null]}"#);
    assert_eq!(json_body(&json!("x\n\"y\""), BodyFormat::Json).unwrap(), r#"{"text":"x\n\"y\""}"#);
    assert_eq!(json_body(&json!("x"), BodyFormat::Chat).unwrap(), r#"{"text":"x"}"#);
    assert_eq!(
        json_body(&json!({"a": 1}), BodyFormat::Chat).unwrap(),
        r#"{"text":"{\n  \"a\": 1\n}"}"#
    );
    assert_eq!(text_body(&json!({"a": 1})).unwrap(), "{\n  \"a\": 1\n}");
}

#[test]
fn a_body_of_another_sort_or_too_large_is_refused() {
    for odd in [json!(null), json!(7), json!(true), json!(["x"])] {
        assert_eq!(text_body(&odd).unwrap_err(), "its body is neither a text nor a map");
        assert!(json_body(&odd, BodyFormat::Chat).is_err(), "{odd}");
    }
    let full = "x".repeat(BODY_BYTES_MAX);
    assert!(text_body(&json!(full)).is_ok());
    for over in [json!(format!("{full}x")), json!({"a": full})] {
        assert!(text_body(&over).unwrap_err().ends_with("; at most 65536 are sent"));
        assert!(json_body(&over, BodyFormat::Json).is_err());
    }
}

#[test]
fn card_numbers_are_masked_wherever_they_slipped_in() {
    let card = "4242 4242 4242 4242";
    let body = json!({"note": card, "list": [4_242_424_242_424_242_u64], card: {"n": 7}});
    let expect = r#"{"note":"•••• 4242","list":["•••• 4242"],"•••• 4242":{"n":7}}"#;
    assert_eq!(json_body(&body, BodyFormat::Json).unwrap(), expect);
    for shown in [text_body(&body), json_body(&body, BodyFormat::Chat), text_body(&json!(card))] {
        let shown = shown.unwrap();
        assert!(shown.contains("•••• 4242") && !shown.contains("4242 4242"), "{shown}");
    }
}

fn target() -> SmtpTarget {
    SmtpTarget {
        to: vec!["ops@a.example".into(), "b@b.example".into()],
        from: "billing@c.example".into(),
        host: "127.0.0.1".to_owned(),
        port: 25,
        login: None,
        encryption: SmtpEncryption::None,
    }
}

fn message(body: &str) -> OutgoingNotification {
    let (key, target) = ("evt_1/tell".to_owned(), "ops".to_owned());
    OutgoingNotification { key, target, body: json!(body), html: None, subject: None, to: None }
}

fn written(message: &OutgoingNotification) -> String {
    let letter = build_mail(&target(), message, DateTime::UNIX_EPOCH).unwrap();
    String::from_utf8(letter.bytes).unwrap()
}

/// Returns the header's fields, folded lines joined, and the body.
fn parts(text: &str) -> (Vec<String>, String) {
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let head = head.replace("\r\n ", " ");
    (head.split("\r\n").map(str::to_owned).collect(), body.to_owned())
}

#[test]
fn a_mail_has_these_fields_and_no_others() {
    let (head, body) = parts(&written(&message("one\ntwo")));
    let id = "9058113266c871b6587e6247f6e55d3e429ffa4488b01fe01e80fa8f45b5edf1";
    let expect = [
        "From: billing@c.example",
        "Subject: A notification from reckon",
        "Date: Thu, 01 Jan 1970 00:00:00 +0000",
        &format!("Message-ID: <{id}@c.example>"),
        "Auto-Submitted: auto-generated",
        "To: ops@a.example, b@b.example",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 7bit",
    ];
    assert_eq!(head, expect);
    assert_eq!(body, "one\r\ntwo\r\n");
}

#[test]
fn html_stands_beside_the_text_and_a_repeat_is_the_same_mail() {
    let html = Some("<p>Hello</p>".to_owned());
    let rich = OutgoingNotification { html, ..message("Hello") };
    let (head, body) = parts(&written(&rich));
    let kind = head.iter().find(|line| line.starts_with("Content-Type")).unwrap();
    assert!(kind.starts_with("Content-Type: multipart/alternative;"), "{head:?}");
    let plain = body.find("Content-Type: text/plain; charset=utf-8").unwrap();
    let marked = body.find("Content-Type: text/html; charset=utf-8").unwrap();
    assert!(plain < marked && body.contains("\r\n<p>Hello</p>\r\n"), "{body}");
    assert_eq!(written(&rich), written(&rich));
    let long = Some("x".repeat(65_537));
    assert!(
        build_mail(
            &target(),
            &OutgoingNotification { html: long, ..message("x") },
            DateTime::UNIX_EPOCH
        )
        .is_err()
    );
}

#[test]
fn a_repeat_has_the_same_id_and_another_notification_another_one() {
    let id = |text: &str| parts(text).0.into_iter().find(|line| line.starts_with("Message-ID"));
    let first = id(&written(&message("x"))).unwrap();
    assert_eq!(id(&written(&message("y"))).unwrap(), first);
    let other = OutgoingNotification { key: "evt_2/tell".to_owned(), ..message("x") };
    assert_ne!(id(&written(&other)).unwrap(), first);
}

#[test]
fn no_subject_adds_a_header_or_a_recipient() {
    for evil in ["x\r\nBcc: eve@e.example", "x\nBcc: eve@e.example\n\nhello", "é\r\n\r\nBcc: e"] {
        let text =
            written(&OutgoingNotification { subject: Some(evil.to_owned()), ..message("body") });
        let (head, body) = parts(&text);
        assert_eq!((head.len(), body.as_str()), (9, "body\r\n"), "{text}");
        assert!(!head.iter().any(|line| line.starts_with("Bcc")), "{text}");
    }
}

#[test]
fn a_subject_is_cut_masked_and_never_empty() {
    assert_eq!(subject(Some(" \n ")), SUBJECT);
    assert_eq!(subject(Some("card 4242424242424242")), "card •••• 4242");
    assert_eq!(subject(Some(&"é".repeat(300))).chars().count(), SUBJECT_CHARACTERS_MAX);
}

#[test]
fn every_mail_is_ascii_in_lines_that_a_server_takes() {
    let long = "é".repeat(3000);
    for body in ["Grüße • 你好", "a\0b", long.as_str(), "x\r\n.\r\ny"] {
        let subject = Some("Grüße • 你好 ".repeat(9));
        let text = written(&OutgoingNotification { subject, ..message(body) });
        assert!(text.is_ascii(), "{text}");
        assert!(text.split("\r\n").all(|line| line.len() < 998 && !line.contains('\n')));
    }
}

#[test]
fn what_is_no_address_is_refused_without_being_shown() {
    for odd in
        ["", "canary", "canary@", "@c.example", "c anary@c.example", "a@b\r\nRCPT", "ü@c.example"]
    {
        let to = Some(vec!["a@a.example".to_owned(), odd.to_owned()]);
        let refused = build_mail(
            &target(),
            &OutgoingNotification { to, ..message("x") },
            DateTime::UNIX_EPOCH,
        );
        let reason = refused.err().unwrap();
        assert_eq!(reason, "recipient 2 of 2 is no e-mail address in plain ASCII", "{odd}");
    }
    for to in [vec![], vec!["a@a.example".to_owned(); 51]] {
        let to = Some(to);
        assert!(
            build_mail(
                &target(),
                &OutgoingNotification { to, ..message("x") },
                DateTime::UNIX_EPOCH
            )
            .is_err()
        );
    }
}

#[test]
fn the_notification_s_own_addresses_replace_the_target_s() {
    let to = Some(vec!["jane@j.example".to_owned()]);
    let message = OutgoingNotification { to, ..message("x") };
    let letter = build_mail(&target(), &message, DateTime::UNIX_EPOCH).unwrap();
    assert_eq!(letter.to.iter().map(ToString::to_string).collect::<Vec<_>>(), ["jane@j.example"]);
    assert!(!String::from_utf8(letter.bytes).unwrap().contains("ops@a.example"));
}

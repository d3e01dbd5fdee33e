//! A notification as a mail: plain text in UTF-8, HTML beside it if there is some, and an id
//! derived from its key. Pure.
//!
//! No text of a script or a payer can add a header or a recipient. Addresses are checked one by
//! one, and a subject loses its line ends before it is encoded.

use chrono::{DateTime, Utc};
use data_encoding::HEXLOWER;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::{Address, Message as Mime};

use crate::base::hash::sha256;
use crate::base::secret::{Secret, mask_digits};
use crate::notify::message::{self, OutgoingNotification, SmtpTarget};

const SUBJECT: &str = "A notification from reckon";
/// Longer subjects are cut.
const SUBJECT_CHARACTERS_MAX: usize = 200;
/// For more recipients, an operator uses a list at the mail server.
const RECIPIENTS_MAX: usize = 50;
/// Marks the mail as one that expects no answer (RFC 3834).
const AUTO_SUBMITTED: HeaderName = HeaderName::new_from_ascii_str("Auto-Submitted");

/// A mail that is ready to be sent.
pub(crate) struct MimeMail {
    pub from: Address,
    /// At least one.
    pub to: Vec<Address>,
    /// Header and body, all ASCII, lines ended by CRLF.
    pub bytes: Vec<u8>,
}

/// Writes the mail; an error if there is no recipient, an address is invalid, or the body does not
/// fit.
pub(crate) fn build_mail(
    mail: &SmtpTarget,
    message: &OutgoingNotification,
    now: DateTime<Utc>,
) -> Result<MimeMail, String> {
    let text = message::text_body(&message.body)?;
    let from =
        parse_address(mail.from.expose()).ok_or("the target's `from` is no e-mail address")?;
    let to = recipients(mail, message)?;
    let mailbox = |address: &Address| Mailbox::new(None, address.clone());
    let head = Mime::builder()
        .from(mailbox(&from))
        .subject(subject(message.subject.as_deref()))
        .date(now.into())
        .message_id(Some(message_id(&message.key, &from)))
        .raw_header(HeaderValue::new(AUTO_SUBMITTED, "auto-generated".to_owned()));
    let head = to.iter().fold(head, |head, address| head.to(mailbox(address)));
    let whole = match &message.html {
        None => head.singlepart(SinglePart::plain(text)),
        Some(html) => {
            let html = message::html_body(html)?;
            let parts = MultiPart::alternative().boundary(boundary(&message.key));
            let parts = parts.singlepart(SinglePart::plain(text));
            head.multipart(parts.singlepart(SinglePart::html(html)))
        }
    };
    let whole = whole.map_err(|error| format!("no mail can be made of it: {error}"))?;
    Ok(MimeMail { bytes: whole.formatted(), from, to })
}

/// Derives the id from the key, so that every attempt at a notification has the same one.
fn message_id(key: &str, from: &Address) -> String {
    format!("<{}@{}>", HEXLOWER.encode(sha256(key.as_bytes()).as_bytes()), from.domain())
}

/// Derives the separator of a mail's parts from the key: the same for every attempt, and in no
/// part.
fn boundary(key: &str) -> String {
    HEXLOWER.encode(sha256(format!("boundary {key}").as_bytes()).as_bytes())
}

fn subject(text: Option<&str>) -> String {
    let plain = mask_digits(text.unwrap_or_default());
    let plain = plain.replace(|found: char| found.is_control(), " ");
    match plain.trim() {
        "" => SUBJECT.to_owned(),
        text => text.chars().take(SUBJECT_CHARACTERS_MAX).collect(),
    }
}

fn recipients(mail: &SmtpTarget, message: &OutgoingNotification) -> Result<Vec<Address>, String> {
    let texts: Vec<&str> = match &message.to {
        Some(to) => to.iter().map(String::as_str).collect(),
        None => mail.to.iter().map(Secret::expose).collect(),
    };
    let count = texts.len();
    if count == 0 {
        return Err("there is nobody to send it to".to_owned());
    }
    if count > RECIPIENTS_MAX {
        return Err(format!("it is for {count} addresses; at most {RECIPIENTS_MAX} are sent to"));
    }
    let read = |(at, text)| {
        parse_address(text)
            .ok_or_else(|| format!("recipient {at} of {count} is no e-mail address in plain ASCII"))
    };
    (1..).zip(texts).map(read).collect()
}

/// Parses an address that is safe in a command and in a header.
fn parse_address(text: &str) -> Option<Address> {
    let safe = |byte: u8| byte.is_ascii_graphic() && !b"<>(),;:\"\\".contains(&byte);
    text.bytes().all(safe).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::notify::message::SmtpEncryption;

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
        for evil in ["x\r\nBcc: eve@e.example", "x\nBcc: eve@e.example\n\nhello", "é\r\n\r\nBcc: e"]
        {
            let text = written(&OutgoingNotification {
                subject: Some(evil.to_owned()),
                ..message("body")
            });
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
        for odd in [
            "",
            "canary",
            "canary@",
            "@c.example",
            "c anary@c.example",
            "a@b\r\nRCPT",
            "ü@c.example",
        ] {
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
        assert_eq!(
            letter.to.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["jane@j.example"]
        );
        assert!(!String::from_utf8(letter.bytes).unwrap().contains("ops@a.example"));
    }
}

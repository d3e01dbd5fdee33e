use serde_json::json;

use crate::kinds::schema::kind::CheckCx;
use crate::kinds::testing::{cx, good, lines, link_problems, manifest, problems, read_in};

const HEAD: &str =
    "merchant: acme\ncontact: jane\nbank_account: Operating\ninvoice_date: 2026-11-30\n";

fn check(rest: &str, expect: &str) {
    assert_eq!(problems("Invoice", &format!("{HEAD}{rest}")), expect);
}

fn check_rates(rates: &[&str], expect: &str) {
    let lines = rates.join("}\n- {description: A, rate_per_quantity: ");
    let lines = format!("- {{description: A, rate_per_quantity: {lines}}}");
    check(&format!("line_items:\n{lines}"), expect);
}

#[test]
fn defaults_are_filled_in_and_empty_lists_left_out() {
    let rest = "attachments: []\nline_items: [{description: Retainer, rate_per_quantity: \"125.00 USD\"}, {description: Copies, rate_per_quantity: 250, quantity: 1}]";
    assert_eq!(
        good("Invoice", &format!("{HEAD}{rest}")),
        json!({
            "merchant": "acme",
            "contact": "jane",
            "bank_account": "Operating",
            "invoice_date": "2026-11-30",
            "line_items": [
                {"description": "Retainer", "rate_per_quantity": {"minor": 12500, "currency": "USD"}, "quantity": "1", "rate_type": "units"},
                {"description": "Copies", "rate_per_quantity": {"minor": 250}, "quantity": "1", "rate_type": "units"},
            ],
        })
    );
}

#[test]
fn every_optional_field_is_kept() {
    let rest = "currency: EUR\nreference: R-7\nline_items: [{description: A, rate_per_quantity: 1.50 EUR}]\n\
                invoice_messages: [{email_addresses: [jane@example.com], subject: Hello, message: Please pay}]\n\
                attachments: [{id: fref_1}, {file: letters/a.pdf}]";
    let spec = good("Invoice", &format!("{HEAD}{rest}"));
    assert_eq!(spec["currency"], "EUR");
    assert_eq!(spec["reference"], "R-7");
    assert_eq!(
        spec["invoice_messages"],
        json!([{"email_addresses": ["jane@example.com"], "subject": "Hello", "message": "Please pay"}])
    );
    assert_eq!(spec["attachments"], json!([{"id": "fref_1"}, {"file": "letters/a.pdf"}]));
}

#[test]
fn what_reckon_fills_in_is_refused_with_what_to_write_instead() {
    check(
        "line_items: [{description: A, rate_per_quantity: 1}]\nsource_id: x\ntest_mode: true\ncontact_id: p_1\nbank_account_id: bank_1",
        "reckon::spec::refused_field @ spec.source_id (key): reckon derives `source_id` from partner, kind, namespace and name, and never changes it | leave it out; a text of your own goes into `reference`\n\
         reckon::spec::refused_field @ spec.test_mode (key): the merchant's mode decides whether an invoice is for tests | leave it out, or write `mode` in the merchant\n\
         reckon::spec::refused_field @ spec.contact_id (key): reckon fills in the contact's id | write `contact: NAME`, the name of a Contact document\n\
         reckon::spec::refused_field @ spec.bank_account_id (key): reckon fills in the bank account's id | write `bank_account`, with the account's name or its `bank_` id",
    );
}

#[test]
fn an_amount_needs_a_currency_and_both_readings_are_shown() {
    check_rates(
        &["'125'", "12.345 USD", "abc", "1.00 USX"],
        "reckon::amount::no_currency @ spec.line_items[0].rate_per_quantity: `125` has no currency | it could be 125.00 USD, or 1.25 USD (125 minor units): write `\"125.00 USD\"` or `\"1.25 USD\"`\n\
         reckon::amount::too_many_decimals @ spec.line_items[1].rate_per_quantity: `12.345 USD` has more than 2 decimals, and USD has no smaller unit | write fewer decimals\n\
         reckon::amount::not_an_amount @ spec.line_items[2].rate_per_quantity: `abc` is no amount | write digits, a point and a currency, such as `\"125.00 USD\"`\n\
         reckon::amount::unknown_currency @ spec.line_items[3].rate_per_quantity: `USX` is no currency | did you mean `USD`?",
    );
    check_rates(
        &["99999999999999999999.00 USD", "100000000000000"],
        "reckon::amount::out_of_range @ spec.line_items[0].rate_per_quantity: the amount is out of range | the most is 99999999999999 minor units\n\
         reckon::amount::out_of_range @ spec.line_items[1].rate_per_quantity: the amount is out of range | the most is 99999999999999 minor units",
    );
}

#[test]
fn a_float_is_no_amount() {
    check_rates(
        &["12.50"],
        "reckon::amount::float @ spec.line_items[0].rate_per_quantity: the number 12.5 has no currency, and is not a whole number of minor units | write `\"12.50 USD\"`, in quotes",
    );
    // Closes M10: both readings, the likelier first.
    check_rates(
        &["125.00"],
        "reckon::amount::float @ spec.line_items[0].rate_per_quantity: the number 125.0 has no currency, and is not a whole number of minor units | write `\"125.00 USD\"`, in quotes, or `\"1.25 USD\"` if minor units were meant",
    );
    check_rates(
        &["[1]"],
        "reckon::spec::wrong_type @ spec.line_items[0].rate_per_quantity: expected an amount such as `\"125.00 USD\"`, found a list | write an amount such as `\"125.00 USD\"`",
    );
}

#[test]
fn minor_units_are_refused_where_the_policy_wants_decimals() {
    let cx = CheckCx { decimal_amounts_only: true, ..cx() };
    let spec = format!("{HEAD}line_items: [{{description: A, rate_per_quantity: 12500}}]");
    assert_eq!(
        lines(&read_in("Invoice", &spec, &cx).unwrap().issues),
        "reckon::amount::integer @ spec.line_items[0].rate_per_quantity: 12500 is a number of minor units, and `policy.amounts: decimal` requires a decimal amount | write `\"12500.00 USD\"`, or `\"125.00 USD\"` if minor units were meant"
    );
}

#[test]
fn one_invoice_has_one_currency() {
    check_rates(
        &["5", "1.00 EUR", "1.00 USD"],
        "reckon::invoice::mixed_currencies @ spec.line_items[2].rate_per_quantity: the amount is in USD, and the invoice in EUR | write one currency everywhere, or an invoice for each\n  \
         spec.line_items[1].rate_per_quantity: EUR is set here",
    );
    check(
        "currency: USD\nline_items: [{description: A, rate_per_quantity: 1.00 EUR}]",
        "reckon::invoice::mixed_currencies @ spec.line_items[0].rate_per_quantity: the amount is in EUR, and the invoice in USD | write one currency everywhere, or an invoice for each\n  \
         spec.currency: USD is set here",
    );
    check(
        "currency: usd\nline_items: [{description: A, rate_per_quantity: 1.00 USD}]",
        "reckon::amount::unknown_currency @ spec.currency: `usd` is no currency | did you mean `USD`?",
    );
}

#[test]
fn the_total_is_more_than_zero_and_within_what_the_service_takes() {
    check_rates(
        &["1.00 USD", "-1.00 USD"],
        "reckon::invoice::total_zero @ spec.line_items: the total is 0.00 USD, which cannot be paid | write lines that add up to more than zero",
    );
    check_rates(
        &["99999999999999", "1"],
        "reckon::invoice::total_out_of_range @ spec.line_items: the total is more than 99999999999999 minor units, the maximum of the service | write several invoices",
    );
    check(
        "line_items: []",
        "reckon::invoice::no_lines @ spec.line_items: the invoice has no lines | write at least one, with `description` and `rate_per_quantity`",
    );
}

#[test]
fn quantity_and_rate_type_are_fixed() {
    check(
        "line_items: [{description: '', rate_per_quantity: 1, quantity: 2, rate_type: hours}]",
        "reckon::text::empty @ spec.line_items[0].description: the text is empty | write a text, such as `Retainer`\n\
         reckon::invoice::fixed_value @ spec.line_items[0].quantity: unknown value `2`: an invoice always has `1` | leave it out, and write the line's whole amount in `rate_per_quantity`\n\
         reckon::invoice::fixed_value @ spec.line_items[0].rate_type: unknown value `hours`: an invoice always has `units` | leave it out, and write the line's whole amount in `rate_per_quantity`",
    );
}

#[test]
fn an_attachment_is_named_in_one_way_and_once() {
    check(
        "line_items: [{description: A, rate_per_quantity: 1}]\nattachments: [{}, {id: fref_1, file: letters/a}, {id: fref_2}, {id: fref_2}, {file: letters/b}, {file: letters/b}]",
        "reckon::invoice::attachment_form @ spec.attachments[0]: an attachment has either `id` or `file` | write either `{id: fref_…}`, of a file on the service, or `{file: PATH}`\n\
         reckon::invoice::attachment_form @ spec.attachments[1]: an attachment has either `id` or `file` | write either `{id: fref_…}`, of a file on the service, or `{file: PATH}`\n\
         reckon::invoice::attachment_twice @ spec.attachments[3]: the file is attached twice | remove one of the two\n\
         reckon::invoice::attachment_twice @ spec.attachments[5]: the file is attached twice | remove one of the two",
    );
}

#[test]
fn a_file_is_looked_at_when_its_document_is_read() {
    let spec = format!(
        "{HEAD}line_items: [{{description: A, rate_per_quantity: 1}}]\nattachments: [{{file: letters/a.pdf}}, {{file: b.pdf}}]"
    );
    let read = read_in("Invoice", &spec, &cx()).unwrap();
    assert_eq!(
        lines(&read.issues),
        "reckon::file::unreadable @ spec.attachments[1].file: `b.pdf` is not there | put it there"
    );
    let found: Vec<_> =
        read.files.iter().map(|one| one.file.as_ref().map(|file| file.size)).collect();
    assert_eq!(found, [Some(9), None]);
    let closed = CheckCx { files: None, ..cx() };
    assert!(lines(&read_in("Invoice", &spec, &closed).unwrap().issues).starts_with(
        "reckon::file::closed @ spec.attachments[0].file: reckon.yaml opens no folder of attachments to specs | write `secrets: {attachments: DIR}`"
    ));
}

#[test]
fn messages_have_addresses_and_attachments_have_ids() {
    check(
        "line_items: [{description: A, rate_per_quantity: 1}]\ninvoice_messages: [{email_addresses: []}, {email_addresses: [a@b.c, canary]}]\nattachments: [{id: fref_}, {id: f1}]",
        "reckon::invoice::no_address @ spec.invoice_messages[0].email_addresses: the message has no address | write at least one address, or leave the message out\n\
         reckon::text::email @ spec.invoice_messages[1].email_addresses[1]: the text is not an e-mail address | write one, such as `jane@example.com`\n\
         reckon::invoice::attachment_id @ spec.attachments[0].id: `fref_` is not the id of an uploaded file | write the `fref_` id that the service gave to the file, or `file: PATH`\n\
         reckon::invoice::attachment_id @ spec.attachments[1].id: `f1` is not the id of an uploaded file | write the `fref_` id that the service gave to the file, or `file: PATH`",
    );
}

#[test]
fn a_date_is_a_date_or_a_timestamp_with_its_zone() {
    let dated = |date: &str| {
        let line = "line_items: [{description: A, rate_per_quantity: 1}]";
        problems(
            "Invoice",
            &format!("merchant: a\ncontact: b\nbank_account: c\ninvoice_date: '{date}'\n{line}"),
        )
    };
    for good in ["2026-11-30", "2028-02-29", "2026-11-30T12:00:00Z", "2026-11-30T12:00:00.5-06:00"]
    {
        assert_eq!(dated(good), "", "{good}");
    }
    for bad in ["2026-02-30", "2026-1-3", "30.11.2026", "2026-11-30T12:00:00", ""] {
        assert_eq!(
            dated(bad),
            format!(
                "reckon::invoice::date @ spec.invoice_date: `{bad}` is neither a date nor a timestamp with its zone | write a date such as `2026-11-30`, or `2026-11-30T12:00:00-06:00`"
            ),
        );
    }
}

#[test]
fn the_contact_belongs_to_the_same_merchant() {
    let invoice = manifest(
        "Invoice",
        "it",
        &format!("{HEAD}line_items: [{{description: A, rate_per_quantity: 1}}]"),
    );
    let contact = |merchant: &str| {
        let spec = format!(
            "merchant: {merchant}\nfirst_name: J\nlast_name: D\nemail_addresses: [{{address: j@d.example}}]"
        );
        manifest("Contact", "jane", &spec)
    };
    assert_eq!(link_problems(&[invoice.clone(), contact("default/acme")]), "");
    assert_eq!(
        link_problems(&[invoice, contact("other")]),
        "reckon::reference::other_merchant @ spec.contact: Contact/default/jane belongs to Merchant/other, not to Merchant/acme | write one of the same merchant; nothing is shared between merchants\n  \
         Contact/default/jane spec.merchant: Merchant/other is the merchant here"
    );
}

#[test]
fn keys_alone_make_no_invoice() {
    let invoice = manifest(
        "Invoice",
        "it",
        &format!("{HEAD}line_items: [{{description: A, rate_per_quantity: 1}}]"),
    );
    let merchant = manifest(
        "Merchant",
        "acme",
        "mode: test\ncredentials: {keys: {public_key: m_0123456789012345678901, secret_key: {env: KEY}}}",
    );
    assert!(link_problems(&[invoice, merchant]).starts_with(
        "reckon::reference::keys_alone @ spec.merchant: an invoice needs an access token, and Merchant/default/acme has only gateway keys"
    ));
}

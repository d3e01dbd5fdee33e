//! Rules of the reference for the fields of an invoice (partner-api, Invoice and POST /invoices).

use crate::rules::table::check;

const GOOD: &str = r#"apiVersion: reckon.dev/v1
kind: Invoice
metadata: {name: it}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2030-11-30
  currency: USD
  reference: R-1
  line_items:
    - description: Retainer
      rate_per_quantity: 125.00 USD
      quantity: "1"
      rate_type: units
  invoice_messages:
    - email_addresses: [jane@example.com]
      subject: Hello
      message: Please pay
  attachments:
    - id: fref_1
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec: {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: joe}
spec: {merchant: other, first_name: Joe, last_name: Roe, email_addresses: [{address: joe@example.com}]}
---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: other}
spec: {mode: test, credentials: {authorization_code: {env: CODE_OTHER}}}
---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, credentials: {authorization_code: {env: CODE_ACME}}}
"#;

pub(crate) const RULES: &str = r#"
contact_id | string | required; `p_` ID: reckon fills it in
    + contact_id: p_1
    = specs/it.yaml:22:3 reckon::spec::refused_field: reckon fills in the contact's id | write `contact: NAME`, the name of a Contact document
contact_id | string | required
    - contact: jane
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `contact` is missing | add `contact`: The contact that pays, NAME or NAMESPACE/NAME (partner-api, POST /invoices, contact_id)
contact_id | string: a list is no string
    - contact: jane
    + contact: [jane]
    = specs/it.yaml:6:12 reckon::spec::wrong_type: expected a text, found a list | write a text
contact_id | required: the contact is one that is there
    - contact: jane
    + contact: jim
    = specs/it.yaml:6:12 reckon::link::missing: there is no Contact `jim` | add a document of kind Contact with this name, or correct the name
contact_id | `p_` ID: an id is no name
    - contact: jane
    + contact: p_1
    = specs/it.yaml:6:12 reckon::reference::malformed: invalid name of a Contact: the name `p_1` holds `_` | write lowercase letters, digits, `-` or `.`, such as `p-1` (a name, or NAMESPACE/NAME)
contact_id | a contact of the same merchant
    - contact: jane
    + contact: joe
    = specs/it.yaml:6:12 reckon::reference::other_merchant: Contact/default/joe belongs to Merchant/other, not to Merchant/acme | write one of the same merchant; nothing is shared between merchants
bank_account_id | string | required; `bank_` ID, deposit account: reckon fills it in
    + bank_account_id: bank_1
    = specs/it.yaml:22:3 reckon::spec::refused_field: reckon fills in the bank account's id | write `bank_account`, with the account's name or its `bank_` id
bank_account_id | string | required
    - bank_account: Operating
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `bank_account` is missing | add `bank_account`: The deposit account: its name or its `bank_` id (partner-api, POST /invoices, bank_account_id)
bank_account_id | string: a list is no string
    - bank_account: Operating
    + bank_account: [Operating]
    = specs/it.yaml:7:17 reckon::spec::wrong_type: expected a text, found a list | write a text
bank_account_id | required: it names an account
    - bank_account: Operating
    + bank_account: ''
    = specs/it.yaml:7:17 reckon::text::empty: the text is empty | write a text, such as `Operating`
bank_account_id | `bank_` ID: more than its prefix
    - bank_account: Operating
    + bank_account: bank_
    = specs/it.yaml:7:17 reckon::invoice::bank_account_id: `bank_` is only the beginning of a bank account's id | write the whole `bank_` id that the service shows, or the account's name
invoice_date | timestamp | required
    - invoice_date: 2030-11-30
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `invoice_date` is missing | add `invoice_date`: A date (12:00 in the merchant's zone) or an RFC 3339 timestamp (partner-api, POST /invoices)
invoice_date | timestamp | ISO 8601
    - invoice_date: 2030-11-30
    + invoice_date: 30.11.2030
    = specs/it.yaml:8:17 reckon::invoice::date: `30.11.2030` is neither a date nor a timestamp with its zone | write a date such as `2026-11-30`, or `2026-11-30T12:00:00-06:00`
invoice_date | timestamp | ISO 8601: a day that exists
    - invoice_date: 2030-11-30
    + invoice_date: 2030-02-30
    = specs/it.yaml:8:17 reckon::invoice::date: `2030-02-30` is neither a date nor a timestamp with its zone | write a date such as `2026-11-30`, or `2026-11-30T12:00:00-06:00`
invoice_date | timestamp | ISO 8601: with its zone
    - invoice_date: 2030-11-30
    + invoice_date: 2030-11-30T12:00:00
    = specs/it.yaml:8:17 reckon::invoice::date: `2030-11-30T12:00:00` is neither a date nor a timestamp with its zone | write a date such as `2026-11-30`, or `2026-11-30T12:00:00-06:00`
invoice_date | timestamp: a mapping is no timestamp
    - invoice_date: 2030-11-30
    + invoice_date: {year: 2030}
    = specs/it.yaml:8:17 reckon::spec::wrong_type: expected a text, found a mapping | write a text
currency | string | currency code
    - currency: USD
    + currency: dollar
    = specs/it.yaml:9:13 reckon::amount::unknown_currency: `dollar` is no currency | write a 3-letter code, such as `USD`
currency | string | currency code of every amount
    - currency: USD
    + currency: EUR
    = specs/it.yaml:13:26 reckon::invoice::mixed_currencies: the amount is in USD, and the invoice in EUR | write one currency everywhere, or an invoice for each
currency | string: a list is no string
    - currency: USD
    + currency: [USD]
    = specs/it.yaml:9:13 reckon::spec::wrong_type: expected a text, found a list | write a text
reference | string | shown in the portal: a list is no string
    - reference: R-1
    + reference: [R-1]
    = specs/it.yaml:10:14 reckon::spec::wrong_type: expected a text, found a list | write a text
source_id | string | should be a URI unique per invoice: reckon makes it
    + source_id: acme:1
    = specs/it.yaml:22:3 reckon::spec::refused_field: reckon derives `source_id` from partner, kind, namespace and name, and never changes it | leave it out; a text of your own goes into `reference`
line_items | array: a string is no array
    - line_items:\n    - description: Retainer\n      rate_per_quantity: 125.00 USD\n      quantity: "1"\n      rate_type: units
    + line_items: Retainer
    = specs/it.yaml:11:15 reckon::spec::wrong_type: expected a list, found the text "Retainer" | write a list
line_items | array: it is sent
    - line_items:\n    - description: Retainer\n      rate_per_quantity: 125.00 USD\n      quantity: "1"\n      rate_type: units
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `line_items` is missing | add `line_items`: A list of at least one line; their total is more than zero (partner-api, POST /invoices)
line_items | array: there is one
    - line_items:\n    - description: Retainer\n      rate_per_quantity: 125.00 USD\n      quantity: "1"\n      rate_type: units
    + line_items: []
    = specs/it.yaml:11:15 reckon::invoice::no_lines: the invoice has no lines | write at least one, with `description` and `rate_per_quantity`
line_items, each: description (string, for reference): a list is no string
    - description: Retainer
    + description: [Retainer]
    = specs/it.yaml:12:20 reckon::spec::wrong_type: expected a text, found a list | write a text
line_items, each: description (string, for reference): it is sent
    - - description: Retainer\n      rate_per
    + - rate_per
    = specs/it.yaml:12:7 reckon::spec::missing_field: the field `description` is missing | add `description`: What the line is for (partner-api, POST /invoices)
line_items, each: description (string, for reference): it says something
    - description: Retainer
    + description: ''
    = specs/it.yaml:12:20 reckon::text::empty: the text is empty | write a text, such as `Retainer`
line_items, each: rate_per_quantity (for an invoice: the total charge in cents)
    - rate_per_quantity: 125.00 USD
    + rate_per_quantity: 125.50
    = specs/it.yaml:13:26 reckon::amount::float: the number 125.5 has no currency, and is not a whole number of minor units | write `"125.50 USD"`, in quotes
line_items, each: rate_per_quantity: a text says its currency
    - rate_per_quantity: 125.00 USD
    + rate_per_quantity: '125.00'
    = specs/it.yaml:13:26 reckon::amount::no_currency: `125.00` has no currency | it could be 125.00 USD, or 1.25 USD (125 minor units): write `"125.00 USD"` or `"1.25 USD"`
line_items, each: rate_per_quantity in cents: nothing smaller
    - rate_per_quantity: 125.00 USD
    + rate_per_quantity: 125.005 USD
    = specs/it.yaml:13:26 reckon::amount::too_many_decimals: `125.005 USD` has more than 2 decimals, and USD has no smaller unit | write fewer decimals
line_items, each: rate_per_quantity: a word is no amount
    - rate_per_quantity: 125.00 USD
    + rate_per_quantity: much
    = specs/it.yaml:13:26 reckon::amount::not_an_amount: `much` is no amount | write digits, a point and a currency, such as `"125.00 USD"`
line_items, each: rate_per_quantity: it is sent
    - rate_per_quantity: 125.00 USD
    = specs/it.yaml:12:7 reckon::spec::missing_field: the field `rate_per_quantity` is missing | add `rate_per_quantity`: The line's whole amount, such as `"125.00 USD"` (partner-api, POST /invoices)
line_items, each: rate_per_quantity: all amounts are within the service's range
    - rate_per_quantity: 125.00 USD
    + rate_per_quantity: 1000000000000.00 USD
    = specs/it.yaml:13:26 reckon::amount::out_of_range: the amount is out of range | the most is 99999999999999 minor units
total_amount | integer: an invoice asks for something
    - rate_per_quantity: 125.00 USD
    + rate_per_quantity: 0.00 USD
    = specs/it.yaml:11:3 reckon::invoice::total_zero: the total is 0.00 USD, which cannot be paid | write lines that add up to more than zero
line_items, each: quantity (set to 1)
    - quantity: "1"
    + quantity: "2"
    = specs/it.yaml:14:17 reckon::invoice::fixed_value: unknown value `2`: an invoice always has `1` | leave it out, and write the line's whole amount in `rate_per_quantity`
line_items, each: quantity: a list is no string
    - quantity: "1"
    + quantity: [1]
    = specs/it.yaml:14:17 reckon::spec::wrong_type: expected a text, found a list | write a text
line_items, each: rate_type (set to `units`)
    - rate_type: units
    + rate_type: hours
    = specs/it.yaml:15:18 reckon::invoice::fixed_value: unknown value `hours`: an invoice always has `units` | leave it out, and write the line's whole amount in `rate_per_quantity`
line_items, each: rate_type: a list is no string
    - rate_type: units
    + rate_type: [units]
    = specs/it.yaml:15:18 reckon::spec::wrong_type: expected a text, found a list | write a text
line_items, each: total (integer), in the response alone
    - rate_type: units
    + total: 12500
    = specs/it.yaml:15:7 reckon::spec::unknown_field: there is no field `total` here | write one of `description`, `rate_per_quantity`, `quantity`, `rate_type`
line_items, each: id (prefix `li_`), system-assigned
    - rate_type: units
    + id: li_1
    = specs/it.yaml:15:7 reckon::spec::unknown_field: there is no field `id` here | write one of `description`, `rate_per_quantity`, `quantity`, `rate_type`
invoice_messages | array | optional: a string is no array
    - invoice_messages:\n    - email_addresses: [jane@example.com]\n      subject: Hello\n      message: Please pay
    + invoice_messages: Hello
    = specs/it.yaml:16:21 reckon::spec::wrong_type: expected a list, found a text | write a list
invoice_messages, each: email_addresses (array of strings): a string is no array
    - email_addresses: [jane@example.com]
    + email_addresses: jane@example.com
    = specs/it.yaml:17:24 reckon::spec::wrong_type: expected a list, found a text | write a list
invoice_messages, each: email_addresses (array of strings): a mapping is no string
    - email_addresses: [jane@example.com]
    + email_addresses: [{address: jane@example.com}]
    = specs/it.yaml:17:25 reckon::spec::wrong_type: expected a text, found a mapping | write a text
invoice_messages, each: email_addresses: it is sent
    - - email_addresses: [jane@example.com]\n      subject
    + - subject
    = specs/it.yaml:17:7 reckon::spec::missing_field: the field `email_addresses` is missing | add `email_addresses`: A list of at least one e-mail address (partner-api, POST /invoices)
invoice_messages, each: email_addresses: an e-mail is sent to each address
    - email_addresses: [jane@example.com]
    + email_addresses: []
    = specs/it.yaml:17:24 reckon::invoice::no_address: the message has no address | write at least one address, or leave the message out
invoice_messages, each: email_addresses: e-mail addresses
    - email_addresses: [jane@example.com]
    + email_addresses: [nobody]
    = specs/it.yaml:17:25 reckon::text::email: the text is not an e-mail address | write one, such as `jane@example.com`
invoice_messages, each: subject (optional): a list is no string
    - subject: Hello
    + subject: [Hello]
    = specs/it.yaml:18:16 reckon::spec::wrong_type: expected a text, found a list | write a text
invoice_messages, each: message (optional): a list is no string
    - message: Please pay
    + message: [Please pay]
    = specs/it.yaml:19:16 reckon::spec::wrong_type: expected a text, found a list | write a text
invoice_messages, each: status (`sent`), system-assigned
    - subject: Hello
    + status: sent
    = specs/it.yaml:18:7 reckon::spec::unknown_field: there is no field `status` here | write one of `email_addresses`, `subject`, `message`
attachments | array | optional: a string is no array
    - attachments:\n    - id: fref_1
    + attachments: fref_1
    = specs/it.yaml:20:16 reckon::spec::wrong_type: expected a list, found the text "fref_1" | write a list
attachments, each: id (`fref_` ID of a file uploaded under the contact and processed)
    - id: fref_1
    + id: file_1
    = specs/it.yaml:21:11 reckon::invoice::attachment_id: `file_1` is not the id of an uploaded file | write the `fref_` id that the service gave to the file, or `file: PATH`
attachments, each: id: it is sent
    - - id: fref_1
    + - {}
    = specs/it.yaml:21:7 reckon::invoice::attachment_form: an attachment has either `id` or `file` | write either `{id: fref_…}`, of a file on the service, or `{file: PATH}`
attachments, each: file_name, system-assigned
    - - id: fref_1
    + - {id: fref_1, file_name: a.pdf}
    = specs/it.yaml:21:20 reckon::spec::unknown_field: there is no field `file_name` here | write one of `id`, `file`
attachments, each: a file of ours, before its upload
    - id: fref_1
    + file: letters/a.pdf
    = specs/it.yaml:21:13 reckon::file::closed: reckon.yaml opens no folder of attachments to specs | write `secrets: {attachments: DIR}` in reckon.yaml, or the `fref_` id of an uploaded file
test_mode | boolean | `true` for a test invoice: the merchant's mode says so
    + test_mode: true
    = specs/it.yaml:22:3 reckon::spec::refused_field: the merchant's mode decides whether an invoice is for tests | leave it out, or write `mode` in the merchant
status | string | `pending` on creation: not in the request
    + status: pending
    = specs/it.yaml:22:3 reckon::spec::unknown_field: there is no field `status` here | write one of `merchant`, `contact`, `bank_account`, `invoice_date`, `currency`, `reference`, `line_items`, `invoice_messages`, `attachments`
invoice_number | string | system-assigned
    + invoice_number: "7"
    = specs/it.yaml:22:3 reckon::spec::unknown_field: there is no field `invoice_number` here | write one of `merchant`, `contact`, `bank_account`, `invoice_date`, `currency`, `reference`, `line_items`, `invoice_messages`, `attachments`
presentment_status | string: not in the request
    + presentment_status: sent
    = specs/it.yaml:22:3 reckon::spec::unknown_field: there is no field `presentment_status` here | write one of `merchant`, `contact`, `bank_account`, `invoice_date`, `currency`, `reference`, `line_items`, `invoice_messages`, `attachments`
partner API on {base_url} | header `Authorization: Bearer <ACCESS_TOKEN>`: its contact needs one, too
    - {authorization_code: {env: CODE_ACME}}
    + {keys: {public_key: m_0123456789012345678901, secret_key: {env: KEY}}}
    = specs/it.yaml:26:18 reckon::reference::keys_alone: a contact needs an access token, and Merchant/default/acme has only gateway keys | give the merchant an `authorization_code` or an `access_token`
"#;

#[test]
fn what_an_invoice_may_not_say() {
    check(GOOD, RULES);
}

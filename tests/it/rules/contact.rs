//! Rules of the reference for the fields of a contact (partner-api, Contact and POST /contacts).

use crate::rules::table::check;

const GOOD: &str = "apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: it}
spec:
  merchant: acme
  first_name: Jane
  last_name: Doe
  email_addresses:
    - address: jane@example.com
---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, credentials: {authorization_code: {env: CODE_ACME}}}
";

pub(crate) const RULES: &str = r"
first_name (string): a list is no string
    - first_name: Jane
    + first_name: [Jane]
    = specs/it.yaml:6:15 reckon::spec::wrong_type: expected a text, found a list | write a text
first_name (string): it is sent
    - first_name: Jane
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `first_name` is missing | add `first_name`: Given name (partner-api, POST /contacts)
first_name (string): it says something
    - first_name: Jane
    + first_name: ' '
    = specs/it.yaml:6:15 reckon::text::empty: the text is empty | write a text, such as `Jane`
last_name (string): a mapping is no string
    - last_name: Doe
    + last_name: {de: Doe}
    = specs/it.yaml:7:14 reckon::spec::wrong_type: expected a text, found a mapping | write a text
last_name (string): it is sent
    - last_name: Doe
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `last_name` is missing | add `last_name`: Family name (partner-api, POST /contacts)
last_name (string): it says something
    - last_name: Doe
    + last_name: ''
    = specs/it.yaml:7:14 reckon::text::empty: the text is empty | write a text, such as `Doe`
email_addresses (array of objects with address): a string is no array
    - email_addresses:\n    - address: jane@example.com
    + email_addresses: jane@example.com
    = specs/it.yaml:8:20 reckon::spec::wrong_type: expected a list, found a text | write a list
email_addresses (array of objects with address): a string is no object
    - - address: jane@example.com
    + - jane@example.com
    = specs/it.yaml:9:7 reckon::spec::wrong_type: expected a mapping of fields, found a text | write a mapping of fields
email_addresses (array of objects with address): it is sent
    - email_addresses:\n    - address: jane@example.com
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `email_addresses` is missing | add `email_addresses`: A list of at least one `{address: …}` (partner-api, POST /contacts)
email_addresses (array of objects with address): there is one
    - email_addresses:\n    - address: jane@example.com
    + email_addresses: []
    = specs/it.yaml:8:20 reckon::contact::no_address: the service wants an e-mail address | write at least one, such as `[{address: jane@example.com}]`
email_addresses (array of objects with address): an address in each
    - - address: jane@example.com
    + - {}
    = specs/it.yaml:9:7 reckon::spec::missing_field: the field `address` is missing | add `address`: An e-mail address (partner-api, Contact)
email_addresses, address: an e-mail address
    - address: jane@example.com
    + address: jane at example.com
    = specs/it.yaml:9:16 reckon::text::email: the text is not an e-mail address | write one, such as `jane@example.com`
email_addresses, address: a list is no string
    - address: jane@example.com
    + address: [jane@example.com]
    = specs/it.yaml:9:16 reckon::spec::wrong_type: expected a text, found a list | write a text
email_addresses, each: id (prefix `eml_`), system-assigned
    - - address: jane@example.com
    + - {id: eml_1, address: jane@example.com}
    = specs/it.yaml:9:8 reckon::spec::unknown_field: there is no field `id` here | write `address`
email_addresses, each: preferred (boolean), not in the request
    - - address: jane@example.com
    + - {preferred: true, address: jane@example.com}
    = specs/it.yaml:9:8 reckon::spec::unknown_field: there is no field `preferred` here | write `address`
type (`person`): it is always that, and filled in
    + type: organization
    = specs/it.yaml:10:3 reckon::spec::unknown_field: there is no field `type` here | write one of `merchant`, `first_name`, `last_name`, `email_addresses`
test_mode | boolean: a test contact belongs to a merchant in test mode
    + test_mode: true
    = specs/it.yaml:10:3 reckon::spec::refused_field: the merchant's mode decides whether a contact is for tests | leave it out, or write `mode` in the merchant
id | string | prefix `p_`, system-assigned
    + id: p_1
    = specs/it.yaml:10:3 reckon::spec::unknown_field: there is no field `id` here | write one of `merchant`, `first_name`, `last_name`, `email_addresses`
contact_code | string: not in the request
    + contact_code: J1
    = specs/it.yaml:10:3 reckon::spec::unknown_field: there is no field `contact_code` here | write one of `merchant`, `first_name`, `last_name`, `email_addresses`
preferred_email | string: not in the request
    + preferred_email: jane@example.com
    = specs/it.yaml:10:3 reckon::spec::unknown_field: there is no field `preferred_email` here | write one of `merchant`, `first_name`, `last_name`, `email_addresses`
name, sort_name, display_name | string: not in the request
    + display_name: Jane
    = specs/it.yaml:10:3 reckon::spec::unknown_field: there is no field `display_name` here | write one of `merchant`, `first_name`, `last_name`, `email_addresses`
owner_id | string: not in the request
    + owner_id: p_2
    = specs/it.yaml:10:3 reckon::spec::unknown_field: there is no field `owner_id` here | write one of `merchant`, `first_name`, `last_name`, `email_addresses`
partner API on {base_url} | header `Authorization: Bearer <ACCESS_TOKEN>`
    - {authorization_code: {env: CODE_ACME}}
    + {keys: {public_key: m_0123456789012345678901, secret_key: {env: KEY}}}
    = specs/it.yaml:5:13 reckon::reference::keys_alone: a contact needs an access token, and Merchant/default/acme has only gateway keys | give the merchant an `authorization_code` or an `access_token`
a contact belongs to one merchant
    - merchant: acme
    + merchant: Acme Inc
    = specs/it.yaml:5:13 reckon::reference::malformed: invalid name of a Merchant: the name `Acme Inc` holds `A` | write lowercase letters, digits, `-` or `.`, such as `acme-inc` (a name, or NAMESPACE/NAME)
a contact belongs to one merchant: it is written
    - merchant: acme
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `merchant` is missing | add `merchant`: The merchant that the contact belongs to, NAME or NAMESPACE/NAME (design, Files)
";

#[test]
fn what_a_contact_may_not_say() {
    check(GOOD, RULES);
}

//! Rules of the reference for the fields of saved cards and banks (gateway-api, Payment method, Saved cards and Saved
//! banks).

use crate::rules::table::check;

const CARD: &str = r#"apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: it}
spec:
  merchant: acme
  type: card
  description: Jane's card
  source:
    card:
      number: "4242424242424242"
      exp_month: 12
      exp_year: 2031
      name: Jane Doe
      address1: 1 Main Street
      city: Springfield
      state: IL
      postal_code: "62701"
---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, credentials: {authorization_code: {env: CODE_ACME}}}
"#;

const BANK: &str = r#"apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: it}
spec:
  merchant: acme
  type: bank
  source:
    bank:
      routing_number: "000000013"
      account_number: "1234567890"
      account_type: CHECKING
      name: Doe Ltd
      account_holder_type: business
---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, credentials: {authorization_code: {env: CODE_ACME}}}
"#;

pub(crate) const OF_CARDS: &str = r#"
type `card` or `bank`
    - type: card
    + type: cheque
    = specs/it.yaml:6:9 reckon::spec::unknown_value: unknown value `cheque` | write one of `card`, `bank`
type `card` or `bank`: it is sent
    - type: card
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `type` is missing | add `type`: `card` or `bank` (gateway-api, Payment method in a request)
Card: type `card`: its data is a card's
    - type: card
    + type: bank
    = specs/it.yaml:9:5 reckon::saved_method::source: a `bank` has no card as its source | write `source: {bank: …}` alone, or another `type`
number: it is sent
    - number: "4242424242424242"
    = specs/it.yaml:9:5 reckon::spec::missing_field: the field `number` is missing | add `number`: `{env: NAME}`, `{file: NAME}`, or a published test number under a merchant in test mode (gateway-api, POST /v1/cards)
number: 12 or 13 to 19 digits (service-facts, 31)
    - number: "4242424242424242"
    + number: "42424242424"
    = specs/it.yaml:10:15 reckon::saved_method::number_malformed: the card number has 11 digits; it must have 12 to 19 | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, or one of the test numbers that the service publishes
number: its last digit checks the others (service-facts, 3)
    - number: "4242424242424242"
    + number: "4532015112830367"
    = specs/it.yaml:10:15 reckon::saved_method::number_malformed: the card number has a wrong digit: its check digit does not fit | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, or one of the test numbers that the service publishes
number: digits
    - number: "4242424242424242"
    + number: "4242 4242 4242 424x"
    = specs/it.yaml:10:15 reckon::saved_method::number_malformed: the card number holds something other than digits, spaces and dashes | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, or one of the test numbers that the service publishes
number: a merchant system never stores it
    - number: "4242424242424242"
    + number: "4532015112830366"
    = specs/it.yaml:10:15 reckon::saved_method::number_in_the_open: the card number is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, or one of the test numbers that the service publishes
number: a list is no string
    - number: "4242424242424242"
    + number: [4242]
    = specs/it.yaml:10:15 reckon::spec::wrong_type: expected `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, found a list | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
number: test-mode keys operate only against test accounts
    - mode: test
    + mode: live
    = specs/it.yaml:10:15 reckon::saved_method::test_number_live: a test number cannot be saved: Merchant/default/acme is live | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, or use a merchant in test mode
exp_month, exp_year (integers): a word is none
    - exp_month: 12
    + exp_month: May
    = specs/it.yaml:11:18 reckon::spec::wrong_type: expected a whole number, found the text "May" | write a whole number
exp_month: a month of the year
    - exp_month: 12
    + exp_month: 13
    = specs/it.yaml:11:18 reckon::saved_method::exp_month: 13 is not a month | write 1 to 12
exp_month: a month of the year, from 1
    - exp_month: 12
    + exp_month: 0
    = specs/it.yaml:11:18 reckon::saved_method::exp_month: 0 is not a month | write 1 to 12
exp_month: it is sent
    - exp_month: 12
    = specs/it.yaml:9:5 reckon::spec::missing_field: the field `exp_month` is missing | add `exp_month`: Month of expiry, 1 to 12 (gateway-api, POST /v1/cards)
exp_month, exp_year (integers): a fraction is none
    - exp_year: 2031
    + exp_year: 20.31
    = specs/it.yaml:12:17 reckon::spec::wrong_type: expected a whole number, found the number 20.31 | write a whole number
exp_year: of 2 or 4 digits (service-facts, 31)
    - exp_year: 2031
    + exp_year: 203
    = specs/it.yaml:12:17 reckon::saved_method::exp_year: 203 is not a year of expiry | write two or four digits, such as `2031`
exp_year: it is sent
    - exp_year: 2031
    = specs/it.yaml:9:5 reckon::spec::missing_field: the field `exp_year` is missing | add `exp_year`: Year of expiry, two or four digits (gateway-api, POST /v1/cards; service-facts, 31)
cvv (never returned): nothing keeps one
    - exp_year: 2031
    + exp_year: 2031\n      cvv: "123"
    = specs/it.yaml:13:7 reckon::spec::security_code: no spec has a field `cvv` | remove the field: a card's security code must not be stored, and saving a card needs none
name: at most 64 characters (service-facts, 31)
    - name: Jane Doe
    + name: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    = specs/it.yaml:13:13 reckon::text::too_long: the text has 65 characters, and the service keeps at most 64 | write at most 64 characters
name: a list is no string
    - name: Jane Doe
    + name: [Jane, Doe]
    = specs/it.yaml:13:13 reckon::spec::wrong_type: expected a text, found a list | write a text
address1: at most 64 characters (service-facts, 31)
    - address1: 1 Main Street
    + address1: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    = specs/it.yaml:14:17 reckon::text::too_long: the text has 65 characters, and the service keeps at most 64 | write at most 64 characters
address1: a list is no string
    - address1: 1 Main Street
    + address1: [1]
    = specs/it.yaml:14:17 reckon::spec::wrong_type: expected a text, found a list | write a text
city: at most 64 characters (service-facts, 31)
    - city: Springfield
    + city: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    = specs/it.yaml:15:13 reckon::text::too_long: the text has 65 characters, and the service keeps at most 64 | write at most 64 characters
city: a list is no string
    - city: Springfield
    + city: [Springfield]
    = specs/it.yaml:15:13 reckon::spec::wrong_type: expected a text, found a list | write a text
state: at most 64 characters
    - state: IL
    + state: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    = specs/it.yaml:16:14 reckon::text::too_long: the text has 65 characters, and the service keeps at most 64 | write at most 64 characters
state: a list is no string
    - state: IL
    + state: [IL]
    = specs/it.yaml:16:14 reckon::spec::wrong_type: expected a text, found a list | write a text
postal_code: 3 to 9 letters and digits (service-facts, 31)
    - postal_code: "62701"
    + postal_code: "62"
    = specs/it.yaml:17:20 reckon::text::postal_code: the text is not a postal code | write 3 to 9 letters and digits, at most 10 characters with spaces and dashes
postal_code: letters and digits, spaces and dashes (service-facts, 31)
    - postal_code: "62701"
    + postal_code: "62701!"
    = specs/it.yaml:17:20 reckon::text::postal_code: the text is not a postal code | write 3 to 9 letters and digits, at most 10 characters with spaces and dashes
postal_code: a list is no string
    - postal_code: "62701"
    + postal_code: [62701]
    = specs/it.yaml:17:20 reckon::spec::wrong_type: expected a text, found a list | write a text
description: at most 64 characters (service-facts, 31)
    - description: Jane's card
    + description: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    = specs/it.yaml:7:16 reckon::text::too_long: the text has 65 characters, and the service keeps at most 64 | write at most 64 characters
description: a list is no string
    - description: Jane's card
    + description: [card]
    = specs/it.yaml:7:16 reckon::spec::wrong_type: expected a text, found a list | write a text
reference: reckon keeps its mark there
    + reference: R-1
    = specs/it.yaml:18:3 reckon::spec::refused_field: reckon keeps its mark in `reference`, to find the method again | leave it out; a text of your own goes into `description`
fingerprint (string): in responses alone
    - exp_year: 2031
    + exp_year: 2031\n      fingerprint: abc
    = specs/it.yaml:13:7 reckon::spec::unknown_field: there is no field `fingerprint` here | write one of `number`, `exp_month`, `exp_year`, `name`, `address1`, `city`, `state`, `postal_code`
card_type (string, e.g. `VISA`): in responses alone
    - exp_year: 2031
    + exp_year: 2031\n      card_type: VISA
    = specs/it.yaml:13:7 reckon::spec::unknown_field: there is no field `card_type` here | write one of `number`, `exp_month`, `exp_year`, `name`, `address1`, `city`, `state`, `postal_code`
email: of a card in a request, not of a saved one
    - exp_year: 2031
    + exp_year: 2031\n      email: jane@example.com
    = specs/it.yaml:13:7 reckon::spec::unknown_field: there is no field `email` here | write one of `number`, `exp_month`, `exp_year`, `name`, `address1`, `city`, `state`, `postal_code`
token_id: converts or updates a card from the token
    + token_id: tok_1
    = specs/it.yaml:18:3 reckon::spec::unknown_field: there is no field `token_id` here | write one of `merchant`, `type`, `source`, `description`
a card belongs to one merchant
    - merchant: acme
    + merchant: acme/inc/us
    = specs/it.yaml:5:13 reckon::reference::malformed: invalid name of a Merchant: the name `inc/us` holds `/` | write lowercase letters, digits, `-` or `.`, such as `inc-us` (a name, or NAMESPACE/NAME)
"#;

#[test]
fn what_a_card_may_not_say() {
    check(CARD, OF_CARDS);
}

pub(crate) const OF_BANKS: &str = r#"
Bank: type `bank`: its data is a bank account's
    - type: bank
    + type: card
    = specs/it.yaml:8:5 reckon::saved_method::source: a `card` has no bank account as its source | write `source: {card: …}` alone, or another `type`
routing_number: it is sent
    - routing_number: "000000013"
    = specs/it.yaml:8:5 reckon::spec::missing_field: the field `routing_number` is missing | add `routing_number`: Nine digits, the last of which checks the others (gateway-api, POST /v1/banks)
routing_number: nine digits
    - routing_number: "000000013"
    + routing_number: "12345"
    = specs/it.yaml:9:23 reckon::saved_method::routing_number: the routing number is not nine digits | write the nine digits of the bank, in quotes, such as `"111000025"`
    = specs/it.yaml:10:23 reckon::saved_method::account_in_the_open: the account number is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`; an account number may be in plain text only beside a routing number that the service publishes for tests
routing_number: its last digit checks the others
    - routing_number: "000000013"
    + routing_number: "021000022"
    = specs/it.yaml:9:23 reckon::saved_method::routing_number: the routing number has a wrong digit: its check digit does not fit | write the nine digits of the bank, in quotes, such as `"111000025"`
    = specs/it.yaml:10:23 reckon::saved_method::account_in_the_open: the account number is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`; an account number may be in plain text only beside a routing number that the service publishes for tests
routing_number: a list is no string
    - routing_number: "000000013"
    + routing_number: [13]
    = specs/it.yaml:9:23 reckon::spec::wrong_type: expected a text, found a list | write a text
account_number: it is sent
    - account_number: "1234567890"
    = specs/it.yaml:8:5 reckon::spec::missing_field: the field `account_number` is missing | add `account_number`: `{env: NAME}`, `{file: NAME}`, or, with a published test routing number under a merchant in test mode, 4 to 17 digits (gateway-api, POST /v1/banks; service-facts, 31)
account_number: 4 to 17 digits (service-facts, 31)
    - account_number: "1234567890"
    + account_number: "123"
    = specs/it.yaml:10:23 reckon::saved_method::account_number: an account number has 4 to 17 digits and nothing else | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`; an account number may be in plain text only beside a routing number that the service publishes for tests
account_number: digits
    - account_number: "1234567890"
    + account_number: "12-34-56"
    = specs/it.yaml:10:23 reckon::saved_method::account_number: an account number has 4 to 17 digits and nothing else | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`; an account number may be in plain text only beside a routing number that the service publishes for tests
account_number: a merchant system never stores it
    - routing_number: "000000013"
    + routing_number: "021000021"
    = specs/it.yaml:10:23 reckon::saved_method::account_in_the_open: the account number is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`; an account number may be in plain text only beside a routing number that the service publishes for tests
account_number: test-mode keys operate only against test accounts
    - mode: test
    + mode: live
    = specs/it.yaml:10:23 reckon::saved_method::test_number_live: a test number cannot be saved: Merchant/default/acme is live | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, or use a merchant in test mode
account_type (`CHECKING` or `SAVINGS`)
    - account_type: CHECKING
    + account_type: GIRO
    = specs/it.yaml:11:21 reckon::spec::unknown_value: unknown value `GIRO` | write one of `CHECKING`, `SAVINGS`
account_type (`CHECKING` or `SAVINGS`): it is sent
    - account_type: CHECKING
    = specs/it.yaml:8:5 reckon::spec::missing_field: the field `account_type` is missing | add `account_type`: `CHECKING` or `SAVINGS` (gateway-api, Payment method in a request)
name and account_holder_type (`business`): no other word
    - account_holder_type: business
    + account_holder_type: individual
    = specs/it.yaml:13:28 reckon::spec::unknown_value: unknown value `individual` | write `business`
name and account_holder_type (`business`): no holder by the type alone
    - name: Doe Ltd
    = specs/it.yaml:8:5 reckon::saved_method::holder: the holder is incomplete: a business needs `name` | write `name`, or `given_name` and `surname`
name and account_holder_type, or given_name and surname: one of the two
    - name: Doe Ltd\n      account_holder_type: business
    + given_name: Jane\n      surname: Doe\n      name: Doe Ltd
    = specs/it.yaml:8:5 reckon::saved_method::holder: the holder is named both as a business and as an individual | write `name`, or `given_name` and `surname`
given_name and surname for an individual: not one without the other
    - name: Doe Ltd\n      account_holder_type: business
    + given_name: Jane
    = specs/it.yaml:8:5 reckon::saved_method::holder: the holder is incomplete: an individual needs both names | write `name`, or `given_name` and `surname`
given_name and surname for an individual: nor the other without the one
    - name: Doe Ltd\n      account_holder_type: business
    + surname: Doe
    = specs/it.yaml:8:5 reckon::saved_method::holder: the holder is incomplete: an individual needs both names | write `name`, or `given_name` and `surname`
name and account_holder_type, or given_name and surname: somebody holds the account
    - name: Doe Ltd\n      account_holder_type: business
    = specs/it.yaml:8:5 reckon::saved_method::holder: the account has no holder | write `name`, or `given_name` and `surname`
name: it says something
    - name: Doe Ltd
    + name: ''
    = specs/it.yaml:12:13 reckon::text::empty: the text is empty | write a text, such as `Jane`
name: at most 64 characters (service-facts, 31)
    - name: Doe Ltd
    + name: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    = specs/it.yaml:12:13 reckon::text::too_long: the text has 65 characters, and the service keeps at most 64 | write at most 64 characters
name: a list is no string
    - name: Doe Ltd
    + name: [Doe]
    = specs/it.yaml:12:13 reckon::spec::wrong_type: expected a text, found a list | write a text
given_name: it says something
    - name: Doe Ltd\n      account_holder_type: business
    + given_name: ''\n      surname: Doe
    = specs/it.yaml:12:19 reckon::text::empty: the text is empty | write a text, such as `Jane`
given_name: a list is no string
    - name: Doe Ltd\n      account_holder_type: business
    + given_name: [Jane]\n      surname: Doe
    = specs/it.yaml:12:19 reckon::spec::wrong_type: expected a text, found a list | write a text
surname: at most 64 characters (service-facts, 31)
    - name: Doe Ltd\n      account_holder_type: business
    + given_name: Jane\n      surname: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    = specs/it.yaml:13:16 reckon::text::too_long: the text has 65 characters, and the service keeps at most 64 | write at most 64 characters
surname: a list is no string
    - name: Doe Ltd\n      account_holder_type: business
    + given_name: Jane\n      surname: [Doe]
    = specs/it.yaml:13:16 reckon::spec::wrong_type: expected a text, found a list | write a text
fingerprint (string): in responses alone
    - account_type: CHECKING
    + account_type: CHECKING\n      fingerprint: abc
    = specs/it.yaml:12:7 reckon::spec::unknown_field: there is no field `fingerprint` here | write one of `routing_number`, `account_number`, `account_type`, `account_holder_type`, `name`, `given_name`, `surname`
bank_name: in responses alone
    - account_type: CHECKING
    + account_type: CHECKING\n      bank_name: Bank
    = specs/it.yaml:12:7 reckon::spec::unknown_field: there is no field `bank_name` here | write one of `routing_number`, `account_number`, `account_type`, `account_holder_type`, `name`, `given_name`, `surname`
"#;

#[test]
fn what_a_bank_account_may_not_say() {
    check(BANK, OF_BANKS);
}

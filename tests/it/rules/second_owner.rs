//! Rules of the reference for the second owner of an application (partner-api, Merchant application).

use crate::rules::complete::COMPLETE;
use crate::rules::table::check;

/// Every field of a second owner.
const SECOND_OWNER: &str = "  second_owner:
    first_name: Jo
    last_name: Roe
    home_address1: 2 Quay
    home_address2: Floor 1
    home_city: Chicago
    home_state: IL
    home_zip_code: '60602'
    job_title: Partner
    date_of_birth: {file: born-two}
    social_security_number: {file: ssn-two}
    has_significant_ownership: false
    has_significant_responsibility: false
";

pub(crate) const RULES: &str = r#"
first_name: a list is no string
    - first_name: Jo
    + first_name: [wrong]
    = specs/it.yaml:7:17 reckon::spec::wrong_type: expected a text, found a list | write a text
first_name: only home_address2 is optional
    - first_name: Jo
    = specs/it.yaml:6:3 reckon::merchant_application::missing: Second owner first name cannot be blank | add `first_name`: Legal first name (partner-api, Merchant application).
last_name: a list is no string
    - last_name: Roe
    + last_name: [wrong]
    = specs/it.yaml:8:16 reckon::spec::wrong_type: expected a text, found a list | write a text
last_name: only home_address2 is optional
    - last_name: Roe
    = specs/it.yaml:6:3 reckon::merchant_application::missing: Second owner last name cannot be blank | add `last_name`: Legal last name (partner-api, Merchant application).
home_address1: a list is no string
    - home_address1: 2 Quay
    + home_address1: [wrong]
    = specs/it.yaml:9:20 reckon::spec::wrong_type: expected a text, found a list | write a text
home_address1: only home_address2 is optional
    - home_address1: 2 Quay
    = specs/it.yaml:6:3 reckon::merchant_application::missing: Second owner home address1 cannot be blank | add `home_address1`: Street and number (partner-api, Merchant application).
home_address2: a list is no string
    - home_address2: Floor 1
    + home_address2: [wrong]
    = specs/it.yaml:10:20 reckon::spec::wrong_type: expected a text, found a list | write a text
home_city: a list is no string
    - home_city: Chicago
    + home_city: [wrong]
    = specs/it.yaml:11:16 reckon::spec::wrong_type: expected a text, found a list | write a text
home_city: only home_address2 is optional
    - home_city: Chicago
    = specs/it.yaml:6:3 reckon::merchant_application::missing: Second owner home city cannot be blank | add `home_city`: City (partner-api, Merchant application).
home_state: a list is no string
    - home_state: IL
    + home_state: [wrong]
    = specs/it.yaml:12:17 reckon::spec::wrong_type: expected a text, found a list | write a text
home_state: only home_address2 is optional
    - home_state: IL
    = specs/it.yaml:6:3 reckon::merchant_application::missing: Second owner home state cannot be blank | add `home_state`: Two-letter code of the state (partner-api, Merchant application).
home_zip_code: a list is no string
    - home_zip_code: '60602'
    + home_zip_code: [wrong]
    = specs/it.yaml:13:20 reckon::spec::wrong_type: expected a text, found a list | write a text
home_zip_code: only home_address2 is optional
    - home_zip_code: '60602'
    = specs/it.yaml:6:3 reckon::merchant_application::missing: Second owner home zip code cannot be blank | add `home_zip_code`: Postal code, in quotes (partner-api, Merchant application).
job_title: a list is no string
    - job_title: Partner
    + job_title: [wrong]
    = specs/it.yaml:14:16 reckon::spec::wrong_type: expected a text, found a list | write a text
job_title: only home_address2 is optional
    - job_title: Partner
    = specs/it.yaml:6:3 reckon::merchant_application::missing: Second owner job title cannot be blank | add `job_title`: The title (partner-api, Merchant application).
date_of_birth: a list is no string
    - date_of_birth: {file: born-two}
    + date_of_birth: [wrong]
    = specs/it.yaml:15:20 reckon::spec::wrong_type: expected `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, found a list | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
date_of_birth: only home_address2 is optional
    - date_of_birth: {file: born-two}
    = specs/it.yaml:6:3 reckon::merchant_application::missing: Second owner date of birth cannot be blank | add `date_of_birth`: Date of birth, `yyyy-mm-dd` (partner-api, Merchant application).
social_security_number: a list is no string
    - social_security_number: {file: ssn-two}
    + social_security_number: [wrong]
    = specs/it.yaml:16:29 reckon::spec::wrong_type: expected `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, found a list | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
social_security_number: only home_address2 is optional
    - social_security_number: {file: ssn-two}
    = specs/it.yaml:6:3 reckon::merchant_application::missing: Second owner social security number cannot be blank | add `social_security_number`: Social security number (partner-api, Merchant application).
has_significant_ownership: a word is no boolean
    - has_significant_ownership: false
    + has_significant_ownership: 'maybe'
    = specs/it.yaml:17:32 reckon::spec::wrong_type: expected `true` or `false`, found the text "maybe" | write `true` or `false`
has_significant_ownership: only home_address2 is optional
    - has_significant_ownership: false
    = specs/it.yaml:6:3 reckon::merchant_application::missing: Second owner has significant ownership cannot be blank | add `has_significant_ownership`: True if this owner owns more than 25 % (partner-api, Merchant application).
has_significant_responsibility: a word is no boolean
    - has_significant_responsibility: false
    + has_significant_responsibility: 'maybe'
    = specs/it.yaml:18:37 reckon::spec::wrong_type: expected `true` or `false`, found the text "maybe" | write `true` or `false`
has_significant_responsibility: only home_address2 is optional
    - has_significant_responsibility: false
    = specs/it.yaml:6:3 reckon::merchant_application::missing: Second owner has significant responsibility cannot be blank | add `has_significant_responsibility`: True if this owner manages the business (partner-api, Merchant application).
home_state: a 2-letter code
    - home_state: IL
    + home_state: Illinois
    = specs/it.yaml:12:17 reckon::merchant_application::length: Second owner home state is not a code of two capital letters | correct `home_state`: Two-letter code of the state (partner-api, Merchant application).
home_zip_code: 3 to 9 letters and digits (service-facts, 31)
    - home_zip_code: '60602'
    + home_zip_code: '6'
    = specs/it.yaml:13:20 reckon::merchant_application::length: Second owner home zip code length is invalid | correct `home_zip_code`: Postal code, in quotes (partner-api, Merchant application).
date_of_birth: shown to nobody
    - date_of_birth: {file: born-two}
    + date_of_birth: 1971-01-01
    = specs/it.yaml:15:20 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
social_security_number: shown to nobody
    - social_security_number: {file: ssn-two}
    + social_security_number: 123-45-6789
    = specs/it.yaml:16:29 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
has_significant_responsibility: must be true for at least one owner when no one owns more than 25%
    - owner_has_significant_ownership: true\n  owner_has_significant_responsibility: true
    + owner_percentage_of_ownership: 20\n  owner_has_significant_ownership: false\n  owner_has_significant_responsibility: false
    = specs/it.yaml:43:41 reckon::merchant_application::invalid: Significant responsibility must be true for one owner when none owns over 25% | correct `owner_has_significant_responsibility`: True if the owner manages the business; true for at least one owner when none owns more than 25 % (partner-api, Merchant application).
All values must be plain text: not percent-encoded
    - home_address1: 2 Quay
    + home_address1: 2%20Quay
    = specs/it.yaml:9:20 reckon::merchant_application::invalid: Second owner home address1 is percent-encoded: plain text is needed | correct `home_address1`: Street and number (partner-api, Merchant application).
a second owner has no other properties
    - home_address2: Floor 1
    + email: jo@roe.example
    = specs/it.yaml:10:5 reckon::spec::unknown_field: there is no field `email` here | write one of `first_name`, `last_name`, `home_address1`, `home_address2`, `home_city`, `home_state`, `home_zip_code`, `job_title`, `date_of_birth`, `social_security_number`, `has_significant_ownership`, `has_significant_responsibility`
"#;

#[test]
fn what_a_second_owner_may_not_say() {
    check(&COMPLETE.replace("  plan:", &format!("{SECOND_OWNER}  plan:")), RULES);
    crate::support::covers::covers(&["8.9"]);
}

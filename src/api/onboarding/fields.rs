//! Every field of an application, in the order of the reference (partner-api, Merchant
//! application).
//!
//! Types and marks are the reference's own. An additional address line is optional, like the second
//! owner's, which the reference marks so. The last five fields are older and optional
//! (service-facts, 83).

use ApplicationPrivacy::{Personal, Plain, Secret};
use FieldType::{
    Boolean, Choice, Country, Date, Email, Integer, Phone, PostalCode, Signature, State, Text,
    Timestamp, Url,
};
use Need::{Optional, Required, TrustPlan, WithDba};

/// Abbreviations of the structure of a business (service-facts, 82).
pub const STRUCTURES: &[&str] =
    &["SO", "AE", "G", "CP", "CU", "P", "TE", "SM", "MM", "CA", "LP", "PO"];
/// Abbreviations of the type of an industry (service-facts, 82).
pub const BUSINESS_TYPES: &[&str] = &["R", "I", "M", "H", "F"];
/// Titles of an owner, without spaces (service-facts, 82).
pub const OWNER_TITLES: &[&str] = &[
    "President",
    "V.President",
    "Owner",
    "Partner",
    "Manager",
    "Treasurer",
    "Secretary",
    "Exec.Director",
];
/// The two tests of a complete application (partner-api, States and transitions).
pub const TESTS: &[&str] = &["validate", "fail"];
/// Required fields of a sign-up; the applicant adds the rest (partner-api, the sign-up endpoint).
pub const SIGN_UP_REQUIRED: [&str; 3] = ["reference", "plan", "email"];
/// Value of `has_dba` where it is not given.
pub const HAS_DBA_DEFAULT: bool = false;
/// Value of `owner_percentage_of_ownership` where it is not given.
pub const OWNERSHIP_DEFAULT: i64 = 100;
/// The property that carries the second owner.
pub const SECOND_OWNER: &str = "second_owner";

/// Type of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType {
    /// Any plain text.
    Text,
    /// A text with the form of an e-mail address.
    Email,
    /// A text of at most 22 characters (service-facts, 31).
    Phone,
    /// Three to nine letters and digits (service-facts, 31).
    PostalCode,
    /// A web address, which may hold percent signs of its own.
    Url,
    /// A two-letter code of a state or province.
    State,
    /// A two-letter ISO 3166 code.
    Country,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number between two bounds, both included.
    Integer(i64, i64),
    Boolean,
    /// `yyyy-mm-dd`.
    Date,
    /// ISO 8601 with a time zone.
    Timestamp,
    /// JSON text in the jSignature format.
    Signature,
}

impl FieldType {
    /// Returns the type in the reference's words.
    pub fn word(self) -> &'static str {
        match self {
            Text | Email | Phone | PostalCode | Url | State | Country | Choice(_) | Signature => {
                "string"
            }
            Integer(..) => "integer",
            Boolean => "boolean",
            Date => "date",
            Timestamp => "timestamp",
        }
    }

    /// Returns the maximum number of characters, where it is known.
    pub fn length_max(self) -> Option<usize> {
        match self {
            State | Country => Some(2),
            Phone => Some(22),
            PostalCode | Date => Some(10),
            Choice(words) => words.iter().map(|word| word.len()).max(),
            Text | Email | Url | Integer(..) | Boolean | Timestamp | Signature => None,
        }
    }
}

/// Condition under which a complete application must carry a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Required,
    Optional,
    /// Required when `has_dba` is true.
    WithDba,
    /// Required when the plan is a trust plan.
    TrustPlan,
}

/// Visibility of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApplicationPrivacy {
    /// Visible to everyone.
    Plain,
    /// A name, an address, an e-mail, a phone: masked for people.
    Personal,
    /// A tax, identity, licence or account number, a birth date, a signature: never shown.
    Secret,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApplicationField {
    /// The field's name on the wire.
    pub name: &'static str,
    pub field_type: FieldType,
    pub need: Need,
    pub privacy: ApplicationPrivacy,
}

const fn field(
    name: &'static str,
    of: FieldType,
    need: Need,
    privacy: ApplicationPrivacy,
) -> ApplicationField {
    ApplicationField { name, field_type: of, need, privacy }
}

/// Returns the field at a path: `owner_title`, or `second_owner.job_title`.
pub fn find(path: &str) -> Option<&'static ApplicationField> {
    match path.split_once('.') {
        None => FIELDS.iter().find(|field| field.name == path),
        Some((SECOND_OWNER, name)) => SECOND_OWNER_FIELDS.iter().find(|field| field.name == name),
        Some(_) => None,
    }
}

const YEARS: FieldType = Integer(0, 200);

/// All fields but [`SECOND_OWNER`].
pub const FIELDS: &[ApplicationField] = &[
    field("reference", Text, Required, Plain),
    field("plan", Text, Required, Plain),
    field("first_name", Text, Required, Personal),
    field("last_name", Text, Required, Personal),
    field("email", Email, Required, Personal),
    field("business_name", Text, Required, Personal),
    field("business_address1", Text, Required, Personal),
    field("business_address2", Text, Optional, Personal),
    field("business_city", Text, Required, Personal),
    field("business_state", State, Required, Personal),
    field("business_zip_code", PostalCode, Required, Personal),
    field("business_phone", Phone, Required, Personal),
    field("business_country", Country, Required, Plain),
    field("industry_code", Integer(1, 9999), Required, Plain),
    field("goods_and_services", Text, Required, Plain),
    field("has_dba", Boolean, Optional, Plain),
    field("dba_name", Text, WithDba, Personal),
    field("dba_address1", Text, WithDba, Personal),
    field("dba_address2", Text, Optional, Personal),
    field("dba_city", Text, WithDba, Personal),
    field("dba_state", State, WithDba, Personal),
    field("dba_zip_code", PostalCode, WithDba, Personal),
    field("dba_phone", Phone, WithDba, Personal),
    field("structure", Choice(STRUCTURES), Required, Plain),
    field("business_type", Choice(BUSINESS_TYPES), Required, Plain),
    field("federal_tax_id", Text, Required, Secret),
    field("years_in_business", Text, Required, Plain),
    field("business_website", Url, Optional, Plain),
    field("past_bankruptcy", Boolean, Optional, Plain),
    field("bankruptcy_date", Date, Optional, Plain),
    field("owner_first_name", Text, Required, Personal),
    field("owner_last_name", Text, Required, Personal),
    field("owner_title", Choice(OWNER_TITLES), Required, Plain),
    field("owner_date_of_birth", Date, Required, Secret),
    field("owner_social_security_number", Text, Required, Secret),
    field("owner_percentage_of_ownership", Integer(0, 100), Optional, Plain),
    field("owner_has_significant_ownership", Boolean, Required, Plain),
    field("owner_has_significant_responsibility", Boolean, Required, Plain),
    field("owner_address1", Text, Required, Personal),
    field("owner_address2", Text, Optional, Personal),
    field("owner_city", Text, Required, Personal),
    field("owner_state", State, Required, Personal),
    field("owner_zip_code", PostalCode, Required, Personal),
    field("owner_phone_number", Phone, Required, Personal),
    field("owner_email", Email, Required, Personal),
    field("owner_years_in_residence", YEARS, Optional, Plain),
    field("owner_drivers_license_number", Text, Required, Secret),
    field("owner_drivers_license_state", State, Required, Plain),
    field("owner_drivers_license_expiration", Date, Required, Plain),
    field("owner_country_of_citizenship", Country, Required, Plain),
    field("operating_account_name", Text, Optional, Personal),
    field("operating_account_routing_number", Text, Required, Personal),
    field("operating_account_bank_name", Text, Required, Plain),
    field("operating_account_number", Text, Required, Secret),
    field("trust_account_name", Text, Optional, Personal),
    field("trust_account_routing_number", Text, TrustPlan, Personal),
    field("trust_account_bank_name", Text, TrustPlan, Plain),
    field("trust_account_number", Text, TrustPlan, Secret),
    field("signed_by", Text, TrustPlan, Personal),
    field("signature", Signature, Required, Secret),
    field("ip_address", Text, Optional, Personal),
    field("browser_user_agent", Text, Optional, Plain),
    field("browser_language", Text, Optional, Plain),
    field("ip_address_timestamp", Timestamp, Required, Plain),
    field("test", Choice(TESTS), Optional, Plain),
    field("number_of_locations", Integer(0, 1_000_000), Optional, Plain),
    field("currently_accepting_cards", Boolean, Optional, Plain),
    field("current_card_processor", Text, Optional, Plain),
    field("wants_to_accept_amex", Boolean, Optional, Plain),
    field("current_amex_merchant_number", Text, Optional, Secret),
];

/// The properties of [`SECOND_OWNER`]: all but the second line of the address, where there is one.
pub const SECOND_OWNER_FIELDS: &[ApplicationField] = &[
    field("first_name", Text, Required, Personal),
    field("last_name", Text, Required, Personal),
    field("home_address1", Text, Required, Personal),
    field("home_address2", Text, Optional, Personal),
    field("home_city", Text, Required, Personal),
    field("home_state", State, Required, Personal),
    field("home_zip_code", PostalCode, Required, Personal),
    field("job_title", Text, Required, Plain),
    field("date_of_birth", Date, Required, Secret),
    field("social_security_number", Text, Required, Secret),
    field("has_significant_ownership", Boolean, Required, Plain),
    field("has_significant_responsibility", Boolean, Required, Plain),
];

//! Fields of an application's document: their meaning and privacy.
//!
//! The names and their privacy are those of [`crate::api::onboarding::fields::FIELDS`]; a test compares
//! the two. No field of an application can change after submission.

use crate::kinds::schema::kind::{Mutability, Privacy, SpecField};

const fn field(path: &'static str, privacy: Privacy, doc: &'static str) -> SpecField {
    SpecField { path, privacy, mutability: Mutability::Immutable, doc }
}

const fn plain(path: &'static str, doc: &'static str) -> SpecField {
    field(path, Privacy::Plain, doc)
}

const fn personal(path: &'static str, doc: &'static str) -> SpecField {
    field(path, Privacy::Personal, doc)
}

const fn secret(path: &'static str, doc: &'static str) -> SpecField {
    field(path, Privacy::Secret, doc)
}

/// The fields, in the order of the reference.
pub(super) const FIELDS: &[SpecField] = &[
    plain(
        "submission",
        "`complete`, every field from here, or `sign_up`, finished by the applicant on the service's page (design, Files).",
    ),
    plain(
        "plan",
        "The plan's identifier as issued to the partner, one of `partner.plans` (partner-api, Merchant application).",
    ),
    personal(
        "first_name",
        "First name of the person associated with the application (partner-api, Merchant application).",
    ),
    personal(
        "last_name",
        "Last name of the person associated with the application (partner-api, Merchant application).",
    ),
    personal("email", "That person's e-mail address (partner-api, Merchant application)."),
    personal(
        "business_name",
        "The legal name, as the tax authority's records have it; one that ends in ` - TEST` marks the test of the sign-up, of which there may be only one (partner-api, Merchant application).",
    ),
    personal(
        "business_address1",
        "Street and number of the business (partner-api, Merchant application).",
    ),
    personal(
        "business_address2",
        "An additional address line; optional (partner-api, Merchant application).",
    ),
    personal("business_city", "City of the business (partner-api, Merchant application)."),
    personal(
        "business_state",
        "Two-letter code of the state of the business (partner-api, Merchant application).",
    ),
    personal(
        "business_zip_code",
        "Postal code of the business, in quotes (partner-api, Merchant application).",
    ),
    personal("business_phone", "Phone of the business (partner-api, Merchant application)."),
    plain(
        "business_country",
        "Two-letter ISO 3166 code of the country of the business (partner-api, Merchant application).",
    ),
    plain(
        "industry_code",
        "Standard Industrial Classification code, a whole number (partner-api, Merchant application).",
    ),
    plain(
        "goods_and_services",
        "Goods or services that the business sells (partner-api, Merchant application).",
    ),
    plain(
        "has_dba",
        "True if it does business under another name; optional, `false` if left \
         out (partner-api, Merchant application).",
    ),
    personal(
        "dba_name",
        "The other name; needed when `has_dba` is true (partner-api, Merchant application).",
    ),
    personal(
        "dba_address1",
        "Street and number under the other name; needed when `has_dba` is true (partner-api, Merchant application).",
    ),
    personal(
        "dba_address2",
        "An additional address line; optional (partner-api, Merchant application).",
    ),
    personal(
        "dba_city",
        "City under the other name; needed when `has_dba` is true (partner-api, Merchant application).",
    ),
    personal(
        "dba_state",
        "Two-letter code of the state under the other name; \
         needed when `has_dba` is true (partner-api, Merchant application).",
    ),
    personal(
        "dba_zip_code",
        "Postal code under the other name, in quotes; \
         needed when `has_dba` is true (partner-api, Merchant application).",
    ),
    personal(
        "dba_phone",
        "Phone under the other name; needed when `has_dba` is true (partner-api, Merchant application).",
    ),
    plain(
        "structure",
        "Structure of the business: SO, AE, G, CP, CU, P, TE, SM, MM, CA, LP or PO (service-facts, 82).",
    ),
    plain("business_type", "Type of the industry: R, I, M, H or F (service-facts, 82)."),
    secret(
        "federal_tax_id",
        "The tax id, or the sole proprietor's national id number (partner-api, Merchant application).",
    ),
    plain(
        "years_in_business",
        "Age of the business, a text in quotes (partner-api, Merchant application).",
    ),
    plain(
        "business_website",
        "The web site of the business; optional (partner-api, Merchant application).",
    ),
    plain(
        "past_bankruptcy",
        "True if there was a bankruptcy; optional (partner-api, Merchant application).",
    ),
    plain(
        "bankruptcy_date",
        "Date of the bankruptcy, `yyyy-mm-dd`; optional (partner-api, Merchant application).",
    ),
    personal(
        "owner_first_name",
        "The owner's legal first name (partner-api, Merchant application).",
    ),
    personal("owner_last_name", "The owner's legal last name (partner-api, Merchant application)."),
    plain(
        "owner_title",
        "The owner's title without spaces: President, V.President, Owner, Partner, Manager, Treasurer, Secretary or Exec.Director (service-facts, 82).",
    ),
    secret(
        "owner_date_of_birth",
        "The owner's date of birth, `yyyy-mm-dd` (partner-api, Merchant application).",
    ),
    secret(
        "owner_social_security_number",
        "The owner's social security number, for the credit check (partner-api, Merchant application).",
    ),
    plain(
        "owner_percentage_of_ownership",
        "Share of the owner, in percent; optional, 100 if left out (partner-api, Merchant application).",
    ),
    plain(
        "owner_has_significant_ownership",
        "True if the owner owns more than 25 % (partner-api, Merchant application).",
    ),
    plain(
        "owner_has_significant_responsibility",
        "True if the owner manages the business; true for at least one owner when none owns more than 25 \
         % (partner-api, Merchant application).",
    ),
    personal(
        "owner_address1",
        "Street and number of the owner (partner-api, Merchant application).",
    ),
    personal(
        "owner_address2",
        "An additional address line; optional (partner-api, Merchant application).",
    ),
    personal("owner_city", "The owner's city (partner-api, Merchant application)."),
    personal(
        "owner_state",
        "Two-letter code of the owner's state (partner-api, Merchant application).",
    ),
    personal(
        "owner_zip_code",
        "The owner's postal code, in quotes (partner-api, Merchant application).",
    ),
    personal("owner_phone_number", "The owner's phone (partner-api, Merchant application)."),
    personal("owner_email", "The owner's e-mail address (partner-api, Merchant application)."),
    plain(
        "owner_years_in_residence",
        "Years that the owner has lived there, a whole number; optional (partner-api, Merchant application).",
    ),
    secret(
        "owner_drivers_license_number",
        "The owner's driving licence, to verify the identity (partner-api, Merchant application).",
    ),
    plain(
        "owner_drivers_license_state",
        "Two-letter code of the state that issued the licence (partner-api, Merchant application).",
    ),
    plain(
        "owner_drivers_license_expiration",
        "Date of expiry of the licence, `yyyy-mm-dd` (partner-api, Merchant application).",
    ),
    plain(
        "owner_country_of_citizenship",
        "Two-letter ISO 3166 code of the owner's citizenship (partner-api, Merchant application).",
    ),
    personal(
        "operating_account_name",
        "Name of the account that takings go to; optional (partner-api, Merchant application).",
    ),
    personal(
        "operating_account_routing_number",
        "Routing number of that account, nine digits in quotes (partner-api, Merchant application).",
    ),
    plain(
        "operating_account_bank_name",
        "Bank of that account (partner-api, Merchant application).",
    ),
    secret(
        "operating_account_number",
        "Number of that account (partner-api, Merchant application).",
    ),
    personal(
        "trust_account_name",
        "Name of the trust account; optional (partner-api, Merchant application).",
    ),
    personal(
        "trust_account_routing_number",
        "Routing number of the trust account; needed for a trust plan (partner-api, Merchant application).",
    ),
    plain(
        "trust_account_bank_name",
        "Bank of the trust account; needed for a trust plan (partner-api, Merchant application).",
    ),
    secret(
        "trust_account_number",
        "Number of the trust account; needed for a trust plan (partner-api, Merchant application).",
    ),
    personal(
        "signed_by",
        "The authorized representative's name; needed for a trust plan (partner-api, Merchant application).",
    ),
    secret(
        "signature",
        "JSON text in the jSignature format: strokes with whole numbers lx, ly, mx and my (partner-api, Merchant application).",
    ),
    personal(
        "ip_address",
        "The applicant's address when signing, for fraud checks; optional (partner-api, Merchant application).",
    ),
    plain(
        "browser_user_agent",
        "The applicant's User-Agent when signing; optional (partner-api, Merchant application).",
    ),
    plain(
        "browser_language",
        "The applicant's Accept-Language when signing; optional (partner-api, Merchant application).",
    ),
    plain(
        "ip_address_timestamp",
        "Time of the signature, ISO 8601 such as `2026-11-30T18:00:00Z` (partner-api, Merchant application).",
    ),
    plain(
        "test",
        "`validate` or `fail`: no merchant is created, and the returned code is never \
         exchanged; complete applications only (partner-api, Merchant application).",
    ),
    plain("number_of_locations", "Number of places of business; optional (service-facts, 83)."),
    plain(
        "currently_accepting_cards",
        "True if the business takes cards now; optional (service-facts, 83).",
    ),
    plain(
        "current_card_processor",
        "Present processor of card payments; optional (service-facts, 83).",
    ),
    plain(
        "wants_to_accept_amex",
        "True if the business wants to take American Express; optional (service-facts, 83).",
    ),
    secret(
        "current_amex_merchant_number",
        "Present number of the business at American Express; optional (service-facts, 83).",
    ),
    personal("second_owner", "The second owner; optional (partner-api, Merchant application)."),
    personal("second_owner.first_name", "Legal first name (partner-api, Merchant application)."),
    personal("second_owner.last_name", "Legal last name (partner-api, Merchant application)."),
    personal(
        "second_owner.home_address1",
        "Street and number (partner-api, Merchant application).",
    ),
    personal(
        "second_owner.home_address2",
        "An additional address line; optional (partner-api, Merchant application).",
    ),
    personal("second_owner.home_city", "City (partner-api, Merchant application)."),
    personal(
        "second_owner.home_state",
        "Two-letter code of the state (partner-api, Merchant application).",
    ),
    personal(
        "second_owner.home_zip_code",
        "Postal code, in quotes (partner-api, Merchant application).",
    ),
    plain("second_owner.job_title", "The title (partner-api, Merchant application)."),
    secret(
        "second_owner.date_of_birth",
        "Date of birth, `yyyy-mm-dd` (partner-api, Merchant application).",
    ),
    secret(
        "second_owner.social_security_number",
        "Social security number (partner-api, Merchant application).",
    ),
    plain(
        "second_owner.has_significant_ownership",
        "True if this owner owns more than 25 % (partner-api, Merchant application).",
    ),
    plain(
        "second_owner.has_significant_responsibility",
        "True if this owner manages the business (partner-api, Merchant application).",
    ),
];

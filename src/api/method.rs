//! Payment methods as answers show them, and the words of their types (gateway-api, Payment
//! method).

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::api::call::objects;
use crate::api::wire::{self, Timestamp};

wire::words! {
    /// The two kinds of payment method.
    MethodKind {
        /// A card.
        Card = "card",
        /// An electronic check.
        Bank = "bank",
    }

    /// The brand of a card (service-facts, 29).
    CardType {
        /// Visa.
        Visa = "VISA",
        /// Mastercard.
        Mastercard = "MASTERCARD",
        /// American Express.
        AmericanExpress = "AMERICAN_EXPRESS",
        /// Discover.
        Discover = "DISCOVER",
        /// Diners Club.
        DinersClub = "DINERS_CLUB",
        /// JCB.
        Jcb = "JCB",
        /// None of the others.
        Unknown = "UNKNOWN",
    }
}

/// The word `card` in a request; reading accepts any value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CardWord;

/// The word `bank` in a request; reading accepts any value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BankWord;

macro_rules! constant_word {
    ($name:ident, $word:literal) => {
        wire::inline_schema!($name, {"type": "string", "const": $word});

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($word)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                IgnoredAny::deserialize(deserializer).map(|_| Self)
            }
        }
    };
}

constant_word!(CardWord, "card");
constant_word!(BankWord, "bank");

objects! {
    /// A method in an answer, masked: inside a transaction, saved, or as a one-time token. Each form
    /// has some of these fields (gateway-api, Payment method, Saved card, Saved bank, One-time token).
    pub struct PaymentMethod {
        /// Id of a saved method or token, for `method` or `token_id` in requests.
        pub id: Option<String>,
        /// `card` or `bank`.
        #[serde(rename = "type")]
        pub kind: MethodKind,
        /// The partner's reference; of a saved method or token.
        pub reference: Option<String>,
        /// A free text; of a saved method or token.
        pub description: Option<String>,
        /// A card number, masked but for the last four digits.
        pub number: Option<String>,
        /// Brand of the card.
        pub card_type: Option<CardType>,
        /// 1 to 12.
        pub exp_month: Option<i64>,
        /// Four digits.
        pub exp_year: Option<i64>,
        /// `***` where one was given, in a token and inside event data.
        pub cvv: Option<String>,
        /// Masked but for the last three digits.
        pub routing_number: Option<String>,
        /// Masked but for the last four digits.
        pub account_number: Option<String>,
        /// `CHECKING` or `SAVINGS`.
        pub account_type: Option<String>,
        /// `business`, for a business.
        pub account_holder_type: Option<String>,
        /// Name of the bank.
        pub bank_name: Option<String>,
        /// Name of the holder.
        pub name: Option<String>,
        /// An individual's given name.
        pub given_name: Option<String>,
        /// An individual's family name.
        pub surname: Option<String>,
        /// Street line.
        pub address1: Option<String>,
        /// Second line.
        pub address2: Option<String>,
        /// City.
        pub city: Option<String>,
        /// State or province.
        pub state: Option<String>,
        /// Postal code.
        pub postal_code: Option<String>,
        /// Two letters.
        pub country: Option<String>,
        /// Telephone number.
        pub phone: Option<String>,
        /// E-mail address.
        pub email: Option<String>,
        /// Equal for equal numbers.
        pub fingerprint: Option<String>,
        /// Additional data of the token's request; of a token.
        pub form_data: Option<Value>,
        /// Creation; of a saved method.
        pub created: Option<Timestamp>,
        /// Last change; of a saved method.
        pub modified: Option<Timestamp>,
    }
}

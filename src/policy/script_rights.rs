//! `policy.scripts`: the rights that the operator gives to scripts, by power and merchant. Pure.
//!
//! Scripts come by pull request. Without configuration they may read, calculate, write to chats,
//! suspend and stop things. Moving money, mail, payers' links and personal values need an explicit
//! right.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::id::Key;

/// A power of scripts that is closed until the configuration opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScriptPower {
    /// Refunds to payers: `refund`, `void`.
    Refund,
    /// Charges: `charge`, `capture`, `pay_occurrence`.
    Charge,
    /// Money paid out without a charge: `credit`.
    Credit,
    /// `notify` to a target that is mail.
    Mail,
    /// A live payer's link for a new card: `new_card_link`.
    CardLink,
    /// Names, addresses, e-mail and phone in the objects that scripts read.
    Personal,
}

impl ScriptPower {
    /// Every power, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Refund, Self::Charge, Self::Credit, Self::Mail, Self::CardLink, Self::Personal];

    /// Returns the power's word in the configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Refund => "refund",
            Self::Charge => "charge",
            Self::Credit => "credit",
            Self::Mail => "mail",
            Self::CardLink => "card_link",
            Self::Personal => "personal",
        }
    }

    /// Returns the power of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|power| power.word() == word)
    }

    /// Returns a sentence that refuses the power, and the text to write instead.
    pub fn refusal(self, merchant: Option<&Key>) -> (String, String) {
        let word = self.word();
        let at = merchant.map(|merchant| format!(" at {}", merchant.short())).unwrap_or_default();
        let message = format!("scripts have no right to `{word}`{at}");
        let name = merchant.map(Key::short);
        let name = name.as_deref().and_then(|name| name.split_once('/')).map(|(_, name)| name);
        let help = format!(
            "add `policy: {{scripts: {{allow: {{{word}: [{}]}}}}}}` to reckon.yaml (`all` opens it for every merchant)",
            name.unwrap_or("MERCHANT")
        );
        (message, help)
    }
}

/// The merchants that a power is opened for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedMerchants {
    /// All merchants.
    All,
    /// These merchants.
    Some(BTreeSet<Key>),
}

/// The opened powers; powers without an entry are closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rights(BTreeMap<ScriptPower, AllowedMerchants>);

impl Rights {
    /// Makes the rights of these powers, for these merchants.
    pub fn new(powers: impl IntoIterator<Item = (ScriptPower, AllowedMerchants)>) -> Self {
        Self(powers.into_iter().collect())
    }

    /// Returns every power for every merchant.
    pub fn all() -> Self {
        Self::new(ScriptPower::ALL.map(|power| (power, AllowedMerchants::All)))
    }

    /// Returns whether a power is open for any merchant.
    pub fn allows_any(&self, power: ScriptPower) -> bool {
        self.0.contains_key(&power)
    }

    /// Returns whether a power is open for this merchant; without one, only a power that is open
    /// for all.
    pub fn allows(&self, power: ScriptPower, merchant: Option<&Key>) -> bool {
        match self.0.get(&power) {
            None => false,
            Some(AllowedMerchants::All) => true,
            Some(AllowedMerchants::Some(names)) => {
                merchant.is_some_and(|merchant| names.contains(merchant))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_is_closed_until_it_is_opened_and_then_for_those_merchants_alone() {
        let (acme, other): (Key, Key) =
            ("Merchant/acme".parse().unwrap(), "Merchant/books/acme".parse().unwrap());
        let rights = Rights::new([
            (ScriptPower::Refund, AllowedMerchants::Some([acme.clone()].into())),
            (ScriptPower::Mail, AllowedMerchants::All),
        ]);
        let may = |power, merchant: Option<&Key>| rights.allows(power, merchant);
        assert!(may(ScriptPower::Refund, Some(&acme)) && !may(ScriptPower::Refund, Some(&other)));
        assert!(!may(ScriptPower::Refund, None) && may(ScriptPower::Mail, None));
        assert!(!may(ScriptPower::Charge, Some(&acme)) && !rights.allows_any(ScriptPower::Charge));
        assert!(!ScriptPower::ALL.into_iter().any(|power| Rights::default().allows_any(power)));
        let (message, help) = ScriptPower::Refund.refusal(Some(&other));
        assert_eq!(message, "scripts have no right to `refund` at Merchant/books/acme");
        assert!(help.contains("{refund: [books/acme]}"), "{help}");
    }
}

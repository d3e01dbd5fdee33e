//! Retries of refused payments: the one table of codes, and the rules of design.md part 3, "Time
//! and retries of money".
//!
//! Pure. The table permits and never requests: a payment whose document requests no second try is
//! not retried because of it. An unknown code is never retried, since money is not guessed.

use chrono::TimeDelta;

use crate::base::wording::count_noun;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PaidBy {
    Card,
    /// A bank account: an eCheck.
    Check,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Advice {
    /// The processor failed before the bank was asked: retry soon.
    Soon,
    /// The bank may accept on another day.
    Days,
    /// Never with these details, for this reason.
    Never(&'static str),
}

/// Maximum presentations of one eCheck: the first and two more (design.md part 3).
pub const PRESENTATIONS_MAX: u32 = 3;
/// Maximum tries by card: well below the limit of card schemes, 15 in 30 days.
pub const CARD_TRIES_MAX: u32 = 4;

/// Waits after the first, second and third try, for codes that may pass on another day.
const DAYS: [TimeDelta; 3] = [TimeDelta::days(1), TimeDelta::days(3), TimeDelta::days(7)];

/// Waits after the first, second and third try, for codes of a failed processor.
const SOON: [TimeDelta; 3] = [TimeDelta::hours(1), TimeDelta::hours(6), TimeDelta::hours(24)];

const WRONG: &str = "the details are wrong";
const GONE: &str = "there is no such account";
const CALL_THE_BANK: &str = "the payer has to speak with the bank";
const UNFIT: &str = "the merchant's account does not take it";

/// Every code of a refused payment, with its advice about another try. The codes are those of
/// service-facts, part 2; design.md part 3 lists the payments that are never presented again. For
/// eChecks only want of funds, a limit, a hold and a processor's failure permit another try, which
/// agrees with the rules of the network.
const TABLE: &[(&str, PaidBy, Advice)] = &[
    ("card_declined", PaidBy::Card, Advice::Days),
    ("card_declined_hold", PaidBy::Card, Advice::Days),
    ("card_declined_insufficient_funds", PaidBy::Card, Advice::Days),
    ("card_declined_limit_exceeded", PaidBy::Card, Advice::Days),
    ("card_declined_processing_error", PaidBy::Card, Advice::Soon),
    ("card_processing_error", PaidBy::Card, Advice::Soon),
    ("card_processor_not_available", PaidBy::Card, Advice::Soon),
    ("card_declined_refer_to_issuer", PaidBy::Card, Advice::Never(CALL_THE_BANK)),
    ("card_declined_no_account", PaidBy::Card, Advice::Never(GONE)),
    ("card_avs_rejected", PaidBy::Card, Advice::Never(WRONG)),
    ("card_cvv_incorrect", PaidBy::Card, Advice::Never(WRONG)),
    ("card_number_incorrect", PaidBy::Card, Advice::Never(WRONG)),
    ("card_number_invalid", PaidBy::Card, Advice::Never(WRONG)),
    ("card_expired", PaidBy::Card, Advice::Never("the card has expired")),
    ("payment_method_expired", PaidBy::Card, Advice::Never("the card has expired")),
    ("card_type_not_accepted", PaidBy::Card, Advice::Never(UNFIT)),
    ("ach_insufficient_funds", PaidBy::Check, Advice::Days),
    ("ach_declined_hold", PaidBy::Check, Advice::Days),
    ("ach_limit_exceeded", PaidBy::Check, Advice::Days),
    ("ach_processing_error", PaidBy::Check, Advice::Soon),
    ("ach_processor_not_available", PaidBy::Check, Advice::Soon),
    ("ach_account_closed", PaidBy::Check, Advice::Never("the account is closed")),
    ("ach_authorization_revoked", PaidBy::Check, Advice::Never("the payer revoked it")),
    ("ach_not_authorized", PaidBy::Check, Advice::Never("the payer did not authorise it")),
    ("ach_payment_stopped", PaidBy::Check, Advice::Never("the payer stopped it")),
    ("ach_payment_refused", PaidBy::Check, Advice::Never("the payer refused it")),
    ("ach_account_frozen", PaidBy::Check, Advice::Never("the account is frozen")),
    ("ach_account_not_found", PaidBy::Check, Advice::Never(GONE)),
    ("ach_declined", PaidBy::Check, Advice::Never(CALL_THE_BANK)),
    ("ach_declined_duplicate", PaidBy::Check, Advice::Never("it was presented already")),
    ("ach_invalid_account_number", PaidBy::Check, Advice::Never(WRONG)),
    ("ach_invalid_routing_number", PaidBy::Check, Advice::Never(WRONG)),
    ("ach_invalid_merchant_configuration", PaidBy::Check, Advice::Never(UNFIT)),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
pub enum RetryDenied {
    #[display("{_0}: it is never tried again with these details")]
    Never(&'static str),
    #[display(
        "it was tried {}, and may not be tried more often",
        count_noun(*tries_max, "time")
    )]
    TriesExhausted { tries_max: u32 },
    /// The table does not list the code for this payment method.
    #[display("nothing says whether it may be tried again")]
    Unknown,
}

/// Returns the wait after try number `tries` until the next one, or the reason against one.
pub fn next_wait(paid: PaidBy, code: &str, tries: u32) -> Result<TimeDelta, RetryDenied> {
    let row = TABLE.iter().find(|(name, by, _)| *name == code && *by == paid);
    let waits = match row.map(|(_, _, advice)| *advice) {
        None => return Err(RetryDenied::Unknown),
        Some(Advice::Never(why)) => return Err(RetryDenied::Never(why)),
        Some(Advice::Soon) => SOON,
        Some(Advice::Days) => DAYS,
    };
    let tries_max = match paid {
        PaidBy::Card => CARD_TRIES_MAX,
        PaidBy::Check => PRESENTATIONS_MAX,
    };
    let before = usize::try_from(tries.saturating_sub(1)).unwrap_or(usize::MAX);
    let wait = waits.get(before).filter(|_| tries < tries_max);
    wait.copied().ok_or(RetryDenied::TriesExhausted { tries_max })
}

/// Returns the payment method that a refusal's code belongs to.
pub fn method_of_code(code: &str) -> Option<PaidBy> {
    TABLE.iter().find(|(name, _, _)| *name == code).map(|(_, paid, _)| *paid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echeck_is_presented_three_times_at_most() {
        let code = "ach_insufficient_funds";
        assert_eq!(next_wait(PaidBy::Check, code, 1), Ok(TimeDelta::hours(24)));
        assert_eq!(next_wait(PaidBy::Check, code, 2), Ok(TimeDelta::hours(72)));
        for tries in [3, 4, u32::MAX] {
            let spent = Err(RetryDenied::TriesExhausted { tries_max: 3 });
            assert_eq!(next_wait(PaidBy::Check, code, tries), spent);
        }
    }

    #[test]
    fn what_the_payer_or_the_account_ended_is_never_presented_again() {
        for code in [
            "ach_account_closed",
            "ach_authorization_revoked",
            "ach_not_authorized",
            "ach_payment_stopped",
        ] {
            let told = next_wait(PaidBy::Check, code, 1);
            assert!(matches!(told, Err(RetryDenied::Never(_))), "{code} {told:?}");
        }
    }

    #[test]
    fn a_card_is_not_tried_again_after_a_hard_decline() {
        for code in [
            "card_declined_no_account",
            "card_declined_refer_to_issuer",
            "card_expired",
            "card_number_incorrect",
            "card_cvv_incorrect",
            "card_type_not_accepted",
        ] {
            let told = next_wait(PaidBy::Card, code, 1);
            assert!(matches!(told, Err(RetryDenied::Never(_))), "{code} {told:?}");
        }
    }

    #[test]
    fn a_soft_decline_of_a_card_may_be_tried_three_times_more() {
        for (code, hours) in [
            ("card_declined_insufficient_funds", [24, 72, 168]),
            ("card_declined_processing_error", [1, 6, 24]),
        ] {
            for (before, wait) in hours.into_iter().enumerate() {
                let tries = u32::try_from(before).unwrap() + 1;
                let wait = Ok(TimeDelta::hours(wait));
                assert_eq!(next_wait(PaidBy::Card, code, tries), wait, "{code} {tries}");
            }
            assert_eq!(
                next_wait(PaidBy::Card, code, 4),
                Err(RetryDenied::TriesExhausted { tries_max: 4 })
            );
        }
    }

    #[test]
    fn what_is_not_known_is_not_tried_again() {
        for (paid, code) in [
            (PaidBy::Card, ""),
            (PaidBy::Card, "settlement_failed"),
            (PaidBy::Card, "ach_insufficient_funds"),
            (PaidBy::Check, "card_declined"),
        ] {
            assert_eq!(next_wait(paid, code, 1), Err(RetryDenied::Unknown), "{code}");
        }
    }

    #[test]
    fn a_code_stands_in_the_table_once() {
        let mut codes: Vec<&str> = TABLE.iter().map(|(code, _, _)| *code).collect();
        let all = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), all);
        assert_eq!(method_of_code("ach_declined"), Some(PaidBy::Check));
        assert_eq!(method_of_code("invalid_data"), None);
    }
}

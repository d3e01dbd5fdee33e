//! Renders growing data against its quotas, for people.

use crate::engine::protocol::queries::quotas::QuotasView;
use crate::render::words::{clean, push_line};

/// Renders one line for the stored values of scripts, and one for the events of each merchant.
pub fn text(quotas: &QuotasView) -> String {
    let QuotasView { kept, kept_max, .. } = quotas;
    let mut out = String::new();
    push_line(
        &mut out,
        &format!(
            "All scripts together keep {} of {} keys, {} of {} bytes.",
            kept.keys, kept_max.keys, kept.bytes, kept_max.bytes
        ),
    );
    for one in &quotas.merchants {
        let (held, dropped) = (one.held, one.dropped);
        let (waiting, failed) = (one.waiting, one.failed);
        let horizon = one.horizon.as_ref();
        let horizon = horizon.map(|at| format!("; settled ones up to {at} are dropped"));
        push_line(
            &mut out,
            &format!(
                "{}: events held {held}, dropped {dropped}; actions waiting {waiting}; hooks failed {failed}{}",
                clean(&one.merchant),
                horizon.unwrap_or_default()
            ),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::queries::quotas::MerchantQuota;
    use crate::model::events::scripts::ScriptValuesSize;

    /// Closes K11: quotas are shown with their limits.
    #[test]
    fn quotas_are_told_with_their_bounds_and_each_merchant_s_horizon() {
        let merchants = vec![MerchantQuota {
            merchant: "Merchant/acme".to_owned(),
            held: 7,
            dropped: 2,
            waiting: 1,
            failed: 3,
            horizon: Some("2026-11-22T10:00:00.000Z".to_owned()),
        }];
        let kept = ScriptValuesSize { keys: 4, bytes: 90 };
        let kept_max = ScriptValuesSize { keys: 100, bytes: 1000 };
        let quotas = QuotasView { kept, kept_max, merchants, ..QuotasView::default() };
        insta::assert_snapshot!(text(&quotas), @r"
        All scripts together keep 4 of 100 keys, 90 of 1000 bytes.
        Merchant/acme: events held 7, dropped 2; actions waiting 1; hooks failed 3; settled ones up to 2026-11-22T10:00:00.000Z are dropped
        ");
    }
}

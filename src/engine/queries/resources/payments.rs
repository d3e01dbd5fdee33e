//! The payments of a recurring charge, as plain data.

use crate::base::clock::timestamp;
use crate::engine::protocol::queries::payments::{PaymentView, PaymentsView};
use crate::model::state::observed::Observed;
use crate::model::state::payment::{Payment, Payments};

/// Returns the known payments of a resource; `None`: it collects nothing.
pub(crate) fn view(known: &Observed) -> Option<Box<PaymentsView>> {
    let next = known.text("next_payment").map(str::to_owned);
    let payments = known.payments.as_deref();
    let last = payments.map(|Payments { last, .. }| {
        let Payment { id, result, amount, currency, reason, at } = last.clone();
        let currency = currency.or_else(|| known.text("currency").map(str::to_owned));
        PaymentView { id, result, amount, currency, reason, at: timestamp(&at) }
    });
    let failures = payments.map_or(0, |payments| payments.failures);
    (last.is_some() || next.is_some()).then(|| Box::new(PaymentsView { last, failures, next }))
}

//! Collects the values of a notification that no reason may repeat, whatever a receiver answers.

use serde_json::Value;

use super::message::{DeliveryResult, OutgoingNotification};
use super::target::{NotificationTarget, SmtpTarget};
use crate::base::outside_text::ServiceText;
use crate::base::outside_text::known::KnownValues;

/// Returns the notification's values, and the credentials of its target.
pub(crate) fn sensitive_values(
    message: &OutgoingNotification,
    target: Option<&NotificationTarget>,
) -> KnownValues {
    let mut known = KnownValues::default();
    hide_all(&mut known, &message.body);
    let texts = [&message.html, &message.subject].into_iter().flatten();
    texts.chain(message.to.iter().flatten()).for_each(|text| known.hide(text));
    match target {
        Some(NotificationTarget::Web { url, form: _ }) => known.hide_secret(url.expose()),
        Some(NotificationTarget::Mail(mail)) => hide_mail(&mut known, mail),
        None => {}
    }
    known
}

fn hide_mail(known: &mut KnownValues, mail: &SmtpTarget) {
    mail.to.iter().chain([&mail.from]).for_each(|address| known.hide(address.expose()));
    if let Some(login) = &mail.login {
        known.hide_secret(login.user.expose());
        known.hide_secret(login.password.expose());
    }
}

fn hide_all(known: &mut KnownValues, value: &Value) {
    match value {
        Value::String(text) => known.hide(text),
        Value::Number(number) => known.hide(&number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| hide_all(known, item)),
        Value::Object(fields) => fields.values().for_each(|field| hide_all(known, field)),
        Value::Null | Value::Bool(_) => {}
    }
}

impl DeliveryResult {
    /// Removes these values from the reason.
    pub(crate) fn without_values(self, known: &KnownValues) -> Self {
        let clean = |reason: String| ServiceText::clean(&reason, known).to_string();
        match self {
            Self::Done => Self::Done,
            Self::NotSent(reason) => Self::NotSent(clean(reason)),
            Self::Refused(reason) => Self::Refused(clean(reason)),
            Self::InDoubt(reason) => Self::InDoubt(clean(reason)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Closes S2, as far as notifications go.
    #[test]
    fn a_receiver_that_repeats_a_notification_carries_nothing_on() {
        let message = OutgoingNotification {
            key: "evt_1/tell".to_owned(),
            target: "ops".to_owned(),
            body: json!({"text": "Jane Doe owes 125.00 USD"}),
            html: None,
            subject: Some("For Jane Doe".to_owned()),
            to: Some(vec!["jane@payer.example".to_owned()]),
        };
        let url = "https://chat.example/hooks/T0K3N9".into();
        let known = sensitive_values(
            &message,
            Some(&NotificationTarget::Web { url, form: crate::notify::target::BodyFormat::Json }),
        );
        let words = "refused: jane%40payer.example FOR JANE DOE Jane Doe owes 125.00 USD \
                     https://chat.example/hooks/T0K3N9 \u{1b}[2J";
        let DeliveryResult::InDoubt(told) =
            DeliveryResult::InDoubt(words.to_owned()).without_values(&known)
        else {
            panic!("the sort of it stays");
        };
        assert_eq!(told, "refused: *** *** *** *** [2J");
    }
}

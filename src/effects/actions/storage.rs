//! Actions that store something at the service: a file or a payment method of a contact, a saved
//! card or bank.

use serde::Deserialize;
use serde_json::Value;

use super::fields::{ActionEffect, decode, without_money};
use crate::api::file::{NewFile, bytes};
use crate::base::id::RemoteId;
use crate::effects::core::context::EffectContext;
use crate::effects::invoicing::file_upload::upload_content;
use crate::effects::methods::method::PaymentMethodType;
use crate::effects::methods::save::save_token;
use crate::effects::methods::vault_save::save_in_vault;

/// Minimum length of a one-time token (service-facts, 18): longer than a card number.
const TOKEN_LENGTH_MIN: usize = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UploadFields {
    contact: RemoteId,
    file_name: String,
    content: String,
}

pub(crate) fn upload(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let UploadFields { contact, file_name, content } = decode(fields)?;
    let file = NewFile { file_name, content };
    if let Err(problems) = bytes(&file) {
        let told = problems.iter().map(|one| format!("{}: {}", one.context, one.message));
        return Err(told.collect::<Vec<_>>().join("; "));
    }
    Ok(without_money(upload_content(new, &contact, file)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VaultFields {
    contact: RemoteId,
    #[serde(rename = "type")]
    sort: PaymentMethodType,
    token: Value,
}

pub(crate) fn vault(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let VaultFields { contact, sort, token } = decode(fields)?;
    Ok(without_money(save_in_vault(new, &contact, sort, parse_token(&token)?)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaveFields {
    #[serde(rename = "type")]
    sort: PaymentMethodType,
    token: Value,
    description: Option<String>,
}

pub(crate) fn save(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let SaveFields { sort, token, description } = decode(fields)?;
    Ok(without_money(save_token(new, sort, parse_token(&token)?, description.as_deref())))
}

/// Returns a one-time token.
///
/// # Errors
///
/// The value cannot be a token. The message never contains it.
fn parse_token(token: &Value) -> Result<&str, String> {
    let fits = |text: &&str| text.len() >= TOKEN_LENGTH_MIN && RemoteId::new(text).is_ok();
    token.as_str().filter(fits).ok_or_else(|| {
        format!(
            "the token is no one-time token, which has {TOKEN_LENGTH_MIN} characters or more: numbers of cards and \
             accounts are not taken here"
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::testing::obligation;
    use super::*;

    const TOKEN: &str = "abcdefghijklmnopqrst-_";

    #[test]
    fn a_token_is_saved_under_the_mark_and_is_sealed() {
        let make = |fields: Value| save(obligation(), &fields).map(|deed| deed.effect);
        let effect = make(json!({"type": "card", "token": TOKEN, "description": "Visa"})).unwrap();
        assert_eq!((effect.name, effect.request.path.as_str()), ("card.save", "/v1/cards"));
        let mark = json!(effect.source_id.mark());
        let body =
            json!({"type": "card", "token_id": TOKEN, "reference": mark, "description": "Visa"});
        assert_eq!((&effect.request.body, effect.sealed), (&body, true));
        assert_eq!(
            (&effect.expect["reference"], &effect.expect["description"]),
            (&mark, &json!("Visa"))
        );
        let bank = make(json!({"type": "bank", "token": TOKEN})).unwrap();
        assert_eq!((bank.name, bank.request.path.as_str()), ("bank.save", "/v1/banks"));
        assert_eq!(bank.request.body.get("description"), None);
        assert!(make(json!({"type": "card"})).is_err());
    }

    #[test]
    fn what_is_no_token_is_refused_and_not_told() {
        for token in [json!("4242424242424242"), json!(4_242_424_242_424_242_u64), json!("a b")] {
            let fields = json!({"type": "card", "token": token, "contact": "p_1"});
            let told = vault(obligation(), &fields).unwrap_err();
            assert!(told.starts_with("the token is no one-time token"), "{told}");
            assert!(!told.contains("4242"), "{told}");
        }
    }

    #[test]
    fn everything_wrong_with_a_file_is_told_at_once() {
        let wrong = json!({"contact": "p_1", "file_name": "../a", "content": ""});
        let told = upload(obligation(), &wrong).unwrap_err();
        assert_eq!(told, "file_name: File name is invalid; content: Content cannot be blank");
        let good = json!({"contact": "p_1", "file_name": "a.pdf", "content": "JVBERg=="});
        assert_eq!(upload(obligation(), &good).unwrap().effect.name, "file.upload");
    }
}

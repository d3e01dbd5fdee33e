//! POST /contacts/{id}/payment-methods: a contact's own methods, made from one-time tokens
//! (service-facts, 85).

use super::payment_methods::StoredMethod;
use super::tokens;
use crate::api::methods::method::MethodKind;
use crate::api::methods::vault;
use crate::api::methods::vault::{NewVaultMethod, VaultMethod};
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::invoicing::contacts::audit;
use crate::sandbox::invoicing::files::contact_of;
use crate::sandbox::recurring::start::without_cvv;
use crate::sandbox::state::lists::{MerchantMode, ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

pub(crate) const KIND: ObjectKind = ObjectKind { word: "payment-method", name: "PaymentMethod" };

/// POST: uses the token up; its CVV is not kept.
pub(crate) fn create(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    new: NewVaultMethod,
) -> Result<VaultMethod, SandboxRefusal> {
    let merchant = cx.merchant(asked.merchant()?)?;
    let contact = contact_of(cx, &merchant, asked.parameter(0))?;
    SandboxRefusal::fields("", &vault::rules(&new))?;
    let owner = contact.owner;
    if new.test_mode.is_some_and(|test| MerchantMode::of_test(test) != owner.mode) {
        let text = "Contact and payment method must be of one mode";
        return Err(SandboxRefusal::rule("unavailable_for_merchant_mode", text));
    }
    let method = take_token(cx, &owner, &new)?;
    let audit = audit(cx, &merchant);
    let object = VaultMethod {
        id: cx.id_with_prefix("pm_"),
        created: Some(audit.clone()),
        modified: Some(audit),
        contact_id: contact.object.id,
        payment_type: new.payment_type,
        authorized_uses: new.authorized_uses,
        test_mode: owner.mode == MerchantMode::Test,
        method: Some(method.shown.clone()),
        kind: "payment_method".to_owned(),
    };
    let sequence = cx.next();
    let kept = Stored { owner, sequence, object, internal: method };
    cx.create(KIND, &kept.owner.key(), &kept.object.id, &kept)?;
    Ok(kept.object)
}

/// Takes the details out of the token, if they are of the requested type.
fn take_token(
    cx: &mut ChangeUnit<'_>,
    owner: &ObjectOwner,
    new: &NewVaultMethod,
) -> Result<StoredMethod, SandboxRefusal> {
    let token = &new.one_time_token;
    let method = tokens::find(cx, owner, token)?.internal;
    let said = if new.payment_type == "credit_card" { MethodKind::Card } else { MethodKind::Bank };
    if method.shown.kind != said {
        return Err(SandboxRefusal::rule(
            "incorrect_payment_type",
            "Token is of another payment type",
        ));
    }
    method.check("", cx.now)?;
    tokens::end(cx, token)?;
    Ok(without_cvv(method))
}

/// Returns the details of a method for a payment.
pub(crate) fn payment_details(
    cx: &ChangeUnit<'_>,
    owner: &ObjectOwner,
    id: &str,
) -> Result<StoredMethod, SandboxRefusal> {
    let kept: Stored<VaultMethod, StoredMethod> = cx.find(KIND, owner, id)?;
    let mut method = kept.internal;
    method.shown.id = Some(id.to_owned());
    Ok(method)
}

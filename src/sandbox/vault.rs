//! POST /contacts/{id}/payment-methods: a contact's own methods, made from one-time tokens
//! (service-facts, 85).

use crate::api::method::MethodKind;
use crate::api::vault::{self, NewVaultMethod, VaultMethod};
use crate::sandbox::asked::Asked;
use crate::sandbox::contacts::audit;
use crate::sandbox::files::contact_of;
use crate::sandbox::lists::{Kept, KindOf, Mode, Owner};
use crate::sandbox::methods::KeptMethod;
use crate::sandbox::recur::for_later;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::tokens;

pub(crate) const KIND: KindOf = KindOf { word: "payment-method", name: "PaymentMethod" };

/// POST: uses the token up; its CVV is not kept.
pub(crate) fn create(
    cx: &mut Cx<'_>,
    asked: &Asked,
    new: NewVaultMethod,
) -> Result<VaultMethod, Refusal> {
    let merchant = cx.merchant(asked.merchant()?)?;
    let contact = contact_of(cx, &merchant, asked.parameter(0))?;
    Refusal::fields("", &vault::rules(&new))?;
    let owner = contact.owner;
    if new.test_mode.is_some_and(|test| Mode::of_test(test) != owner.mode) {
        let text = "Contact and payment method must be of one mode";
        return Err(Refusal::rule("unavailable_for_merchant_mode", text));
    }
    let method = taken(cx, &owner, &new)?;
    let audit = audit(cx, &merchant);
    let object = VaultMethod {
        id: cx.prefixed("pm_"),
        created: Some(audit.clone()),
        modified: Some(audit),
        contact_id: contact.object.id,
        payment_type: new.payment_type,
        authorized_uses: new.authorized_uses,
        test_mode: owner.mode == Mode::Test,
        method: Some(method.shown.clone()),
        kind: "payment_method".to_owned(),
    };
    let sequence = cx.next();
    let kept = Kept { owner, sequence, object, inside: method };
    cx.create(KIND, &kept.owner.key(), &kept.object.id, &kept)?;
    Ok(kept.object)
}

/// Takes the details out of the token, if they are of the requested type.
fn taken(cx: &mut Cx<'_>, owner: &Owner, new: &NewVaultMethod) -> Result<KeptMethod, Refusal> {
    let token = &new.one_time_token;
    let method = tokens::find(cx, owner, token)?.inside;
    let said = if new.payment_type == "credit_card" { MethodKind::Card } else { MethodKind::Bank };
    if method.shown.kind != said {
        return Err(Refusal::rule("incorrect_payment_type", "Token is of another payment type"));
    }
    method.check("", cx.now)?;
    tokens::end(cx, token)?;
    Ok(for_later(method))
}

/// Returns the details of a method for a payment.
pub(crate) fn pays(cx: &Cx<'_>, owner: &Owner, id: &str) -> Result<KeptMethod, Refusal> {
    let kept: Kept<VaultMethod, KeptMethod> = cx.find(KIND, owner, id)?;
    let mut method = kept.inside;
    method.shown.id = Some(id.to_owned());
    Ok(method)
}

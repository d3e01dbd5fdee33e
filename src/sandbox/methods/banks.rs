//! Saved banks (gateway-api, Saved banks).

use super::payment_methods::bank_details;
use super::saved_methods::SavedMethodStore;
use crate::api::methods::bank::{NewBank, holder_rules};
use crate::api::methods::method::{MethodKind, PaymentMethod};
use crate::api::methods::saved::SavedChange;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::state::lists::ObjectKind;
use crate::sandbox::state::store::ChangeUnit;

pub(crate) const SAVED_BANKS: SavedMethodStore = SavedMethodStore {
    kind: ObjectKind { word: "bank", name: "Bank" },
    method: MethodKind::Bank,
    rules: holder_rules,
};

/// POST /v1/banks: from fields, or from a token.
pub(crate) fn create(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    new: NewBank,
) -> Result<PaymentMethod, SandboxRefusal> {
    let given = SavedChange {
        reference: new.reference.clone(),
        description: new.description.clone(),
        token_id: new.token_id.clone(),
    };
    SAVED_BANKS.create(cx, asked, &given, |cx| bank_details(cx, new))
}

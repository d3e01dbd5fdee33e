//! Saved banks (gateway-api, Saved banks).

use crate::api::bank::{NewBank, holder_rules};
use crate::api::method::{MethodKind, PaymentMethod};
use crate::api::saved::SavedChange;
use crate::sandbox::asked::ParsedRequest;
use crate::sandbox::lists::ObjectKind;
use crate::sandbox::methods::bank_details;
use crate::sandbox::refusal::SandboxRefusal;
use crate::sandbox::saved::SavedMethodStore;
use crate::sandbox::state::ChangeUnit;

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

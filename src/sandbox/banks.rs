//! Saved banks (gateway-api, Saved banks).

use crate::api::bank::{NewBank, holder_rules};
use crate::api::method::{MethodKind, PaymentMethod};
use crate::api::saved::SavedChange;
use crate::sandbox::asked::Asked;
use crate::sandbox::lists::KindOf;
use crate::sandbox::methods::keep_bank;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::saved::Room;
use crate::sandbox::state::Cx;

pub(crate) const ROOM: Room = Room {
    kind: KindOf { word: "bank", name: "Bank" },
    method: MethodKind::Bank,
    rules: holder_rules,
};

/// POST /v1/banks: from fields, or from a token.
pub(crate) fn create(
    cx: &mut Cx<'_>,
    asked: &Asked,
    new: NewBank,
) -> Result<PaymentMethod, Refusal> {
    let given = SavedChange {
        reference: new.reference.clone(),
        description: new.description.clone(),
        token_id: new.token_id.clone(),
    };
    ROOM.create(cx, asked, &given, |cx| keep_bank(cx, new))
}

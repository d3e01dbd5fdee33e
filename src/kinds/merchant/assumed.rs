//! Assumed state of a merchant that is connected, and has every account that documents name.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::shape::{APPLICATION_KIND, MerchantKind};
use crate::kinds::planning::assumed;
use crate::kinds::planning::step::{StepCx, reference};
use crate::kinds::schema::kind::SpecSchema;
use crate::model::manifest::Manifest;
use crate::model::state::credentials::BINDING;
use crate::model::state::observed::Observed;

/// Ids of the default accounts, for documents that name none.
const CARDS: &str = "assumed_cards";
const CHECKS: &str = "assumed_checks";

/// Returns the assumed state.
pub(super) fn assumed_state(cx: &StepCx<'_>, manifest: &Manifest) -> Observed {
    let accounts = named_accounts(cx, manifest, "account").into_iter();
    let accounts = accounts.map(|name| json!({"id": name, "name": name}));
    let own = [(CARDS, "MerchantAccount"), (CHECKS, "AchAccount")];
    let own = own.map(|(id, sort)| json!({"id": id, "name": id, "type": sort}));
    let banks = named_accounts(cx, manifest, "bank_account").into_iter();
    let banks = banks.map(|name| json!({"id": name, "name": name}));
    let fed = json!({"id": "assumed_bank", "name": "assumed_bank", "processing_accounts": [CARDS, CHECKS]});
    let facts = json!({
        "token": true,
        "connected": true,
        "accounts": own.into_iter().chain(accounts).collect::<Vec<_>>(),
        "primary_accounts": [CARDS, CHECKS],
        "bank_accounts": banks.chain([fed]).collect::<Vec<_>>(),
        "surveyed": true,
        BINDING: {
            "generation": manifest.annotations.generation,
            "mode": "test",
            "name": applied_name(cx, manifest),
            "public_keys": ["assumed"],
        },
    });
    Observed { facts, ..assumed::applied_state(MerchantKind::FIELDS, cx, manifest) }
}

/// Returns the names that the merchant's documents use in this field.
fn named_accounts(cx: &StepCx<'_>, manifest: &Manifest, field: &str) -> BTreeSet<String> {
    let users = cx.view.users(&manifest.key).into_iter().filter_map(|user| cx.view.manifest(&user));
    let named =
        users.filter_map(|user| user.spec.get(field).and_then(Value::as_str).map(str::to_owned));
    named.collect()
}

/// Returns the business name on its application.
fn applied_name(cx: &StepCx<'_>, manifest: &Manifest) -> Option<Value> {
    let application = reference(manifest, APPLICATION_KIND)?;
    cx.view.manifest(&application)?.spec.get("business_name").cloned()
}

//! Effects on the service: one file for each family, and one line for each effect in the register.
//! The effects on saved cards and on saved banks differ only in their endpoints.
//!
//! An effect's file defines its request, the required answer, and the settlement of a lost answer
//! (design.md part 3). Nothing else in the crate builds a request that changes the service.
//! Readings, which change nothing, have a register of their own.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::call::{Call, Endpoint, Method};
use crate::base::hash::SourceId;
use crate::base::id::{Key, Mode};
use crate::model::effect::{Effect, EffectRequest, ExposureCounts, RemoteReading};
use crate::model::manifest::OnDoubt;
use crate::model::state::observed::AppliedSpec;

/// Inputs that all effects of a resource share.
#[derive(Debug, Clone)]
pub struct EffectContext {
    pub key: Key,
    pub merchant: Key,
    pub mode: Mode,
    /// The resource's permanent name at the service.
    pub source_id: SourceId,
    /// State that the service will have after the effect.
    pub applied: AppliedSpec,
    /// Policy where no evidence settles a creation.
    pub on_doubt: OnDoubt,
    /// The merchant's account whose own key signs the request; none for the merchant's key.
    pub account: Option<String>,
    /// The merchant-facing host of the merchant's brand, if not the configured one.
    pub web_url: Option<String>,
}

impl EffectContext {
    pub fn reading(self, name: &'static str, subject: Value) -> RemoteReading {
        let Self { key, merchant, mode, applied, .. } = self;
        RemoteReading { name, key, merchant, mode, applied, subject }
    }

    /// Builds an effect of endpoint `E` with this body.
    pub(crate) fn effect<E: Endpoint>(
        self,
        name: &'static str,
        parameters: &[&str],
        body: Value,
    ) -> Effect {
        let Self { key, merchant, mode, source_id, applied, on_doubt, account, web_url } = self;
        let Call { endpoint, method, host, path, auth, .. } = Call::to::<E>(parameters);
        let deletes = u32::from(method == Method::Delete);
        Effect {
            name,
            key,
            merchant,
            mode,
            target: None,
            source_id,
            request: EffectRequest { endpoint, method, host, path, auth, account, web_url, body },
            sealed: false,
            expect: BTreeMap::new(),
            applied,
            single_use: None,
            subject: Value::Null,
            on_doubt,
            moves: Vec::new(),
            counts: ExposureCounts { deletes, emails: 0 },
        }
    }
}

/// Builds a reading that precedes an effect; `applied` is the state on the service.
pub fn read_before(
    effect: &Effect,
    name: &'static str,
    applied: AppliedSpec,
    subject: Value,
) -> RemoteReading {
    let (key, merchant) = (effect.key.clone(), effect.merchant.clone());
    RemoteReading { name, key, merchant, mode: effect.mode, applied, subject }
}

pub fn set_field(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Sets a field of a JSON object, if there is a value.
pub fn set_optional(object: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        set_field(object, name, value);
    }
}

/// Copies these fields of another JSON object; a field that it lacks becomes null.
pub fn copy_fields(object: &mut Value, from: &Value, fields: &[&str]) {
    for field in fields {
        set_field(object, field, from.get(*field).cloned().unwrap_or_default());
    }
}

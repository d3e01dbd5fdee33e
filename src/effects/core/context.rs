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
use crate::base::id::{Key, Mode, RemoteId};
use crate::model::effect::{Effect, EffectRequest, ExposureCounts, RemoteReading, SingleUse};
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

/// Sets a field of a JSON object under construction.
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

/// Builder methods over an effect.
pub(crate) trait EffectBuilder: Sized {
    /// Sets the remote object that the effect changes.
    fn targeting(self, target: &RemoteId) -> Self;
    fn with_sealed_body(self) -> Self;
    /// Sets the single-use value that the effect needs.
    fn with_single_use(self, once: SingleUse) -> Self;
    /// Sets the subject of the effect beside its resource.
    fn with_subject(self, about: Value) -> Self;
    /// Requires `value` at `path` of the answer; null requires nothing.
    fn expecting(self, path: &str, value: impl Into<Value>) -> Self;
    /// Requires these fields of `asked` in the answer; an absent one requires nothing.
    fn expecting_fields(self, asked: &Value, fields: &[&str]) -> Self;
}

impl EffectBuilder for Effect {
    fn targeting(mut self, target: &RemoteId) -> Self {
        self.target = Some(target.clone());
        self
    }

    fn with_sealed_body(mut self) -> Self {
        self.sealed = true;
        self
    }

    fn with_single_use(mut self, once: SingleUse) -> Self {
        self.single_use = Some(Box::new(once));
        self
    }

    fn with_subject(mut self, about: Value) -> Self {
        self.subject = about;
        self
    }

    fn expecting(mut self, path: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.expect.insert(path.to_owned(), value);
        }
        self
    }

    fn expecting_fields(self, asked: &Value, fields: &[&str]) -> Self {
        let field = |name: &str| asked.get(name).cloned().unwrap_or_default();
        fields.iter().fold(self, |effect, name| effect.expecting(name, field(name)))
    }
}

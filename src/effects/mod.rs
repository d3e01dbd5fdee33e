//! Effects on the service: one file for each, and one line each in the register. The effects on
//! saved cards and on saved banks differ only in their endpoints, and share their files.
//!
//! An effect's file defines its request, the required answer, and the settlement of a lost answer
//! (design.md part 3). Nothing else in the crate builds a request that changes the service.
//! Readings, which change nothing, have a register of their own.

mod account_change;
mod actions;
mod application_sign_up;
mod application_submit;
mod charge;
mod charge_capture;
mod charge_recur;
mod charge_schedule;
mod code_exchange;
mod contact_create;
mod contact_hash;
mod declared;
mod earlier;
mod evidence;
pub mod expect;
mod file_upload;
mod invoice_create;
mod merchant_accounts;
mod merchant_bind;
mod merchant_change;
mod merchant_deauthorise;
mod merchant_purge;
mod merchant_read;
mod merchant_survey;
mod method;
mod method_change;
mod method_delete;
mod method_save;
mod occurrence_ignore;
mod occurrence_pay;
mod recurring_cancel;
mod recurring_change;
mod recurring_create;
mod recurring_delete;
mod recurring_end;
mod recurring_look;
mod refund;
mod register;
mod settings;
mod surcharge_read;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod token_create;
mod transaction_read;
mod transaction_sign;
mod transaction_void;
mod transactions;
mod vault_save;

pub use account_change::change_account;
pub use actions::{
    ACCOUNT, ACTIONS, ActionEffect, ActionRow, CHANGE, DEAUTHORISE, DELETE, MERCHANT, PURGE, SAVE,
    SCHEDULE, UPLOAD, VAULT, action_row,
};
pub use application_sign_up::{PAGE, start_sign_up};
pub use application_submit::submit_application;
pub use charge::{TransactionRequest, charge, credit};
pub use charge_capture::{CaptureTime, capture};
pub use charge_recur::charge_now;
pub use charge_schedule::schedule_charge;
pub use code_exchange::{APPLICATION, exchange_code};
pub use contact_create::create_contact;
pub use contact_hash::make_link;
pub use declared::requested_money;
pub use earlier::{RepeatRisk, is_reported_by_webhook_only, repeat_risk};
pub use evidence::LOOKED_UP_FIRST;
pub use file_upload::{
    FILE_STATE, KnownUpload, file_identity, known_upload, upload_content, upload_file,
};
pub use invoice_create::{count_addresses, create_invoice};
pub use merchant_accounts::{ACCOUNT_KEYS, ACCOUNTS, account_key, has_several};
pub use merchant_change::change_merchant;
pub use merchant_deauthorise::deauthorise_merchant;
pub use merchant_purge::{purge_of, purge_test_data};
pub use merchant_read::{CREDENTIALS, KEYS};
pub use merchant_survey::{SURVEY, collection_of, mark_of};
pub use method::{MethodSource, PaymentMethodType, method_facts};
pub use method_change::{change_method, renew_by_token, renew_method, set_method};
pub use method_delete::delete_method;
pub use method_save::{good_until, save_by_token, save_method, save_token};
pub use occurrence_ignore::ignore_occurrence;
pub use occurrence_pay::pay;
pub use recurring_cancel::{cancel_recurring, has_no_path};
pub use recurring_change::{
    change_recurring, change_recurring_by_intake, renew_recurring, set_recurring,
};
pub use recurring_create::{create_recurring, recurring_facts};
pub use recurring_delete::delete_recurring;
pub use recurring_end::end_recurring;
pub use recurring_look::RECURRING_STATE;
pub use refund::refund;
pub use register::{
    Baseline, EFFECTS, EffectRow, Isolation, Learned, Lookup, LookupResult, LostReply, OnAbsent,
    ProvenState, READINGS, ReadingCx, ReadingError, ReadingRow, RemoteAnswer, RemoteQuery,
    effect_row, reading_row,
};
pub use settings::{
    BANK_SETTINGS, CARD_SETTINGS, MERCHANT_SETTINGS, METHOD_TEXTS, RECURRING_SETTINGS,
    RemoteSetting, SettingType, sets_date_alone,
};
pub use surcharge_read::SURCHARGE;
pub use token_create::{FreshToken, TOKEN_RESERVE_MINUTES, create_token, create_token_for};
pub use transaction_read::verifying_query;
pub use transaction_sign::sign;
pub use transaction_void::void;
pub use transactions::transaction_facts;
pub use vault_save::save_in_vault;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::{Call, Endpoint, Method};
use crate::base::hash::SourceId;
use crate::base::id::{Key, Mode, RemoteId};
use crate::model::effect::{Effect, EffectRequest, ExposureCounts, SingleUse};
use crate::model::manifest::OnDoubt;
use crate::model::observed::AppliedSpec;

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
    /// Builds an effect of endpoint `E` with this body.
    fn effect<E: Endpoint>(self, name: &'static str, parameters: &[&str], body: Value) -> Effect {
        let call = Call::to::<E>(parameters);
        let removes = call.method == Method::Delete;
        let request = EffectRequest {
            endpoint: call.endpoint,
            method: call.method,
            host: call.host,
            path: call.path,
            auth: call.auth,
            account: self.account,
            web_url: self.web_url,
            body,
        };
        Effect {
            name,
            key: self.key,
            merchant: self.merchant,
            mode: self.mode,
            target: None,
            source_id: self.source_id,
            request,
            sealed: false,
            expect: BTreeMap::new(),
            applied: self.applied,
            single_use: None,
            subject: Value::Null,
            on_doubt: self.on_doubt,
            moves: Vec::new(),
            counts: ExposureCounts { deletes: u32::from(removes), emails: 0 },
        }
    }
}

/// Sets a field of a JSON object under construction.
pub fn put(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Builder methods over an effect.
trait EffectBuilder: Sized {
    /// Sets the remote object that the effect changes.
    fn targeting(self, target: &RemoteId) -> Self;
    /// Marks the body as private.
    fn with_sealed_body(self) -> Self;
    /// Sets the single-use value that the effect needs.
    fn with_single_use(self, once: SingleUse) -> Self;
    /// Sets the subject of the effect beside its resource.
    fn with_subject(self, about: Value) -> Self;
    /// Requires `value` at `path` of the answer; null requires nothing.
    fn expecting(self, path: &str, value: impl Into<Value>) -> Self;
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
}

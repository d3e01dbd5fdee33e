//! Prerequisites of an invoice: its uploaded files, and the bank account that
//! receives its money (partner-api, Bank account).
//!
//! Each file is uploaded under the contact and processed before the invoice names it. An upload
//! serves every invoice of the same contact that names the same content.

use serde_json::{Value, json};

use crate::base::id::{Key, Mode, RemoteId};
use crate::base::money::Money;
use crate::effects::core::context::{read_before, set_field};
use crate::effects::invoices::{FILE_STATE, KnownUpload, file_identity, known_upload};
use crate::kinds::contact::ContactKind;
use crate::kinds::invoice::InvoiceKind;
use crate::kinds::planning::step::{
    StepCx, StepDecision, find_account, ready_id, reference, text, unsuitable,
};
use crate::kinds::schema::kind::SpecSchema;
use crate::model::change::PlannedAction;
use crate::model::effect::StepWork;
use crate::model::manifest::{AttachedFile, Manifest};
use crate::model::plan::Reason;
use crate::model::state::drift::FieldChange;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Progress of the attachments of an invoice that is not created yet.
#[derive(Debug)]
pub(super) enum AttachmentState {
    /// Each file has its id; holds the list for the invoice.
    Ready(Vec<Value>),
    Missing(AttachedFile, RemoteId, Value),
    /// This file is being processed; holds the subject of the reading.
    Processing(Value),
}

/// Returns the progress of the attachments, or the resources for which they wait.
pub(super) fn attachment_state(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> Result<AttachmentState, Reason> {
    let wanted = manifest.spec.get("attachments").and_then(Value::as_array);
    let mut named = Vec::new();
    for item in wanted.into_iter().flatten() {
        if item.get("file").is_none() {
            named.push(item.clone());
            continue;
        }
        let path = text(item, "file");
        let file = manifest.files.iter().find(|file| file.path == path);
        let file = file.ok_or_else(|| Reason::Unsuitable(format!("unknown file {path}")))?;
        let contact = reference(manifest, ContactKind::NAME);
        let contact = contact.ok_or_else(|| unsuitable("the invoice names no contact"))?;
        let contact_id = ready_id(cx, &contact)?;
        let mut about = file_identity(&contact_id, file, cx.digest_key);
        match attached_upload(cx, have, &contact, &about) {
            None => return Ok(AttachmentState::Missing(file.clone(), contact_id, about)),
            Some(KnownUpload { id, processed: true }) => named.push(json!({ "id": id })),
            Some(KnownUpload { id, processed: false }) => {
                set_field(&mut about, "id", id);
                return Ok(AttachmentState::Processing(about));
            }
        }
    }
    Ok(AttachmentState::Ready(named))
}

/// Returns the upload of a file that this invoice, or another one of its contact, knows.
fn attached_upload(
    cx: &StepCx<'_>,
    have: Option<&Observed>,
    contact: &Key,
    about: &Value,
) -> Option<KnownUpload> {
    let others = || {
        let users = cx.view.users(contact).into_iter();
        let mut invoices = users.filter(|user| user.kind.as_str() == InvoiceKind::NAME);
        invoices.find_map(|user| known_upload(&*cx.view.observed_state(&user)?, about))
    };
    have.and_then(|have| known_upload(have, about)).or_else(others)
}

/// Returns the state on the service before the creation: the replaced invoice, or nothing.
pub(super) fn applied_before(new: &AppliedSpec, have: Option<&Observed>) -> AppliedSpec {
    let old = have.filter(|have| have.exists).and_then(|have| have.applied.clone());
    let old = old.unwrap_or_else(|| AppliedSpec { spec: Value::Null, ..new.clone() });
    AppliedSpec { digest: new.digest, ..old }
}

/// Replaces the creation of an invoice by a reading while its attachments are processed.
pub(super) fn read_state_first(
    draft: StepDecision,
    attached: &Result<AttachmentState, Reason>,
    have: Option<&Observed>,
) -> StepDecision {
    let (Ok(AttachmentState::Processing(about)), Some(StepWork::Effect(effect))) =
        (attached, &draft.work)
    else {
        return draft;
    };
    let applied = applied_before(&effect.applied, have);
    let reading = read_before(effect, FILE_STATE, applied, about.clone());
    draft.with_work(StepWork::Read(reading))
}

/// Adds the planned uploads of a new invoice to its changes: size, and digest as of `sha256sum`.
pub(super) fn with_planned_uploads(mut draft: StepDecision, manifest: &Manifest) -> StepDecision {
    if draft.verdict != PlannedAction::Create {
        return draft;
    }
    let wanted = manifest.spec.get("attachments").and_then(Value::as_array);
    for (index, item) in wanted.into_iter().flatten().enumerate() {
        let Some(file) = manifest.files.iter().find(|file| file.path == text(item, "file")) else {
            continue;
        };
        let said = [("sha256", Value::from(file.sha256.to_string())), ("size", file.size.into())];
        draft.changes.extend(said.map(|(field, after)| FieldChange {
            path: format!("attachments[{index}].{field}"),
            before: Value::Null,
            after,
        }));
    }
    draft.changes.sort_by(|one, other| one.path.cmp(&other.path));
    draft
}

const WHAT: &str = "bank account";

/// Returns the id of the bank account that a spec names by name or id. An account never receives
/// money of another currency or mode than its own (partner-api, test invoice rules).
pub fn deposit_account_id(
    spec: &Value,
    owner: &Observed,
    total: Money,
    mode: Mode,
) -> Result<String, Reason> {
    let account = account_of_mode(spec, owner, mode)?;
    let (currency, name) = (text(account, "currency"), text(account, "name"));
    if !currency.is_empty() && currency != total.currency().code() {
        return Err(Reason::CurrencyMismatch(format!(
            "the total is in {}, and the bank account {name:?} takes {currency}: write {currency}, or \
             name another bank account",
            total.currency()
        )));
    }
    Ok(text(account, "id").to_owned())
}

fn account_of_mode<'a>(spec: &Value, owner: &'a Observed, mode: Mode) -> Result<&'a Value, Reason> {
    let wanted = text(spec, "bank_account");
    let what = format!("the bank account {wanted:?} is");
    let account = find_account(owner.fact("bank_accounts"), wanted, WHAT).map_err(|reason| {
        let other = if mode == Mode::Test { Mode::Live } else { Mode::Test };
        let found = find_account(owner.fact("other_bank_accounts"), wanted, WHAT).is_ok();
        if found { other_mode(&what, other, mode) } else { reason }
    })?;
    match account.get("test_mode").and_then(Value::as_bool).map(mode_word) {
        Some(other) if other != mode => Err(other_mode(&what, other, mode)),
        Some(_) | None => Ok(account),
    }
}

pub fn mode_word(test: bool) -> Mode {
    if test { Mode::Test } else { Mode::Live }
}

pub fn other_mode(what: &str, other: Mode, mode: Mode) -> Reason {
    Reason::OtherMode(format!("{what} for {other} mode, and the invoice is in {mode} mode"))
}

/// Returns whether that account holds money in trust, as far as known.
pub fn deposits_in_trust(cx: &StepCx<'_>, spec: &Value, merchant: &Key) -> bool {
    let owner = cx.view.observed_state(merchant);
    let accounts = owner.as_ref().map(|owner| owner.fact("bank_accounts"));
    let account = accounts.and_then(|all| find_account(all, text(spec, "bank_account"), WHAT).ok());
    account.is_some_and(|account| account.get("trust") == Some(&Value::Bool(true)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::money::Currency;

    fn owner() -> Observed {
        let at = chrono::DateTime::UNIX_EPOCH;
        let mut owner = Observed::unknown("Merchant/default/acme".parse().unwrap(), at);
        owner.facts = json!({"bank_accounts": [
            {"id": "bank_o", "name": "Operating", "currency": "USD", "trust": false},
            {"id": "bank_e", "name": "Euro", "currency": "EUR", "trust": false},
            {"id": "bank_x", "name": "Silent", "trust": false},
        ]});
        owner
    }

    #[test]
    fn the_money_of_an_invoice_is_of_its_bank_account_s_currency() {
        let of = |name: &str| {
            deposit_account_id(
                &json!({"bank_account": name}),
                &owner(),
                Money::new(100, Currency::USD),
                Mode::Test,
            )
        };
        assert_eq!(of("Operating"), Ok("bank_o".to_owned()));
        assert_eq!(of("Silent"), Ok("bank_x".to_owned()), "it does not say what it takes");
        let Err(reason) = of("Euro") else { panic!("euros are no dollars") };
        assert_eq!(
            format!("{}: {reason}", reason.word()),
            "CurrencyMismatch: the total is in USD, and the bank account \"Euro\" takes EUR: write EUR, or name another bank account"
        );
        let Err(reason) = of("Nowhere") else { panic!("there is none") };
        assert_eq!(reason.word(), "AccountUnfit");
    }
}

//! The method of a request, resolved: a token, a saved method, a method of a contact, or details.

use super::payment_methods::StoredMethod;
use super::{payment_methods, saved_methods, tokens};
use crate::api::methods::method_ref::MethodRef;
use crate::api::methods::vault::VaultMethod;
use crate::api::rules::FieldProblem;
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::state::lists::{ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

/// The resolved method of a request.
pub(crate) struct ResolvedMethod {
    pub(crate) method: StoredMethod,
    /// Its one-time token, which the operation uses up.
    pub(crate) token: Option<String>,
    /// The field that its problems belong to.
    pub(crate) parent: &'static str,
}

impl ResolvedMethod {
    /// Returns true for a saved card or bank, and for a method of the vault.
    pub(crate) fn is_saved(&self) -> bool {
        self.method.shown.id.is_some()
    }
}

/// Resolves the method of a request: a token, a saved card or bank, or inline details.
pub(crate) fn resolve(
    cx: &ChangeUnit<'_>,
    owner: &ObjectOwner,
    method: MethodRef,
) -> Result<ResolvedMethod, SandboxRefusal> {
    let (method, token) = match method {
        MethodRef::Card(card) => (payment_methods::card_details(cx, *card), None),
        MethodRef::Bank(bank) => (payment_methods::bank_details(cx, *bank), None),
        MethodRef::Id(id) => match tokens::find(cx, owner, &id) {
            Ok(kept) => (kept.internal, Some(id)),
            Err(_) => (find_saved(cx, owner, &id)?, None),
        },
    };
    Ok(ResolvedMethod { method, token, parent: "method" })
}

fn find_saved(
    cx: &ChangeUnit<'_>,
    owner: &ObjectOwner,
    id: &str,
) -> Result<StoredMethod, SandboxRefusal> {
    let found = saved_methods::SAVED_CARDS
        .payment_details(cx, owner, id)
        .or_else(|_| saved_methods::SAVED_BANKS.payment_details(cx, owner, id));
    let found = found.or_else(|_| vault_details(cx, owner, id));
    found.map_err(|_| SandboxRefusal::not_found("PaymentMethod", id))
}

/// Returns the details of a method for a payment.
pub(crate) fn vault_details(
    cx: &ChangeUnit<'_>,
    owner: &ObjectOwner,
    id: &str,
) -> Result<StoredMethod, SandboxRefusal> {
    let kept: Stored<VaultMethod, StoredMethod> = cx.find(ObjectKind::VAULT_METHOD, owner, id)?;
    let mut method = kept.internal;
    method.shown.id = Some(id.to_owned());
    Ok(method)
}

/// Resolves and checks the method of a request. Problems of its fields are reported together with
/// the request's own `problems`; a wrong number or date is reported alone (service-facts, 22, 23).
pub(crate) fn method_of(
    cx: &ChangeUnit<'_>,
    owner: &ObjectOwner,
    method: Option<MethodRef>,
    mut problems: Vec<FieldProblem>,
) -> Result<Option<ResolvedMethod>, SandboxRefusal> {
    if matches!(&method, None | Some(MethodRef::Id(_))) {
        SandboxRefusal::fields("", &problems)?;
    }
    let resolved = method.map(|method| resolve(cx, owner, method)).transpose()?;
    if let Some(resolved) = &resolved {
        problems.extend(resolved.method.problems.iter().cloned().map(|mut problem| {
            problem.context = format!("{}.{}", resolved.parent, problem.context);
            problem
        }));
        SandboxRefusal::fields("", &problems)?;
        resolved.method.check("method", cx.now)?;
    }
    Ok(resolved)
}

//! References whose name changed and whose meaning did not: their target was moved
//! (`reckon.dev/moved-from`).

use serde_json::Value;

use super::step::StepCx;
use crate::kinds::schema::reference::resolve;
use crate::model::manifest::Manifest;
use crate::model::state::observed::Observed;

/// Returns the desired spec with every reference written as in the applied one, where both mean the
/// same.
pub(crate) fn with_former_references(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
    mut after: Value,
) -> Value {
    let before = have.and_then(|have| have.applied.as_ref()).map(|applied| &applied.spec);
    let (Some(before), Some(have)) = (before, have) else { return after };
    let former = have.former.iter().map(|name| &name.namespace);
    let namespaces: Vec<_> = former.chain([&manifest.key.namespace]).collect();
    for reference in &manifest.references {
        let Some(path) = reference.path.strip_prefix("spec.") else { continue };
        let place = format!("/{}", path.replace('.', "/"));
        let (Some(old), Some(new)) =
            (before.pointer(&place).and_then(Value::as_str), after.pointer_mut(&place))
        else {
            continue;
        };
        if new.as_str().is_none_or(|new| new == old) {
            continue;
        }
        let kind = reference.key.kind.as_str();
        let known = cx.view.observed_state(&reference.key);
        let was = |namespace: &&crate::base::id::Name| {
            let name = resolve(kind, old, namespace).ok();
            name.zip(known.as_ref()).is_some_and(|(name, known)| known.former.contains(&name))
        };
        if namespaces.iter().any(was) {
            *new = Value::from(old);
        }
    }
    after
}

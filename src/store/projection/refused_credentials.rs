//! Folds the service's refusal of a merchant's credentials.

use crate::model::state::observed::Observed;
use crate::model::state::refused_credentials::CredentialsRefused;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{ReadModelError, observed_key, read, write};

/// Notes the refusal at the merchant; the credentials' next success ends it.
pub(crate) fn fold(
    index: &dyn Index,
    batch: &mut Batch,
    refused: &CredentialsRefused,
) -> Result<(), ReadModelError> {
    let key = &refused.merchant;
    let known: Option<Observed> = read(index, batch, &observed_key(key))?;
    let mut known = known.unwrap_or_else(|| Observed::unknown(key.clone(), refused.credentials.at));
    known.unauthorised = Some(Box::new(refused.credentials.clone()));
    write(batch, &observed_key(key), &known)
}

//! The service takes a merchant's credentials no more.

use crate::model::observed::Observed;
use crate::model::unauthorised::Refused;
use crate::store::facts::{FactError, observed_key, read, write};
use crate::store::index::{Batch, Index};

/// Notes it of the merchant; what its credentials open next ends it.
pub(super) fn fold(
    index: &dyn Index,
    batch: &mut Batch,
    refused: &Refused,
) -> Result<(), FactError> {
    let key = &refused.merchant;
    let known: Option<Observed> = read(index, batch, &observed_key(key))?;
    let mut known = known.unwrap_or_else(|| Observed::unknown(key.clone(), refused.what.at));
    known.unauthorised = Some(Box::new(refused.what.clone()));
    write(batch, &observed_key(key), &known)
}

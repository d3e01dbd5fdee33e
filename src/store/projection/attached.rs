//! Folds a one-time token attached to a saved method. The token replaces an older one, and the
//! service's refusal of the older one does not apply to it.

use super::fold::FoldError;
use crate::effects::core::context::put;
use crate::model::operator::token_attachment::{ATTACHED, TokenAttachment};
use crate::model::state::observed::{FactSource, Observed};
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{observed_key, read, write};

/// Attaches the token to the method.
pub(crate) fn fold(
    index: &dyn Index,
    batch: &mut Batch,
    attachment: &TokenAttachment,
) -> Result<(), FoldError> {
    let key = observed_key(&attachment.key);
    let known: Option<Observed> = read(index, batch, &key)?;
    let unknown = || Observed::unknown(attachment.merchant.clone(), attachment.at);
    let mut known = known.unwrap_or_else(unknown);
    put(&mut known.facts, ATTACHED, attachment.fact());
    known.refusal = None;
    known.at = known.at.max(attachment.at);
    known.source = FactSource::Operator;
    Ok(write(batch, &key, &known)?)
}

//! A one-time token was brought for a saved method. It takes the place of an older one, and what the service said to
//! that one is no word on this one.

use super::FoldError;
use crate::effects::put;
use crate::model::attachment::{ATTACHED, Attachment};
use crate::model::observed::{Observed, Source};
use crate::store::facts::{observed_key, read, write};
use crate::store::index::{Batch, Index};

/// The method has a token.
pub(super) fn fold(
    index: &dyn Index,
    batch: &mut Batch,
    attachment: &Attachment,
) -> Result<(), FoldError> {
    let key = observed_key(&attachment.key);
    let known: Option<Observed> = read(index, batch, &key)?;
    let unknown = || Observed::unknown(attachment.merchant.clone(), attachment.at);
    let mut known = known.unwrap_or_else(unknown);
    put(&mut known.facts, ATTACHED, attachment.fact());
    known.refusal = None;
    known.at = known.at.max(attachment.at);
    known.source = Source::Operator;
    Ok(write(batch, &key, &known)?)
}

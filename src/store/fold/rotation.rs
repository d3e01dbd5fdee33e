//! Which addresses are good.

use crate::model::rotation::{Address, Rotated, Rotation};
use crate::store::facts::{FactError, read, rotation_key, write};
use crate::store::index::{Batch, Index};

/// Addresses are exchanged.
pub(super) fn fold(
    index: &dyn Index,
    batch: &mut Batch,
    rotated: &Rotated,
) -> Result<(), FactError> {
    for address in &rotated.addresses {
        let key = rotation_key(address);
        let known: Option<(Address, Rotation)> = read(index, batch, &key)?;
        let known = known.map(|(_, rotation)| rotation).unwrap_or_default();
        write(batch, &key, &(address, known.after(rotated.step, rotated.at)))?;
    }
    Ok(())
}

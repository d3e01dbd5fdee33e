//! XChaCha20-Poly1305: its nonce is long enough to be drawn at random for every message.

use chacha20poly1305::{
    Key, KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use zeroize::Zeroizing;

/// Seals `plain`, bound to `bound`; `None` only if it is too long for the cipher.
pub(crate) fn seal(
    key: &[u8; 32],
    nonce: &[u8; 24],
    plain: &[u8],
    bound: &[u8],
) -> Option<Vec<u8>> {
    let payload = Payload { msg: plain, aad: bound };
    XChaCha20Poly1305::new(&Key::from(*key)).encrypt(&XNonce::from(*nonce), payload).ok()
}

/// Opens bytes sealed under the same key, nonce and bound bytes; `None` for anything else.
pub(crate) fn open(
    key: &[u8; 32],
    nonce: &[u8; 24],
    sealed: &[u8],
    bound: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let payload = Payload { msg: sealed, aad: bound };
    let opened = XChaCha20Poly1305::new(&Key::from(*key)).decrypt(&XNonce::from(*nonce), payload);
    opened.ok().map(Zeroizing::new)
}

//! A partner webhook on its way to the engine.

/// A webhook of the partner interface as it arrived.
#[derive(Clone, PartialEq, Eq)]
pub struct IncomingWebhook {
    /// The generation of the address at which it arrived.
    pub generation: u32,
    /// The reference at the end of the path.
    pub reference: String,
    pub body: Vec<u8>,
}

impl std::fmt::Debug for IncomingWebhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Notice({} bytes)", self.body.len())
    }
}

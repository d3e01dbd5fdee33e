//! Plausible values of a kind's fields, from which `reckon new` writes a document.

/// The value of a field in a new document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Example {
    /// YAML, as it is written.
    Yaml(&'static str),
    /// The name of the merchant.
    Merchant,
    /// The name of a resource of this kind, of the same merchant.
    Resource(&'static str),
    /// A plan of `partner.plans`.
    Plan,
    /// A secret in an environment variable: this prefix and the name of the document.
    Variable(&'static str),
    /// A day in the near future.
    Day,
}

/// Fields of a new document with their values, by their paths below `spec`. All other fields are
/// written as comments.
pub type Examples = &'static [(&'static str, Example)];

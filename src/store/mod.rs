//! Truth on disk: the journal, its fold, and the vault.

//! Writes a realistic tree of documents and a `reckon.yaml` into a folder, the same for the same seed.
//!
//! `cargo run --release --example generate -- --out DIR --documents 10000 --kinds mixed`

use std::error::Error;
use std::path::PathBuf;

use clap::Parser;

#[path = "rig/random.rs"]
mod random;
#[path = "rig/settings.rs"]
mod settings;
#[path = "rig/tree.rs"]
#[expect(dead_code, reason = "the generator needs no checks of a tree")]
mod tree;

/// Writes a realistic tree of documents.
#[derive(Debug, Parser)]
struct Arguments {
    /// The folder; created if it is missing.
    #[arg(long)]
    out: PathBuf,
    /// Number of documents, merchants included.
    #[arg(long)]
    documents: usize,
    /// The same seed gives the same tree.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Which kinds of documents.
    #[arg(long, value_enum, default_value = "mixed")]
    kinds: tree::Kinds,
    /// Number of documents in a file.
    #[arg(long, default_value_t = 1)]
    per_file: usize,
    #[command(flatten)]
    settings: settings::Settings,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { out, documents, seed, kinds, per_file, settings } = Arguments::parse();
    settings::write(&out, &settings)?;
    let documents = tree::documents(kinds, documents, seed)?;
    tree::write(&out, documents.iter().enumerate(), per_file)?;
    Ok(())
}

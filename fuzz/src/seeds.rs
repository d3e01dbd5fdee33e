//! Writes the binary seeds into a folder, for `fuzz/run`.

use std::path::PathBuf;
use std::{env, fs};

use reckon_fuzz::targets::{journal_seed, vault_seed};

fn main() -> std::io::Result<()> {
    let corpus = env::args_os().nth(1).map_or_else(|| PathBuf::from("corpus"), PathBuf::from);
    for (target, seed) in [("journal_frames", journal_seed()), ("vault_frames", vault_seed())] {
        fs::create_dir_all(corpus.join(target))?;
        fs::write(corpus.join(target).join("few"), seed)?;
    }
    Ok(())
}

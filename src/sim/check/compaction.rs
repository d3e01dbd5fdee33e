//! Checks that a compaction changes no known fact, and that every sealed value opens as before.

use super::laws::Violation;
use crate::sim::machine::process::Machine;

/// Compacts copies of the disks and compares the states.
pub(crate) async fn check_compaction(machine: &Machine, found: &mut Vec<Violation>) {
    let mut wrong = |text: String| found.push(Violation::new("journal", text));
    match machine.compact_copies().await {
        Err(error) => wrong(format!("the state cannot be compacted: {error}")),
        Ok(Some([before, after])) => {
            if before.digest != after.digest {
                wrong("a compaction changed the known facts".to_owned());
            }
            for (value, opened) in &before.values {
                let opens = after.values.get(value).copied().unwrap_or("is not known");
                if opens != *opened {
                    wrong(format!(
                        "a value {opened} before a compaction, and {opens} after it: {value}"
                    ));
                }
            }
        }
        Ok(None) => {}
    }
}

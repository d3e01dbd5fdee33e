//! The files of `contrib/`: judged by the tools that read them, by the metrics of a real daemon, by a service manager
//! of the test's own, and, for pipelines, by a forge of the test's own. Upgrades, too: by an older version of the program.
//!
//! `.ci/run` installs the tools and names their folder in `RECKON_TOOLS`, and the older version in `RECKON_OLDER`.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failure here is a failed test"
)]

use std::process::ExitCode;

use libtest_mimic::{Arguments, run};
use tool::trial;

#[path = "../../examples/rig/connection.rs"]
mod connection;
#[path = "../../examples/rig/control.rs"]
mod control;
#[path = "../process/support/daemon_process.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod daemon_process;
mod forge;
mod judges;
mod metrics;
mod notify;
mod overlays;
mod pipeline;
#[path = "../process/server/stage.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod stage;
mod support;
#[path = "../browser/tool.rs"]
mod tool;
mod upgrade;

fn main() -> ExitCode {
    let trials = vec![
        trial("promtool_accepts_the_alerts_and_their_tests", judges::promtool),
        trial("systemd_accepts_the_unit", judges::systemd),
        trial("shellcheck_accepts_every_script", judges::shellcheck),
        trial("hadolint_accepts_the_image", judges::hadolint),
        trial("the_pipelines_keep_the_schemas_of_their_forges", judges::pipelines),
        trial("the_manifests_keep_the_schema_of_kubernetes", judges::kubernetes),
        trial("the_page_of_metrics_lists_what_a_daemon_shows", || {
            metrics::page_matches_scrape();
            Ok(())
        }),
        trial("alerts_and_dashboard_name_metrics_that_exist", || {
            metrics::names_exist();
            Ok(())
        }),
        trial("a_service_manager_is_told_of_start_life_and_end", || {
            notify::lifecycle();
            Ok(())
        }),
        trial("a_pull_request_gets_its_plan_and_is_applied", pipeline::from_request_to_applied),
        trial("overlays_go_from_a_request_to_a_paid_invoice", overlays::from_request_to_paid),
        upgrade::trial(),
        trial("a_long_plan_is_cut_and_problems_are_annotated", pipeline::cut_and_annotated),
    ];
    run(&Arguments::from_args(), trials).exit_code()
}

/// Returns the path of a file of this repository.
fn repository(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

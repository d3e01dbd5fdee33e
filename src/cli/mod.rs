//! The command line: reads the arguments, opens what a command needs, runs it and prints.
//!
//! `args` declares, `context` opens, `commands` decide and print, `daemon` runs, `remote` asks
//! another machine.

/// Arguments of every command, for clap. Nothing here runs.
pub mod args {
    pub mod documents;
    pub mod events;
    pub mod examples;
    pub mod gateway_actions;
    pub mod global;
    pub mod options;
    pub mod output;
    pub mod reading;
    pub mod replay;
    pub mod resources;
    pub mod sandbox;
    pub mod store;
    pub mod waiting;
}
/// Commands: one file or folder for each job of an operator.
pub mod commands {
    pub mod backup;
    pub mod documents;
    pub mod event_detail;
    pub mod events;
    pub mod gateway_actions;
    pub mod gateway_fields;
    pub mod get;
    pub mod holds;
    pub mod hook_repl;
    pub mod hook_trials;
    pub mod hooks;
    pub mod import;
    pub mod init;
    pub mod links;
    pub mod new;
    pub mod new_names;
    /// The daemon's page.
    pub mod page {
        pub mod link;
    }
    /// Plans, saved plans, comparisons, approvals, and their application.
    pub mod planning {
        pub mod apply;
        pub mod apply_options;
        pub mod apply_report;
        pub mod approve;
        pub mod plan;
    }
    pub mod resources;
    /// The emulated service as a command, and its scenarios.
    pub mod sandbox {
        pub mod command;
        pub mod env;
        pub mod scenario;
    }
    pub mod shell;
    /// Approvals by signed commits: the daemon examines the branch, a person signs.
    pub mod signed {
        pub mod approval;
        pub mod commit;
        pub mod history;
        pub mod judge;
        pub mod repository;
    }
    pub mod store;
    /// Commands that wait for the daemon.
    pub mod waiting {
        pub mod condition;
        pub mod reconcile;
        pub mod wait;
    }
    pub mod why;
}
/// Everything that a command opens: configuration, state, key, secrets, git, the daemon's session.
pub mod context {
    pub mod cache;
    /// Git: revisions, committed bytes and authors of lines. One place runs the program.
    pub mod git {
        pub mod committed;
        pub mod program;
        pub mod tracked;
        pub mod tree;
    }
    pub mod machine;
    pub mod open;
    pub mod parsed_files;
    pub mod parts;
    pub mod render_program;
    pub mod secrets;
    pub mod selection;
    pub mod sent_tree;
    pub mod session;
    pub mod spec_folders;
    pub mod state_handle;
}
/// `run`: the daemon, its listeners, scripts, notifications, tokens and reports to systemd.
pub mod daemon {
    pub mod listeners;
    pub mod local_queries;
    pub mod reload;
    pub mod report;
    pub mod run;
    pub mod scripts;
    pub mod service_manager;
    pub mod targets;
}
pub mod entry;
pub mod exit;
pub mod logging;
/// Outputs for programs, with their shapes.
pub mod outputs {
    pub mod register;
    pub mod shape;
    #[cfg(test)]
    mod tests;
}
pub mod print;
pub mod remote;

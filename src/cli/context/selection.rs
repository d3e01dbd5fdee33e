//! Scope of a command: the resources that paths and names choose, and the moments that people write
//! for `--since` and `--until`.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::base::clock::parse_moment;
use crate::base::wording::nearest;
use crate::cli::args::resources::ChoiceArgs;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::engine::protocol::unknown_names::UnknownName;
use crate::model::operator::{REASON_LENGTH_MAX, StepSelection};

pub(crate) fn scope(
    setup: &Context,
    paths: &[PathBuf],
    choice: &ChoiceArgs,
) -> CommandResult<StepSelection> {
    check_paths(setup, paths)?;
    let below = |path: &PathBuf| machine::below(&setup.root, path).to_string_lossy().into_owned();
    Ok(StepSelection {
        paths: paths.iter().map(below).collect(),
        target: choice.target.clone(),
        exclude: choice.exclude.clone(),
    })
}

/// Refuses path arguments that name nothing: a mistyped path would choose nothing and succeed.
pub(crate) fn check_paths(setup: &Context, paths: &[PathBuf]) -> CommandResult<()> {
    if !paths.is_empty() {
        let help = "choose resources by name: --target KIND/NAME";
        setup.specs.require_files("a choice of files", help)?;
    }
    for path in paths {
        if !path.exists() {
            let what = format!("no such file or folder: {}", path.display());
            let help = nearest_path(path);
            return Err(CommandFailure::input("reckon::choice::path", what).help(help));
        }
        if !setup.specs.contain(path) && !setup.specs.lie_below(path) {
            let what = format!("{} is not in the specs folder", path.display());
            let help = format!("name a file or folder in {}", setup.specs);
            return Err(CommandFailure::input("reckon::choice::path", what).help(help));
        }
    }
    Ok(())
}

/// Returns the help for a path that does not exist: the nearest name in its folder.
fn nearest_path(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let listing =
        std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let names: Vec<String> =
        listing.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let wanted = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match nearest(wanted, names.iter().map(String::as_str)) {
        Some(name) => format!("did you mean {}?", path.with_file_name(name).display()),
        None => "write the path relative to the working directory".to_owned(),
    }
}

pub(crate) fn unknown_names(unknown: &[UnknownName]) -> CommandFailure {
    let names: Vec<String> = unknown.iter().map(|one| one.key.short()).collect();
    let what = format!("no such resource: {}", names.join(" or "));
    let meant: Vec<&str> = unknown.iter().filter_map(|one| one.nearest.as_deref()).collect();
    let help = match meant.as_slice() {
        [] => "list all resources with `reckon get`".to_owned(),
        meant => format!("did you mean {}?", meant.join(" or ")),
    };
    CommandFailure::input("reckon::choice::unknown", what).help(help)
}

/// Parses a past moment: as it is written, the beginning of a date, or a duration before now.
pub(crate) fn parse_since(text: &str, now: DateTime<Utc>) -> CommandResult<DateTime<Utc>> {
    let wrong = |what: &str| {
        CommandFailure::input("reckon::since", format!("{text:?} is {what}"))
            .help("write a moment such as 2026-11-30T12:00:00Z, a date, or a time before now: 90m, 12h, 7d, 2w")
    };
    let moment = parse_moment(text, |time| now.checked_sub_signed(time));
    let moment = moment.ok_or_else(|| wrong("not a time"))?;
    if moment > now { Err(wrong("in the future")) } else { Ok(moment) }
}

/// Parses a future moment: as it is written, the beginning of a date, or a duration from now.
pub(crate) fn parse_end(text: &str, now: DateTime<Utc>) -> CommandResult<DateTime<Utc>> {
    let wrong = |what: &str| {
        CommandFailure::input("reckon::suspend::until", format!("{text:?} is {what}"))
            .help("write a moment such as 2026-11-30T12:00:00Z, a date, or a time from now: 90m, 12h, 3d, 2w")
    };
    let moment = parse_moment(text, |time| now.checked_add_signed(time));
    let moment = moment.ok_or_else(|| wrong("not a time"))?;
    if moment <= now { Err(wrong("in the past")) } else { Ok(moment) }
}

/// Returns a person's reason without the white space around it.
///
/// # Errors
/// It is empty or too long; the failure has this code and help.
pub(crate) fn parse_reason(text: &str, code: &'static str, help: &str) -> CommandResult<String> {
    let reason = text.trim().to_owned();
    if reason.is_empty() || reason.chars().count() > REASON_LENGTH_MAX {
        let what = format!("--reason is empty or too long: 1 to {REASON_LENGTH_MAX} characters");
        return Err(CommandFailure::input(code, what).help(help));
    }
    Ok(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_a_moment_a_date_or_a_time_before_now() {
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        let read = |text: &str| parse_since(text, now).map(|since| since.to_rfc3339()).ok();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("2026-11-20T10:00:00+02:00"), some("2026-11-20T08:00:00+00:00"));
        assert_eq!(read("2026-11-20"), some("2026-11-20T00:00:00+00:00"));
        assert_eq!(read("7d"), some("2026-11-14T12:00:00+00:00"));
        for wrong in ["", "yesterday", "-3d", "2026-11-22", "7"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_end_is_a_moment_a_date_or_a_time_from_now_and_never_past() {
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        let read = |text: &str| parse_end(text, now).map(|until| until.to_rfc3339()).ok();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("2026-11-30T10:00:00+02:00"), some("2026-11-30T08:00:00+00:00"));
        assert_eq!(read("2026-11-30"), some("2026-11-30T00:00:00+00:00"));
        assert_eq!(read("90m"), some("2026-11-21T13:30:00+00:00"));
        assert_eq!(read("2w"), some("2026-12-05T12:00:00+00:00"));
        for wrong in ["", "soon", "m", "-3d", "0h", "3y", "2026-11-21", "2026-11-21T12:00:00Z", "é"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}

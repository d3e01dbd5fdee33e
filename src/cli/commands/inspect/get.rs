//! `get` and `describe`: list resources and show their state.

use serde::Serialize;

use crate::base::id::Key;
use crate::base::wording::nearest;
use crate::cli::args::options::{GetArgs, ResourceArgs};
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::engine::protocol::queries::views::ResourceView;
use crate::engine::protocol::query::{ResourceQuery, ResourcesQuery};
use crate::kinds::register::KINDS;
use crate::render;

/// Output of `get -o json` (design.md part 4).
#[derive(Debug, Serialize)]
struct GetOutput {
    items: Vec<ResourceView>,
}

/// Runs `get`.
pub(crate) async fn run(
    setup: &Context,
    args: &GetArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let wanted = args.what.as_deref().map(parse_filter).transpose()?;
    let session = StateSession::open_view(setup).await?;
    let mut items = session.ask_once(setup, ResourcesQuery).await?;
    if let Some(wanted) = wanted {
        wanted.check(&items)?;
        items.retain(|item| wanted.matches(item));
    }
    let items = GetOutput { items };
    out.result(&items, || render::resources::table(&items.items, out.color))?;
    Ok(Exit::Done)
}

/// Argument of `get`.
enum GetFilter {
    Kind(&'static str),
    One(Key),
}

impl GetFilter {
    /// Refuses a name that no resource has.
    fn check(&self, items: &[ResourceView]) -> Result<(), CommandFailure> {
        match self {
            Self::One(key) if !items.iter().any(|item| self.matches(item)) => {
                Err(unknown(key, items))
            }
            Self::One(_) | Self::Kind(_) => Ok(()),
        }
    }

    /// Returns true for a resource that matches the argument.
    fn matches(&self, item: &ResourceView) -> bool {
        match self {
            Self::Kind(kind) => item.kind == *kind,
            Self::One(key) => item.is_of(key),
        }
    }
}

/// Returns the failure of an unknown name, with the nearest name of its kind.
fn unknown(key: &Key, items: &[ResourceView]) -> CommandFailure {
    let same_kind = items.iter().filter(|item| item.kind == key.kind.as_str());
    let keys = same_kind.filter_map(|item| {
        format!("{}/{}/{}", item.kind, item.namespace, item.name).parse::<Key>().ok()
    });
    let names: Vec<String> = keys.map(|key| key.short()).collect();
    let help = match nearest(&key.short(), names.iter().map(String::as_str)) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("list its resources: `reckon get {}`", key.kind),
    };
    let what = format!("no such resource: {}", key.short());
    CommandFailure::input("reckon::usage::unknown_resource", what).help(help)
}

/// Parses `KIND` or `KIND/NAME`; a kind in any case, singular or plural.
fn parse_filter(text: &str) -> Result<GetFilter, CommandFailure> {
    let (kind, rest) = text.split_once('/').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
    let plain = |name: &str| name.to_lowercase().trim_end_matches('s').replace(['-', '_'], "");
    let row = KINDS.iter().find(|row| plain(row.name) == plain(kind));
    let row = row.ok_or_else(|| {
        let names: Vec<&str> = KINDS.iter().map(|row| row.name).collect();
        CommandFailure::input("reckon::usage::kind", format!("there is no kind {kind:?}"))
            .help(format!("write one of {}", names.join(", ")))
    })?;
    let Some(rest) = rest else { return Ok(GetFilter::Kind(row.name)) };
    let key = format!("{}/{rest}", row.name).parse();
    let key = key.map_err(|error| CommandFailure::input("reckon::usage::key", error))?;
    Ok(GetFilter::One(key))
}

/// Parses `KIND/NAME` as `get` does.
pub(crate) fn parse_resource(text: &str) -> Result<Key, CommandFailure> {
    match parse_filter(text)? {
        GetFilter::One(key) => Ok(key),
        GetFilter::Kind(kind) => {
            let failure = CommandFailure::input(
                "reckon::usage::key",
                format!(
                    "{kind} is a kind, and one resource is \
                    needed"
                ),
            );
            Err(failure.help(format!("write {kind}/NAME or {kind}/NAMESPACE/NAME")))
        }
    }
}

/// Runs `describe`.
pub(crate) async fn describe(
    setup: &Context,
    args: &ResourceArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let session = StateSession::open_view(setup).await?;
    let found = session.ask_once(setup, ResourceQuery(args.key.clone())).await?;
    let Some(found) = found else {
        let key = args.key.short();
        return Err(CommandFailure::input(
            "reckon::usage::unknown_resource",
            format!("no such resource: {key}"),
        )
        .help("list all resources with `reckon get`"));
    };
    out.result(&found, || render::resources::describe(&found, out.color))?;
    Ok(Exit::Done)
}

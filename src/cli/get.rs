//! `get` and `describe`: list resources and show their state.

use serde::Serialize;

use super::args::{GetArgs, OneArgs};
use super::exit::{Exit, Failure};
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use crate::base::id::Key;
use crate::base::nearest::nearest;
use crate::engine::{Question, Reply, ResourceView};
use crate::kinds::register::KINDS;
use crate::render;

/// Output of `get -o json` (design.md part 4).
#[derive(Debug, Serialize)]
struct Items {
    items: Vec<ResourceView>,
}

/// Runs `get`.
pub(super) async fn run(setup: &Setup, args: &GetArgs, out: Out) -> Result<Exit, Failure> {
    let wanted = args.what.as_deref().map(wanted).transpose()?;
    let session = Session::look(setup).await?;
    let reply = session.ask(Question::Resources).await;
    let Reply::Resources(mut items) = session.end(setup, reply).await? else {
        return Err(Failure::bug("resources were not answered by resources"));
    };
    if let Some(wanted) = wanted {
        wanted.check(&items)?;
        items.retain(|item| wanted.chooses(item));
    }
    let items = Items { items };
    out.result(&items, || render::resources::table(&items.items, out.color))?;
    Ok(Exit::Done)
}

/// Argument of `get`.
enum Wanted {
    Kind(&'static str),
    One(Key),
}

impl Wanted {
    /// Refuses a name that no resource has.
    fn check(&self, items: &[ResourceView]) -> Result<(), Failure> {
        match self {
            Self::One(key) if !items.iter().any(|item| self.chooses(item)) => {
                Err(unknown(key, items))
            }
            Self::One(_) | Self::Kind(_) => Ok(()),
        }
    }

    /// Returns true for a resource that matches the argument.
    fn chooses(&self, item: &ResourceView) -> bool {
        match self {
            Self::Kind(kind) => item.kind == *kind,
            Self::One(key) => item.is_of(key),
        }
    }
}

/// Returns the failure of an unknown name, with the nearest name of its kind.
fn unknown(key: &Key, items: &[ResourceView]) -> Failure {
    let same_kind = items.iter().filter(|item| item.kind == key.kind.as_str());
    let keys = same_kind.filter_map(|item| {
        format!("{}/{}/{}", item.kind, item.namespace, item.name).parse::<Key>().ok()
    });
    let names: Vec<String> = keys.map(|key| key.short()).collect();
    let help = match nearest(&key.short(), names.iter().map(String::as_str)) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("list them: reckon get {}", key.kind),
    };
    let what = format!("no such resource: {}", key.short());
    Failure::input("reckon::usage::unknown_resource", what).help(help)
}

/// Parses `KIND` or `KIND/NAME`; a kind in any case, singular or plural.
fn wanted(text: &str) -> Result<Wanted, Failure> {
    let (kind, rest) = text.split_once('/').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
    let plain = |name: &str| name.to_lowercase().trim_end_matches('s').replace(['-', '_'], "");
    let row = KINDS.iter().find(|row| plain(row.name) == plain(kind));
    let row = row.ok_or_else(|| {
        let names: Vec<&str> = KINDS.iter().map(|row| row.name).collect();
        Failure::input("reckon::usage::kind", format!("there is no kind {kind:?}"))
            .help(format!("the kinds are {}", names.join(", ")))
    })?;
    let Some(rest) = rest else { return Ok(Wanted::Kind(row.name)) };
    let key = format!("{}/{rest}", row.name).parse();
    let key = key.map_err(|error| Failure::input("reckon::usage::key", error))?;
    Ok(Wanted::One(key))
}

/// Parses `KIND/NAME` as `get` does.
pub(super) fn one(text: &str) -> Result<Key, Failure> {
    match wanted(text)? {
        Wanted::One(key) => Ok(key),
        Wanted::Kind(kind) => {
            let failure = Failure::input("reckon::usage::key", format!("{kind} is a whole kind"));
            Err(failure.help(format!("name one resource: {kind}/NAME or {kind}/NAMESPACE/NAME")))
        }
    }
}

/// Runs `describe`.
pub(super) async fn describe(setup: &Setup, args: &OneArgs, out: Out) -> Result<Exit, Failure> {
    let session = Session::look(setup).await?;
    let reply = session.ask(Question::Resource(args.key.clone())).await;
    let Reply::Resource(found) = session.end(setup, reply).await? else {
        return Err(Failure::bug("a resource was not answered by one"));
    };
    let Some(found) = found else {
        let key = args.key.short();
        return Err(Failure::input(
            "reckon::usage::unknown_resource",
            format!("there is no {key}"),
        )
        .help("`reckon get` lists every resource"));
    };
    out.result(&found, || render::resources::describe(&found, out.color))?;
    Ok(Exit::Done)
}

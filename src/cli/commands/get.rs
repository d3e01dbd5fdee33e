//! `get`: lists resources, and with `--watch` each one that changes. Other commands parse their
//! `KIND/NAME` here.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::id::{Key, Kind};
use crate::base::wording;
use crate::cli::args::output::{ListForm, Output, OutputForm};
use crate::cli::args::reading::GetArgs;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::selection::unknown_names;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::Printer;
use crate::engine::protocol::query::ResourcesQuery;
use crate::engine::protocol::resources::{LabelTerm, ResourceFilter, ResourceList};
use crate::engine::protocol::views::ResourceView;
use crate::kinds::register::KINDS;
use crate::model::effect::is_action;
use crate::model::state::health::Condition;
use crate::render;
use crate::render::resource::resource_list;

/// Interval of `--watch`.
const WATCH_EVERY: Duration = Duration::from_secs(1);

pub(crate) async fn run(setup: &Context, args: &GetArgs, form: OutputForm) -> CommandResult {
    let filter = filter(args)?;
    if args.watch && form == OutputForm::List(ListForm::Csv) {
        let what = "--watch prints changes, and a CSV table has none";
        return Err(CommandFailure::input("reckon::usage::output", what)
            .help("leave out --watch, or use -o json: one object a line"));
    }
    let list = ask(setup, &filter).await?;
    if args.watch {
        return watch(setup, &filter, list, form).await;
    }
    print(&list, setup.out, form).map(|()| Exit::Done)
}

fn filter(args: &GetArgs) -> CommandResult<ResourceFilter> {
    let labels = args.labels.as_deref().map(LabelTerm::parse_list).transpose();
    let labels = labels.map_err(|error| CommandFailure::input("reckon::usage::labels", error))?;
    let merchant = args.merchant.as_deref().map(|name| parse_resource(&format!("Merchant/{name}")));
    let mut filter = ResourceFilter {
        namespace: args.namespace.clone(),
        merchant: merchant.transpose()?,
        labels: labels.unwrap_or_default(),
        not_ready: args.not_ready,
        ..ResourceFilter::default()
    };
    match args.what.as_deref().map(parse_filter).transpose()? {
        None => {}
        Some(GetFilter::Kind(kind)) => filter.kind = Some(Kind::new(kind)),
        Some(GetFilter::One(key)) => filter.key = Some(key),
    }
    Ok(filter)
}

async fn ask(setup: &Context, filter: &ResourceFilter) -> CommandResult<ResourceList> {
    let found = setup.query(ResourcesQuery(filter.clone())).await?;
    found.map_err(|unknown| CommandFailure {
        code: "reckon::usage::unknown_resource",
        ..unknown_names(&unknown)
    })
}

/// Returns the failure for a resource that is not known, with the nearest name.
pub(crate) async fn unknown_resource(setup: &Context, key: &Key) -> CommandFailure {
    let filter = ResourceFilter { key: Some(key.clone()), ..ResourceFilter::default() };
    match ask(setup, &filter).await {
        Err(failure) => failure,
        // The resource came meanwhile.
        Ok(_) => CommandFailure::input("reckon::usage::unknown_resource", key.short())
            .help("repeat the command"),
    }
}

fn print(list: &ResourceList, out: Printer, form: OutputForm) -> CommandResult<()> {
    let table = |is_wide| resource_list::table(list, out.screen, is_wide);
    match form {
        OutputForm::Common(_) | OutputForm::Report(_) => out.result(list, || table(false)),
        OutputForm::List(ListForm::Wide) => out.text(&table(true)),
        OutputForm::List(ListForm::Name) => out.text(&resource_list::names(list)),
        OutputForm::List(ListForm::Csv) => {
            out.text(&resource_list::csv(list).map_err(CommandFailure::bug)?)
        }
    }
}

/// Prints the list, then the resources that changed since the last look, until a signal ends it.
async fn watch(
    setup: &Context,
    filter: &ResourceFilter,
    mut list: ResourceList,
    form: OutputForm,
) -> CommandResult {
    let is_data = matches!(setup.out.form, Output::Json | Output::Yaml);
    let mut seen = BTreeMap::new();
    let mut is_first = true;
    loop {
        let now = by_name(&list);
        let gone: Vec<&String> = seen.keys().filter(|name| !now.contains_key(*name)).collect();
        list.items.retain(|item| seen.get(&resource_list::name(item)) != Some(&comparable(item)));
        if is_first && !is_data {
            print(&list, setup.out, form)?;
        } else {
            print_changes(&list, &gone, setup.out, form)?;
        }
        (seen, is_first) = (now, false);
        tokio::select! {
            exit = machine::stop() => return Ok(exit),
            () = tokio::time::sleep(WATCH_EVERY) => {}
        }
        list = ask(setup, filter).await?;
    }
}

fn by_name(list: &ResourceList) -> BTreeMap<String, ResourceView> {
    list.items.iter().map(|item| (resource_list::name(item), comparable(item))).collect()
}

/// Returns a resource without the times of its readings, and without messages, which contain them:
/// these change though the resource does not.
fn comparable(item: &ResourceView) -> ResourceView {
    let conditions = item.conditions.iter();
    let quiet = |one: &Condition| Condition { message: String::new(), ..one.clone() };
    ResourceView {
        last_known: None,
        verified_at: None,
        message: String::new(),
        conditions: conditions.map(quiet).collect(),
        ..item.clone()
    }
}

/// A line of `get --watch -o json`: a resource that the list no longer contains.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GoneResource<'a> {
    gone: &'a str,
}

fn print_changes(
    list: &ResourceList,
    gone: &[&String],
    out: Printer,
    form: OutputForm,
) -> CommandResult<()> {
    if matches!(out.form, Output::Json | Output::Yaml) {
        for item in &list.items {
            out.text(&render::json_line(item))?;
        }
        return gone
            .iter()
            .try_for_each(|name| out.text(&render::json_line(&GoneResource { gone: name })));
    }
    let changed = if form == OutputForm::List(ListForm::Name) {
        resource_list::names(list)
    } else {
        resource_list::changed_lines(list, out.screen)
    };
    let gone = gone.iter().map(|name| format!("{name}  no longer listed"));
    let text = format!("{changed}{}", gone.collect::<Vec<_>>().join("\n"));
    if text.is_empty() { Ok(()) } else { out.text(&text) }
}

enum GetFilter {
    Kind(&'static str),
    One(Key),
}

/// Parses `KIND` or `KIND/NAME`; a kind in any case, singular or plural.
fn parse_filter(text: &str) -> CommandResult<GetFilter> {
    let (kind, rest) = text.split_once('/').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
    let plain = |name: &str| name.to_lowercase().trim_end_matches('s').replace(['-', '_'], "");
    let row = KINDS.iter().find(|row| plain(row.name) == plain(kind));
    let row = row.ok_or_else(|| {
        CommandFailure::input("reckon::usage::kind", format!("there is no kind {kind:?}"))
            .help(wording::suggestion_help(kind, KINDS.iter().map(|row| row.name)))
    })?;
    let Some(rest) = rest else { return Ok(GetFilter::Kind(row.name)) };
    let key = format!("{}/{rest}", row.name).parse();
    let key = key.map_err(|error| CommandFailure::input("reckon::usage::key", error))?;
    Ok(GetFilter::One(key))
}

/// Parses `KIND/NAME` as `get` does.
pub(crate) fn parse_resource(text: &str) -> CommandResult<Key> {
    match parse_filter(text)? {
        GetFilter::One(key) => Ok(key),
        GetFilter::Kind(kind) => {
            let what = format!("{kind} is a kind, and one resource is needed");
            Err(CommandFailure::input("reckon::usage::key", what)
                .help(format!("write {kind}/NAME or {kind}/NAMESPACE/NAME")))
        }
    }
}

/// Parses `KIND/NAME` as `get` does, and `Action/NAME` as `events failed` writes it.
pub(crate) fn parse_resource_or_action(text: &str) -> CommandResult<Key> {
    text.parse::<Key>().ok().filter(is_action).map_or_else(|| parse_resource(text), Ok)
}

//! `reconcile`: has the daemon read the tree and reconcile now, and reports its effects.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::id::Key;
use crate::cli::args::waiting::ReconcileArgs;
use crate::cli::commands::get::parse_resource;
use crate::cli::context::open::Context;
use crate::cli::context::selection::unknown_names;
use crate::cli::context::session::daemon;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::remote::Daemon;
use crate::control::requests::Retry;
use crate::engine::protocol::actions::EffectReport;
use crate::engine::protocol::query::{EffectsQuery, OverviewQuery, ResourceQuery, SettleQuery};
use crate::engine::protocol::views::{Overview, ResourceView};
use crate::model::state::health::{ConditionStatus, ConditionType};
use crate::render::waiting;

/// Output of `reconcile -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReconcileOutput {
    /// The effects since the command began, oldest first.
    effects: Vec<EffectReport>,
    /// The named resource afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<ResourceView>,
    status: Overview,
}

pub(crate) async fn run(setup: &Context, args: &ReconcileArgs) -> CommandResult {
    let key = args.what.as_deref().map(parse_resource).transpose()?;
    let client = daemon(setup).await?.ok_or_else(|| no_daemon(setup))?;
    let before = client.send(OverviewQuery).await?.position;
    let resource = match &key {
        Some(key) => Some(retry(&client, key).await?),
        None => None,
    };
    setup.out.log("the daemon reconciles; waiting for it");
    client.send(SettleQuery).await?;
    let effects = client.send(EffectsQuery(before)).await?;
    let resource = match resource {
        Some(key) => client.send(ResourceQuery(key)).await?,
        None => None,
    };
    let status = client.send(OverviewQuery).await?;
    let output = ReconcileOutput { effects, resource, status };
    setup.out.result(&output, || {
        waiting::reconciled(
            &output.effects,
            output.resource.as_ref(),
            &output.status,
            setup.out.screen,
        )
    })?;
    Ok(exit_of(&output))
}

/// Ends the delay after a failure of this resource.
async fn retry(client: &Daemon, key: &Key) -> CommandResult<Key> {
    let found = client.send(Retry(key.clone())).await?;
    found.map_err(|unknown| CommandFailure {
        code: "reckon::usage::unknown_resource",
        ..unknown_names(&[unknown])
    })?;
    Ok(key.clone())
}

fn no_daemon(setup: &Context) -> CommandFailure {
    let what = format!("no daemon holds the state {}", setup.state.display());
    CommandFailure::environment("reckon::reconcile::no_daemon", what).help(
        "start one with `reckon run`, name one with --server URL --token-file FILE, or change \
        the service now with `reckon apply`",
    )
}

/// Returns 3 if the named resource, or any where none is named, needs attention.
fn exit_of(output: &ReconcileOutput) -> Exit {
    let attention = |view: &ResourceView| {
        let mut conditions = view.conditions.iter();
        conditions.any(|one| {
            one.kind == ConditionType::NeedsAttention && one.status == ConditionStatus::True
        })
    };
    let needs = output.resource.as_ref().map_or(output.status.stuck > 0, attention);
    if needs { Exit::NeedsAttention } else { Exit::Done }
}

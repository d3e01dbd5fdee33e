//! `init --empty-remote`: declares, once a person agreed, that unknown objects are not ours.

use serde_json::json;

use super::args::{Cli, Init};
use super::exit::{Exit, Failure};
use super::host;
use super::out::Out;
use super::server::local;
use super::setup::{Open, Setup};
use crate::base::clock::{Clock, SystemClock};
use crate::engine::{Disowning, disowning};
use crate::model::record::Record;
use crate::render;
use crate::store::open::OpenError;
use crate::store::writer::Commit;

/// Lists the objects that would be disowned, asks, and records the declaration.
pub(super) async fn run(cli: &Cli, args: &Init, out: Out) -> Result<Exit, Failure> {
    let setup = Setup::load(cli)?;
    if setup.server.is_some() {
        return Err(local("`init --empty-remote`", "it is a word about the state itself"));
    }
    let open = setup.open_bound(None).await?;
    let asked = asked(&open, args.yes, out);
    let agreed = asked.as_ref().is_ok_and(|(_, agreed)| *agreed);
    let written = if agreed { declare(&open).await } else { Ok(()) };
    open.state.close().await?;
    written?;
    let (disowned, agreed) = asked?;
    out.note(if agreed { DECLARED } else { "nothing was written" });
    if agreed {
        out.result(&json!({ "disowned": disowned }), String::new)?;
    }
    Ok(Exit::Done)
}

const DECLARED: &str =
    "written down: objects on the service with marks that this state does not know are not ours";

/// Shows the objects that would be disowned and asks; without a terminal `--yes` is required.
fn asked(open: &Open, yes: bool, out: Out) -> Result<(Disowning, bool), Failure> {
    let unknown = disowning(&open.state.facts).map_err(OpenError::from)?;
    out.note(&render::adoption::disowning(&unknown));
    if yes {
        return Ok((unknown, true));
    }
    if !out.interactive {
        let failure =
            Failure::input("reckon::init::unconfirmed", "disowning objects needs an agreement");
        return Err(failure.help(
            "take back what is yours (`reckon import KIND/NAME ID`, `reckon import --all`); if all of this is really not \
             yours, say `reckon init --empty-remote --yes`",
        ));
    }
    let agreed = out.confirm("Disown all of it, for good?")?;
    Ok((unknown, agreed))
}

async fn declare(open: &Open) -> Result<(), Failure> {
    let record = Record::EmptyRemote { at: SystemClock.now(), actor: host::actor() };
    open.state.writer.append(Commit::of(vec![record])).await.map_err(OpenError::from)?;
    Ok(())
}

//! `link`: the portal link of an invoice, made when it is asked for and shown once, on standard output.

use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use super::args::OneArgs;
use super::exit::{Exit, Failure};
use super::out::Out;
use super::session::{Own, Session};
use super::setup::Setup;
use crate::base::id::Key;
use crate::control::Request;
use crate::control::socket::SocketClient;
use crate::engine::{Event, Page, Reply, Until};
use crate::kinds::Shape;
use crate::kinds::invoice::Invoice;

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &OneArgs, out: Out) -> Result<Exit, Failure> {
    if args.key.kind.as_str() != Invoice::NAME {
        let what = format!("{} has no portal link", args.key.short());
        return Err(Failure::input("reckon::link::kind", what).help("write Invoice/NAME"));
    }
    let link = match Session::open(setup).await? {
        Session::Daemon(client) => beside(&client, &args.key).await?,
        Session::Own(own) => alone(setup, &args.key, *own).await?,
    };
    let Some(link) = link else {
        let what = format!("there is no portal link of {} now", args.key.short());
        return Err(Failure::input("reckon::link::none", what).help(
            "there is one of an invoice that exists on the service and is not under way: \
             `reckon get` shows how it stands",
        ));
    };
    out.result(&json!({"link": link.expose()}), || link.expose().to_owned())?;
    Ok(Exit::Done)
}

/// The daemon has it made.
async fn beside(client: &SocketClient, key: &Key) -> Result<Page, Failure> {
    match client.request(&Request::Link(key.clone())).await? {
        Reply::Link(link) => Ok(link.map(|link| link.0)),
        Reply::Overview(_)
        | Reply::Resources(_)
        | Reply::Resource(_)
        | Reply::Intents(_)
        | Reply::Plan(_)
        | Reply::Approvals(_)
        | Reply::Approved(_)
        | Reply::Settled => Err(Failure::bug("a link was not answered by one")),
    }
}

/// This process has it made, and does nothing else.
async fn alone(setup: &Setup, key: &Key, mut own: Own) -> Result<Page, Failure> {
    setup.bind(&own.open, None).await?;
    own.engine.choose([].into());
    let (sender, events) = mpsc::channel(2);
    let (page, answer) = oneshot::channel();
    let asked = async {
        // An engine that ended by itself says why; then nobody hears this.
        drop(sender.send(Event::Visit(key.clone(), page)).await);
        let answer = answer.await;
        drop(sender.send(Event::Stop).await);
        answer.ok().flatten()
    };
    let (ended, page) = tokio::join!(own.engine.run(events, Until::Stopped), asked);
    let closed = own.close(setup).await;
    ended?;
    closed?;
    Ok(page)
}

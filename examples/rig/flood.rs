//! A trial of hooks: it makes payments at the service, posts their events to a daemon, and kills the daemon meanwhile.
//! At the end, the service's own books show the actions of the daemon's hooks.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fmt, fs};

use http::Method;
use serde_json::{Value, json};

use crate::connection::Failed;
use crate::posts::{Post, Posts};
use crate::random::Random;
use crate::stand::{Stand, text};
use crate::till::Till;
use crate::tree::{Kinds, merchant_name};
use crate::{control, tree};

#[path = "flood_books.rs"]
mod books;
#[path = "daemon_address.rs"]
mod daemon_address;
#[path = "flood_daemon.rs"]
mod flood_daemon;

use flood_daemon::Killer;

/// Payments between two reads of the events.
const BATCH: usize = 2_000;
/// One payment in this number has the reference that a hook answers.
const ACT_EVERY: u64 = 50;
/// Posts after each batch, in hundredths of the waiting ones, so that events overtake one another.
const NOW_HUNDREDTHS: usize = 70;
const GLANCE: Duration = Duration::from_millis(500);
/// Longest time until everything is processed after the last post.
const REST_MAX: Duration = Duration::from_mins(30);
/// Constants that separate the random streams of one seed.
const STREAMS: [u64; 3] = [0x0EE7_0001, 0x0EE7_0002, 0x0EE7_0003];
/// The references of payments: those that a hook answers, others, and the last one, which requests the count.
const ACT: &str = "act";
const PLAIN: &str = "plain";
const COUNT: &str = "count";
/// The reference of the hook's answer to the last payment.
const COUNTED: &str = "counted";

/// The parameters of a trial.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    pub(crate) binary: PathBuf,
    /// An empty folder.
    pub(crate) folder: PathBuf,
    pub(crate) events: usize,
    pub(crate) forged: usize,
    pub(crate) kills: usize,
    pub(crate) seed: u64,
}

/// The result of a trial.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Events of the merchant, as the service counts them.
    events: usize,
    taken: usize,
    repeated: usize,
    lost: usize,
    forged: usize,
    killed: usize,
    /// Daemons that ended before their kill.
    ended: usize,
    /// Events that the daemon verified.
    verified: usize,
    /// Forged events that the daemon knows as forged, or has not verified yet.
    made_up: usize,
    /// The hook's own count.
    counted: u64,
    /// Requested actions that were done once.
    once: usize,
    /// Deviations, one line each.
    wrong: Vec<String>,
}

impl Report {
    /// Returns whether the trial went well.
    pub(crate) fn is_good(&self) -> bool {
        self.wrong.is_empty() && self.ended == 0 && self.once > 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { events, taken, repeated, lost, forged, killed, ended, .. } = self;
        writeln!(
            f,
            "{events} events, {lost} of them never posted; {taken} posts taken, {forged} of them forged"
        )?;
        writeln!(
            f,
            "{repeated} posts had to be repeated; {killed} daemons killed, {ended} ended by themselves"
        )?;
        let Self { verified, made_up, counted, once, wrong, .. } = self;
        writeln!(
            f,
            "{verified} events processed, {counted} times the hook ran, {once} payments by hooks made once"
        )?;
        writeln!(f, "{made_up} forged events kept and not acted on; {} WRONG", wrong.len())?;
        wrong.iter().take(20).try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Runs a trial; deviations are in the report.
///
/// # Errors
///
/// The trial itself cannot continue.
pub(crate) async fn run(trial: &Trial) -> Result<Report, Failed> {
    let stand = Stand::start(&trial.binary, &trial.folder, "public", 2).await?;
    let mut scene = Scene::set(&stand, trial).await?;
    let [_, _, of_kills] = STREAMS.map(|stream| trial.seed ^ stream);
    let mut killer = Killer::start(&stand, scene.listen, trial.kills, of_kills).await?;
    let (posts, kills) = tokio::join!(scene.flood(trial), killer.kill_all());
    posts.and(kills)?;
    let mut report = Report::default();
    scene.count(&mut report).await?;
    scene.judge(&mut report).await?;
    (report.killed, report.ended) = (killer.killed, killer.ended);
    Ok(report)
}

/// The service, the merchants, and the posts.
struct Scene<'a> {
    stand: &'a Stand,
    listen: SocketAddr,
    till: Till,
    posts: Posts,
    random: Random,
    /// The daemon's path for the merchant's events.
    path: String,
    /// The daemon's path for the partner's events, where a reference follows.
    partner_path: String,
    /// Events that were read at the service.
    seen: BTreeSet<String>,
    /// Forged posts, and the number of them that name an event.
    forged: usize,
    made_up: usize,
}

impl<'a> Scene<'a> {
    async fn set(stand: &'a Stand, trial: &Trial) -> Result<Self, Failed> {
        let merchants = tree::documents(Kinds::Mixed, 4_000, trial.seed)?;
        let listen = daemon_address::free()?;
        stand.settle_config(stand.sandbox.address, &listen.to_string(), ["10s", "2s"])?;
        stand.write(&merchants, |_, document| document.kind == "Merchant")?;
        stand.run(&["apply", "--yes"], &[0])?;
        let till = Till::of(stand, &merchant_name(0)).await?;
        let card = till.save_card().await?;
        fs::create_dir_all(trial.folder.join("scripts"))?;
        fs::write(trial.folder.join("scripts/flood.rhai"), script(&card))?;
        let [path, partner_path] = daemon_address::paths(stand, &merchant_name(0))?;
        let [of_posts, of_payments, _] = STREAMS.map(|stream| trial.seed ^ stream);
        let (posts, random) = (Posts::new(of_posts), Random::new(of_payments));
        let seen = BTreeSet::new();
        let mut scene = Self {
            stand,
            listen,
            till,
            posts,
            random,
            path,
            partner_path,
            seen,
            forged: 0,
            made_up: 0,
        };
        scene.forge(trial.forged).await?;
        Ok(scene)
    }

    /// Adds posts that must cause no action: unknown ids, ids of another merchant's events, another merchant's codes.
    async fn forge(&mut self, count: usize) -> Result<(), Failed> {
        let other = Till::of(self.stand, &merchant_name(1)).await?;
        let third = count / 3;
        other.charge(&vec![PLAIN.to_owned(); third.max(1)]).await?;
        let theirs = events(self.stand, &merchant_name(1)).await?;
        let mut ids: Vec<String> = theirs.keys().take(third).cloned().collect();
        let unknown = count.saturating_sub(third).saturating_sub(ids.len());
        ids.extend((0..unknown).map(|at| format!("forged{at:016}")));
        (self.forged, self.made_up) = (ids.len().saturating_add(third), ids.len());
        for id in ids {
            let data = json!({"id": "x", "reference": ACT, "amount": 1250, "currency": "USD"});
            let event = json!({"id": id, "type": "transaction.authorized", "data": data});
            self.posts.forged(Post { path: self.path.clone(), body: event.to_string() });
        }
        for at in 0..third {
            self.forge_code(at).await?;
        }
        Ok(())
    }

    /// Posts to the partner's path the approval of a merchant that never applied, with a code that works.
    async fn forge_code(&mut self, at: usize) -> Result<(), Failed> {
        let asked = json!({"merchant": "stranger"});
        let path = "/_sandbox/credentials";
        let service = self.stand.sandbox.address;
        let answer = control::json(service, Method::POST, path, Some(&asked)).await?;
        let code = text(&answer, "authorization_code")?;
        let event = json!({"type": "merchant.provisioned", "data": {"auth_code": code}});
        let body = json!({ "events": [event] }).to_string();
        self.posts.forged(Post { path: format!("{}nobody-{at}", self.partner_path), body });
        Ok(())
    }

    /// Makes payments, and posts their events in another order.
    async fn flood(&mut self, trial: &Trial) -> Result<(), Failed> {
        while self.seen.len() < trial.events {
            let reference = |acts| if acts { ACT } else { PLAIN }.to_owned();
            let batch: Vec<_> =
                (0..BATCH).map(|_| reference(self.random.below(ACT_EVERY) == 0)).collect();
            self.till.charge(&batch).await?;
            self.post_new().await?;
            self.posts.make(self.listen, NOW_HUNDREDTHS).await?;
            eprintln!("{} events", self.seen.len());
        }
        self.posts.make(self.listen, 100).await
    }

    /// Waits until the daemon has verified all events of the service, and all requested actions are done.
    async fn rest(&self, report: &mut Report) -> Result<(), Failed> {
        let started = Instant::now();
        loop {
            tokio::time::sleep(GLANCE).await;
            let now = books::daemon(self.listen, &merchant_name(0)).await?;
            if now.is_at_rest()
                && now.verified >= events(self.stand, &merchant_name(0)).await?.len()
            {
                report.verified = now.verified;
                report.made_up = now.made_up;
                return Ok(());
            }
            if started.elapsed() > REST_MAX {
                return Err(format!("the daemon does not settle: {now:?}").into());
            }
        }
    }

    /// Makes one more payment, to which the hook answers with the number of its runs.
    async fn count(&mut self, report: &mut Report) -> Result<(), Failed> {
        self.rest(report).await?;
        // The hook also counts events of the other merchant.
        let theirs = books::daemon(self.listen, &merchant_name(1)).await?;
        let before = report.verified.saturating_add(theirs.processed());
        self.till.charge(&[COUNT.to_owned()]).await?;
        self.post_new().await?;
        self.posts.make(self.listen, 100).await?;
        self.rest(report).await?;
        let payments = books::payments(self.stand, &merchant_name(0)).await?;
        report.counted = payments.get(COUNTED).and_then(|paid| paid.first().copied()).unwrap_or(0);
        if report.counted != u64::try_from(before)? {
            let counted = report.counted;
            report
                .wrong
                .push(format!("{before} events were processed, and the hook ran {counted} times"));
        }
        Ok(())
    }

    /// Compares the service's payments with those that its events request.
    async fn judge(&self, report: &mut Report) -> Result<(), Failed> {
        let all = events(self.stand, &merchant_name(0)).await?;
        report.events = all.len();
        (report.taken, report.repeated) = (self.posts.taken, self.posts.repeated);
        (report.lost, report.forged) = (self.posts.lost, self.forged);
        if report.verified != all.len() {
            let verified = report.verified;
            report.wrong.push(format!(
                "{verified} events were processed, and the service has {}",
                all.len()
            ));
        }
        if report.made_up != self.made_up {
            let wanted = self.made_up;
            report
                .wrong
                .push(format!("{} events are known as forged, not {wanted}", report.made_up));
        }
        let payments = books::payments(self.stand, &merchant_name(0)).await?;
        let (once, mut wrong) = books::compare(&all, &payments);
        report.once = once;
        report.wrong.append(&mut wrong);
        let theirs = books::payments(self.stand, &merchant_name(1)).await?;
        let of_hooks = theirs.keys().filter(|reference| reference.starts_with(books::HOOK));
        report.wrong.extend(of_hooks.map(|reference| format!("the other merchant: {reference}")));
        report.wrong.extend(books::strangers(self.listen).await?);
        Ok(())
    }

    /// Adds posts for the events since the last call.
    async fn post_new(&mut self) -> Result<(), Failed> {
        for (id, body) in events(self.stand, &merchant_name(0)).await? {
            if self.seen.insert(id) {
                self.posts.event(&Post { path: self.path.clone(), body: body.to_string() });
            }
        }
        Ok(())
    }
}

/// Returns the script. It counts every event but those of the last payment and of its answer, and pays once for each
/// event that requests it.
fn script(card: &str) -> String {
    let hook = books::HOOK;
    format!(
        r#"fn on_transaction_authorized(event) {{
    counted(event);
    let reference = event.data.get("reference") ?? "";
    if reference == "{ACT}" {{
        charge("{card}", money(100, "USD"), #{{ name: "act", reference: `{hook} ${{event.id}}` }});
    }}
    if reference == "{COUNT}" {{
        let count = kv_get("count") ?? 0;
        charge("{card}", money(count, "USD"), #{{ name: "count", reference: "{COUNTED}" }});
    }}
}}

fn on_event(event) {{
    counted(event);
}}

fn counted(event) {{
    let reference = event.data.get("reference") ?? "";
    if !reference.starts_with("{COUNT}") {{
        kv_set("count", (kv_get("count") ?? 0) + 1);
    }}
}}
"#
    )
}

/// Returns the events of a merchant by their ids.
async fn events(stand: &Stand, merchant: &str) -> Result<BTreeMap<String, Value>, Failed> {
    let path = "/_sandbox/objects/events";
    let lines = control::ask(stand.sandbox.address, Method::GET, path, None).await?;
    let mut events = BTreeMap::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let event: Value = serde_json::from_str(line)?;
        if event.get("merchant").is_some_and(|name| name == merchant) {
            events.insert(text(&event, "id")?, event);
        }
    }
    Ok(events)
}

//! Payments are made at the service, their events posted to a daemon that is killed meanwhile, and at the end the
//! service's own books say what the daemon's hooks did.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};

use crate::connection::Failed;
use crate::control;
use crate::posts::{Post, Posts};
use crate::random::Random;
use crate::stand::{Stand, text};
use crate::till::Till;
use crate::tree::{self, Kinds, merchant_name};

#[path = "flood_books.rs"]
mod books;
#[path = "daemon_address.rs"]
mod daemon_address;
#[path = "flood_daemon.rs"]
mod flood_daemon;

use flood_daemon::Killer;

/// Payments between two looks at the events.
const BATCH: usize = 2_000;
/// One payment of so many is answered by a hook.
const ACT_EVERY: u64 = 50;
/// Posts that are made after each batch, in hundredths of those that wait: events overtake one another.
const NOW_HUNDREDTHS: usize = 70;
const GLANCE: Duration = Duration::from_millis(500);
/// Everything is processed in this time after the last post.
const REST_MAX: Duration = Duration::from_mins(30);
/// For the streams of chance.
const STREAMS: [u64; 3] = [0x0EE7_0001, 0x0EE7_0002, 0x0EE7_0003];
/// The reference of payments that a hook answers, of others, and of the last one, which asks for the count.
const ACT: &str = "act";
const PLAIN: &str = "plain";
const COUNT: &str = "count";
/// The reference of the hook's answer to that.
const COUNTED: &str = "counted";

/// How it is done.
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

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Events of the merchant, as the service counts them.
    events: usize,
    taken: usize,
    repeated: usize,
    lost: usize,
    forged: usize,
    killed: usize,
    /// Daemons that ended before their moment.
    ended: usize,
    /// Events that the daemon processed.
    told: usize,
    /// Of those that were made up: known as such, or not looked up yet.
    made_up: usize,
    /// What the hook itself counted.
    counted: u64,
    /// Actions that were to be done, and were done once.
    once: usize,
    /// What is not as it should be.
    wrong: Vec<String>,
}

impl Report {
    /// Did it go well?
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
            "{repeated} posts had to be made again; {killed} daemons killed, {ended} ended by themselves"
        )?;
        let Self { told, made_up, counted, once, wrong, .. } = self;
        writeln!(
            f,
            "{told} events processed, {counted} times the hook ran, {once} payments by hooks made once"
        )?;
        writeln!(f, "{made_up} forged events kept and not acted on; {} WRONG", wrong.len())?;
        wrong.iter().take(20).try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Runs it. Errors: something that stops the trial itself; what it finds is in the report.
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

/// The service, the merchants, and what is to be posted.
struct Scene<'a> {
    stand: &'a Stand,
    listen: SocketAddr,
    till: Till,
    posts: Posts,
    random: Random,
    /// The daemon's path for the merchant's events.
    path: String,
    /// And for the partner's, where a reference follows.
    partner_path: String,
    /// Events that were seen at the service.
    seen: BTreeSet<String>,
    /// Posts of forgeries, and how many of them name an event.
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

    /// Posts that nobody should act on: unknown ids, ids of another merchant's events, another merchant's codes.
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

    /// The partner is told that somebody was approved who never applied, with a code that works.
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

    /// Payments, and posts of their events in another order.
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

    /// Waits until the daemon has processed all that the service tells, and has done all that hooks asked for.
    async fn rest(&self, report: &mut Report) -> Result<(), Failed> {
        let started = Instant::now();
        loop {
            tokio::time::sleep(GLANCE).await;
            let now = books::daemon(self.listen, &merchant_name(0)).await?;
            if now.is_at_rest() && now.told >= events(self.stand, &merchant_name(0)).await?.len() {
                report.told = now.told;
                report.made_up = now.made_up;
                return Ok(());
            }
            if started.elapsed() > REST_MAX {
                return Err(format!("the daemon does not come to rest: {now:?}").into());
            }
        }
    }

    /// One payment more, to which the hook answers with how often it ran.
    async fn count(&mut self, report: &mut Report) -> Result<(), Failed> {
        self.rest(report).await?;
        // The hook counts what it ran for at the other merchant, too.
        let theirs = books::daemon(self.listen, &merchant_name(1)).await?;
        let before = report.told.saturating_add(theirs.processed());
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

    /// Compares what the service has with what its events ask for.
    async fn judge(&self, report: &mut Report) -> Result<(), Failed> {
        let all = events(self.stand, &merchant_name(0)).await?;
        report.events = all.len();
        (report.taken, report.repeated) = (self.posts.taken, self.posts.repeated);
        (report.lost, report.forged) = (self.posts.lost, self.forged);
        if report.told != all.len() {
            let told = report.told;
            report.wrong.push(format!("{told} events were processed, and there are {}", all.len()));
        }
        if report.made_up != self.made_up {
            let wanted = self.made_up;
            report
                .wrong
                .push(format!("{} events are known as made up, not {wanted}", report.made_up));
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

    /// Takes in what happened since the last time.
    async fn post_new(&mut self) -> Result<(), Failed> {
        for (id, body) in events(self.stand, &merchant_name(0)).await? {
            if self.seen.insert(id) {
                self.posts.event(&Post { path: self.path.clone(), body: body.to_string() });
            }
        }
        Ok(())
    }
}

/// Counts every event but those of the last payment and of its answer, and pays once for each that asks for it.
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

/// The events of a merchant by their ids.
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

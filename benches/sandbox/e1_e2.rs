//! E1 and E2: the rate of made and read objects, the time until a server answers, and its memory.

use std::fs;
use std::time::Duration;

use crate::connection::Failed;
use crate::figures::{Figure, Shown, ms, per_second, rate, ratio, us_each};
use crate::load::Answers;
use crate::meter::{Memories, Memory, Threads, hundredths_of, kib, mib};
use crate::objects::{Object, id};
use crate::report::{Report, Row};
use crate::served::{Served, Server};
use crate::{Bench, load};

/// Connections at once.
const CONNECTIONS: usize = 16;
const CREATED: Least = (30, "at least 0.30 of the stub's rate");
const READ: Least = (60, "at least 0.60 of the stub's rate");
const FIRST_ANSWER_MAX: Duration = Duration::from_millis(25);
const START_BYTES_MAX: u64 = 6 << 20;
const EACH_BYTES_MAX: u64 = 1 << 10;
/// Time after which an idle server no longer changes its memory.
const SETTLING: Duration = Duration::from_millis(500);

/// The cost of many requests to a server.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    requests: usize,
    wall: Duration,
    cpu: Duration,
}

impl Cost {
    fn with(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            wall: self.wall.saturating_add(other.wall),
            cpu: self.cpu.saturating_add(other.cpu),
        }
    }

    fn per_second(self) -> u128 {
        per_second(self.requests, self.wall)
    }
}

/// The figures of one server from its start to its end.
#[derive(Debug, Clone, Copy)]
struct Sample {
    first_answer: Duration,
    start: Memory,
    /// Memory for each object.
    each: Memory,
    create: Cost,
    get: Cost,
}

/// All rounds of one server with one sort of object.
#[derive(Debug)]
struct Side {
    server: Server,
    object: Object,
    count: usize,
    samples: Vec<Sample>,
}

impl Side {
    fn new(server: &Server, object: Object, count: usize) -> Self {
        Self { server: server.clone(), object, count, samples: Vec::new() }
    }

    async fn round(&mut self, bench: &Bench) -> Result<(), Failed> {
        let folder = bench.work.join("served");
        let mut served = self.server.start(&folder).await?;
        let sample = self.measure(&mut served).await?;
        drop(served);
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        self.samples.push(sample);
        Ok(())
    }

    async fn measure(&self, served: &mut Served) -> Result<Sample, Failed> {
        let first_answer = served.first_answer;
        tokio::time::sleep(SETTLING).await;
        let start = Memory::of(served.process())?;
        if let Server::Sandbox { .. } = self.server {
            served.learn_key().await?;
        }
        let (create, made) = cost(served, &self.object.creates(served, self.count)).await?;
        tokio::time::sleep(SETTLING).await;
        let each = Memory::of(served.process())?.of_each(start, self.count);
        let (get, read) = cost(served, &self.object.gets(served, &made.bodies)?).await?;
        need_same(&made, &read)?;
        Ok(Sample { first_answer, start, each, create, get })
    }

    fn cost<T: Ord + Copy + Default>(&self, of: impl Fn(&Sample) -> T) -> Figure<T> {
        Figure::of_costs(self.samples.iter().map(of))
    }

    fn memory(&self, of: impl Fn(&Sample) -> Memory) -> Memories {
        Memories::of(&self.samples.iter().map(of).collect::<Vec<_>>())
    }

    fn rate(&self, of: impl Fn(&Sample) -> Cost) -> Figure<u128> {
        Figure::of_rates(self.samples.iter().map(|sample| of(sample).per_second()))
    }

    /// Formats the rate, and the CPU of each request.
    fn served(&self, of: impl Fn(&Sample) -> Cost) -> Shown {
        let requests = self.cost(|sample| of(sample).requests).median;
        let cpu = self.cost(|sample| of(sample).cpu);
        let cpu = cpu.shown(|cpu| format!("CPU {}", us_each(cpu, requests)));
        self.rate(of).shown(rate).beside(cpu)
    }
}

async fn cost(served: &Served, requests: &[Vec<u8>]) -> Result<(Cost, Answers), Failed> {
    let (process, mut threads) = (served.process().to_string(), Threads::default());
    let before = threads.cpu(&process)?;
    let answers = load::run(served.address, requests, CONNECTIONS).await?;
    let cpu = threads.cpu(&process)?.saturating_sub(before);
    Ok((Cost { requests: requests.len(), wall: answers.wall, cpu }, answers))
}

/// Checks that the server returned exactly the objects that were made.
fn need_same(made: &Answers, read: &Answers) -> Result<(), Failed> {
    let ids = |answers: &Answers| -> Result<Vec<String>, Failed> {
        let mut ids = answers.bodies.iter().map(|body| id(body)).collect::<Result<Vec<_>, _>>()?;
        ids.sort_unstable();
        Ok(ids)
    };
    if ids(made)? == ids(read)? {
        Ok(())
    } else {
        Err("the server returned other objects than were made".into())
    }
}

/// Measures all servers in turns, each round with new processes and empty states.
pub(crate) async fn run(bench: &Bench, report: &mut Report) -> Result<(), Failed> {
    let sandbox = Server::Sandbox { binary: bench.binary.clone() };
    let mut sides = Vec::new();
    for object in [Object::Card, Object::Charge] {
        for server in [&sandbox, &Server::Stub] {
            sides.push(Side::new(server, object, bench.objects));
        }
    }
    if let Some(python) = bench.peers.clone() {
        let server = Server::Localstripe { python };
        sides.push(Side::new(&server, Object::Customer, bench.peer_objects));
    }
    for round in 1..=bench.rounds {
        for side in &mut sides {
            bench.progress.say(&format!(
                "round {round}: {:?}, {}",
                side.server,
                side.object.name()
            ));
            side.round(bench).await?;
        }
    }
    if let [cards, stub_cards, charges, stub_charges, others @ ..] = sides.as_slice() {
        against_stub(report, cards, stub_cards);
        against_stub(report, charges, stub_charges);
        against_localstripe(report, cards, others.first());
        starts(report, cards, stub_cards, others.first());
    }
    Ok(())
}

fn both(sample: &Sample) -> Cost {
    sample.create.with(sample.get)
}

/// The least rate, in hundredths of the stub's, with its text.
type Least = (u128, &'static str);

fn against_stub(report: &mut Report, sandbox: &Side, stub: &Side) {
    let sides = [sandbox, stub];
    part(report, sides, "created", |sample| sample.create, CREATED);
    part(report, sides, "read", |sample| sample.get, READ);
}

fn part(
    report: &mut Report,
    [sandbox, stub]: [&Side; 2],
    done: &str,
    of: fn(&Sample) -> Cost,
    (least, wanted): Least,
) {
    let ratio = ratio(sandbox.rate(of).median, stub.rate(of).median);
    report.add(Row {
        goal: format!("E1 {} {done}", sandbox.object.name()),
        count: sandbox.count,
        figure: sandbox.served(of),
        limit: format!("stub {}", stub.served(of).median),
        ratio,
        wanted,
        met: Some(ratio >= least),
    });
}

fn against_localstripe(report: &mut Report, sandbox: &Side, localstripe: Option<&Side>) {
    let goal = "E1 saved cards against localstripe's customers, create + get";
    let Some(localstripe) = localstripe else {
        report.skip(goal, "RECKON_PEERS names no Python with localstripe");
        return;
    };
    let ratio = ratio(sandbox.rate(both).median, localstripe.rate(both).median);
    let peer = localstripe.served(both).median;
    report.add(Row {
        goal: goal.to_owned(),
        count: sandbox.count,
        figure: sandbox.served(both),
        limit: format!("localstripe {peer}, {} objects", localstripe.count),
        ratio,
        wanted: "more than 1.00 of its rate",
        met: Some(ratio > 100),
    });
}

/// Formats a figure of the other servers for a goal of E2.
fn others(stub: &Side, localstripe: Option<&Side>, show: impl Fn(&Side) -> Shown) -> String {
    let localstripe = localstripe.map(|side| show(side).median);
    let localstripe = localstripe.unwrap_or_else(|| "not measured".to_owned());
    format!("stub {}; localstripe {localstripe}", show(stub).median)
}

fn starts(report: &mut Report, sandbox: &Side, stub: &Side, localstripe: Option<&Side>) {
    let first = |side: &Side| side.cost(|sample| sample.first_answer);
    let time = first(sandbox).median;
    report.add(Row {
        goal: "E2 first answer after the start".to_owned(),
        count: 0,
        figure: first(sandbox).shown(ms),
        limit: others(stub, localstripe, |side| first(side).shown(ms)),
        ratio: time.as_micros() / 10,
        wanted: "at most 25 ms",
        met: Some(time <= FIRST_ANSWER_MAX),
    });
    memory(report, sandbox, stub, localstripe);
}

fn memory(report: &mut Report, sandbox: &Side, stub: &Side, localstripe: Option<&Side>) {
    let start = |side: &Side| side.memory(|sample| sample.start);
    let anonymous = start(sandbox).anonymous.median;
    report.add(Row {
        goal: "E2 memory at the start, MiB anonymous".to_owned(),
        count: 0,
        figure: start(sandbox).shown(mib),
        limit: others(stub, localstripe, |side| start(side).shown(mib)),
        ratio: hundredths_of(anonymous, 1 << 20),
        wanted: "at most 6 MiB",
        met: Some(anonymous <= START_BYTES_MAX),
    });
    let each = |side: &Side| side.memory(|sample| sample.each);
    let anonymous = each(sandbox).anonymous.median;
    report.add(Row {
        goal: "E2 memory of each saved card, KiB anonymous".to_owned(),
        count: sandbox.count,
        figure: each(sandbox).shown(kib),
        limit: others(stub, localstripe, |side| each(side).shown(kib)),
        ratio: hundredths_of(anonymous, 1 << 10),
        wanted: "at most 1.00 KiB",
        met: Some(anonymous <= EACH_BYTES_MAX),
    });
}

//! W1 to W4: acknowledged posts per second, the time of each, and its cost.

use std::time::Duration;

use crate::connection::Failed;
use crate::figures::{Figure, Shown, ms, per_second, rate, ratio, times, us_each};
use crate::meter::Threads;
use crate::receivers::{Receiver, Receiving};
use crate::report::{Report, Row};
use crate::{Bench, load};

/// The longest permitted acknowledgement, at 16 connections on a quiet disk.
const LONGEST: Duration = Duration::from_millis(100);

/// The figures of one receiver in one round.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    requests: usize,
    wall: Duration,
    cpu: Duration,
    p99: Duration,
    longest: Duration,
}

impl Sample {
    fn per_second(self) -> u128 {
        per_second(self.requests, self.wall)
    }
}

/// All rounds of one receiver at one number of connections.
#[derive(Debug)]
struct Side {
    receiver: Receiver,
    connections: usize,
    samples: Vec<Sample>,
}

impl Side {
    fn cost<T: Ord + Copy + Default>(&self, of: impl Fn(Sample) -> T) -> Figure<T> {
        Figure::of_costs(self.samples.iter().copied().map(of))
    }

    fn rate(&self) -> Figure<u128> {
        Figure::of_rates(self.samples.iter().copied().map(Sample::per_second))
    }

    fn p99(&self) -> Figure<Duration> {
        self.cost(|sample| sample.p99)
    }

    fn longest(&self) -> Figure<Duration> {
        self.cost(|sample| sample.longest)
    }

    fn cpu(&self) -> Figure<Duration> {
        self.cost(|sample| sample.cpu)
    }

    /// Formats rate and 99th percentile.
    fn acknowledged(&self) -> Shown {
        self.rate().shown(rate).beside(self.p99().shown(|time| format!("p99 {}", ms(time))))
    }

    /// Formats the 99th percentile and the longest time.
    fn times(&self) -> Shown {
        let longest = self.longest().shown(|time| format!("longest {}", ms(time)));
        self.p99().shown(|time| format!("p99 {}", ms(time))).beside(longest)
    }

    fn requests(&self) -> usize {
        self.cost(|sample| sample.requests).median
    }

    async fn round(&mut self, bench: &Bench, round: usize) -> Result<(), Failed> {
        let Some(receiving) = self.receiver.start(bench).await? else { return Ok(()) };
        let count = match (self.receiver, self.connections) {
            (Receiver::Reckon | Receiver::Group, 1) => bench.events / 5,
            (Receiver::Reckon | Receiver::Group, _) => bench.events,
            (Receiver::Webhook | Receiver::FastApi, 1) => bench.events / 20,
            (Receiver::Webhook | Receiver::FastApi, _) => bench.events / 5,
        };
        // A hundredth of the events goes first, unmeasured, since the first posts create things that later ones find.
        let warm = posts(&receiving, round.saturating_mul(2), bench.events / 100);
        load::run(receiving.address, &warm, self.connections).await?;
        let posts = posts(&receiving, round.saturating_mul(2).saturating_add(1), count);
        let (process, mut threads) = (receiving.process().to_string(), Threads::default());
        let before = threads.cpu(&process)?;
        let mut answers = load::run(receiving.address, &posts, self.connections).await?;
        let cpu = threads.cpu(&process)?.saturating_sub(before);
        if answers.bodies.len() != posts.len() {
            return Err("a post was not answered".into());
        }
        answers.times.sort_unstable();
        let at = posts.len().saturating_mul(99) / 100;
        self.samples.push(Sample {
            requests: posts.len(),
            wall: answers.wall,
            cpu,
            p99: answers.times.get(at).copied().unwrap_or_default(),
            longest: answers.times.last().copied().unwrap_or_default(),
        });
        Ok(())
    }
}

/// Returns posts of events that differ in their ids alone, about 400 bytes each.
fn posts(to: &Receiving, round: usize, count: usize) -> Vec<Vec<u8>> {
    let Receiving { address, path, .. } = to;
    let post = |at: usize| {
        let body = format!(
            "{{\"id\":\"evt{round:04}{at:015}\",\"type\":\"transaction.authorized\",\"created\":\"2026-11-22T12:00:00Z\",\
             \"data\":{{\"id\":\"txn{at:019}\",\"account_id\":\"oYFYjCQdQSSUkyfAHLRPTw\",\"amount\":12500,\
             \"currency\":\"USD\",\"status\":\"AUTHORIZED\",\"reference\":\"invoice {at}\",\"recurring\":false,\
             \"method\":{{\"type\":\"card\",\"number\":\"************4242\",\"exp_month\":10,\"exp_year\":2040}}}}}}"
        );
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    };
    (0..count).map(post).collect()
}

/// Measures all receivers in turns.
pub(crate) async fn run(bench: &Bench, report: &mut Report) -> Result<(), Failed> {
    let all = [Receiver::Reckon, Receiver::Group, Receiver::Webhook, Receiver::FastApi];
    let side = |receiver, connections| Side { receiver, connections, samples: Vec::new() };
    for connections in bench.connections.iter().copied() {
        let mut sides = all.map(|receiver| side(receiver, connections));
        for round in 1..=bench.rounds {
            for side in &mut sides {
                let receiver = side.receiver;
                bench
                    .progress
                    .say(&format!("{connections} connections, round {round}: {receiver:?}"));
                side.round(bench, round).await?;
            }
        }
        let [own, group, webhook, fast_api] = &sides;
        against_group(report, own, group);
        against_peers(report, own, webhook, fast_api);
    }
    Ok(())
}

/// A number that the median is compared with, in hundredths, with its text. `None` where a figure is only shown.
type Limit = Option<(u128, &'static str)>;

fn against_group(report: &mut Report, own: &Side, group: &Side) {
    let connections = own.connections;
    let (least, wanted) = match connections {
        64 => (70, "at least 0.70 of the bare handler's rate"),
        _ => (85, "at least 0.85 of the bare handler's rate"),
    };
    let rate = ratio(own.rate().median, group.rate().median);
    report.add(Row {
        goal: format!("W1 acknowledged, {connections:2} connections"),
        count: own.requests(),
        figure: own.acknowledged(),
        limit: group.acknowledged().median,
        ratio: rate,
        wanted,
        met: Some(rate >= least),
    });
    cpu(report, own, group);
    if connections == 16 {
        latency(report, own, group);
    }
}

fn cpu(report: &mut Report, own: &Side, group: &Side) {
    let most: Limit = match own.connections {
        16 => Some((180, "at most 1.80 x the bare handler's")),
        64 => Some((200, "at most 2.00 x the bare handler's")),
        _ => None,
    };
    let (cpu, limit) = (own.cpu(), group.cpu().median);
    let ratio = times(cpu.median, limit);
    report.add(Row {
        goal: format!("W4 CPU of each, {:2} connections", own.connections),
        count: own.requests(),
        figure: cpu.shown(|cpu| us_each(cpu, own.requests())),
        limit: us_each(limit, group.requests()),
        ratio,
        wanted: most.map_or("", |(_, wanted)| wanted),
        met: most.map(|(most, _)| ratio <= most),
    });
}

fn latency(report: &mut Report, own: &Side, group: &Side) {
    let ratio = times(own.p99().median, group.p99().median);
    report.add(Row {
        goal: "W3 time of each, 16 connections".to_owned(),
        count: own.requests(),
        figure: own.times(),
        limit: group.times().median,
        ratio,
        wanted: "p99 at most 1.80 x the bare handler's, none over 100 ms",
        met: Some(ratio <= 180 && own.longest().median <= LONGEST),
    });
}

fn against_peers(report: &mut Report, own: &Side, webhook: &Side, fast_api: &Side) {
    let fast_api_least = (800, "at least 8.00 x its rate");
    let webhook_least = (1_400, "at least 14.00 x its rate");
    let peers = [
        (fast_api, "FastAPI + SQLite", fast_api_least, "no FastAPI in RECKON_PEERS"),
        (webhook, "webhook", webhook_least, "no webhook is installed"),
    ];
    for (peer, name, least, why) in peers {
        let goal = format!("W2 against {name}, {:2} connections", own.connections);
        if peer.samples.is_empty() {
            report.skip(&goal, why);
        } else {
            let least = Some(least).filter(|_| own.connections == 16);
            against_peer(report, goal, own, peer, least);
        }
    }
}

fn against_peer(report: &mut Report, goal: String, own: &Side, peer: &Side, least: Limit) {
    let ratio = ratio(own.rate().median, peer.rate().median);
    report.add(Row {
        goal,
        count: own.requests(),
        figure: own.acknowledged(),
        limit: peer.acknowledged().median,
        ratio,
        wanted: least.map_or("", |(_, wanted)| wanted),
        met: least.map(|(least, _)| ratio >= least),
    });
}

//! First applies of the same contacts by several makers, in turns.

use std::time::Duration;

use http::Method;
use serde_json::json;

use crate::connection::Failed;
use crate::figures::{Figure, per_second};
use crate::first_apply::{Cost, clear, contacts};
use crate::makers::Maker;
use crate::report::Report;
use crate::stand::Stand;
use crate::{Bench, control};

const NO_PEER: &str = "RECKON_PEERS names no Python with this module and PyYAML";
const TOO_SLOW: &str = "this peer is measured with fewer documents alone";

/// All rounds of one maker.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) maker: Maker,
    costs: Vec<Cost>,
}

impl Side {
    fn of(maker: Maker) -> Self {
        Self { maker, costs: Vec::new() }
    }

    pub(crate) fn cpu(&self) -> Figure<Duration> {
        Figure::of_costs(self.costs.iter().map(|cost| cost.cpu))
    }

    pub(crate) fn wall(&self) -> Figure<Duration> {
        Figure::of_costs(self.costs.iter().map(|cost| cost.wall))
    }

    /// Returns the contacts made in a second.
    pub(crate) fn rate(&self, documents: usize) -> Figure<u128> {
        Figure::of_rates(self.costs.iter().map(|cost| per_second(documents, cost.wall)))
    }
}

/// The sides of a comparison.
#[derive(Debug)]
pub(crate) struct Sides {
    pub(crate) bare: Side,
    pub(crate) own: Side,
    pub(crate) peers: Vec<Side>,
}

/// The parameters of a comparison.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comparison {
    /// The goal's name.
    pub(crate) goal: &'static str,
    /// Delay of each answer, in milliseconds.
    pub(crate) delay_ms: Option<u64>,
    /// The peers, each with its largest number of documents.
    pub(crate) peers: [(Maker, usize); 2],
}

impl Comparison {
    /// Measures all makers in turns, each round with a new sandbox and a new state. The first of them changes from round
    /// to round. Reports peers that are not measured.
    pub(crate) async fn run(
        self,
        bench: &Bench,
        documents: usize,
        report: &mut Report,
    ) -> Result<Sides, Failed> {
        let peers = self.present(bench, documents, report);
        let makers = [Maker::BareLoop, Maker::Reckon].into_iter().chain(peers);
        let mut sides: Vec<Side> = makers.map(Side::of).collect();
        for round in 0..bench.rounds_of(documents) {
            self.round(bench, documents, round, &mut sides).await?;
        }
        let mut sides = sides.into_iter();
        let (bare, own) = sides.next().zip(sides.next()).ok_or("no side was measured")?;
        Ok(Sides { bare, own, peers: sides.collect() })
    }

    /// Returns the peers that are measured at this size.
    fn present(self, bench: &Bench, documents: usize, report: &mut Report) -> Vec<Maker> {
        let mut present = Vec::new();
        for (maker, most) in self.peers {
            let name = format!("{} against {}", self.goal, maker.name());
            if documents > most {
                report.skip(&format!("{name}, {documents} documents"), TOO_SLOW);
            } else if maker.is_here(bench) {
                present.push(maker);
            } else {
                report.skip(&name, NO_PEER);
            }
        }
        present
    }

    async fn round(
        self,
        bench: &Bench,
        documents: usize,
        round: usize,
        sides: &mut [Side],
    ) -> Result<(), Failed> {
        let name = format!("{}-{documents}-{round}", self.goal.to_lowercase());
        let stand = contacts(bench, &name, documents).await?;
        if let Some(delay_ms) = self.delay_ms {
            delay(&stand, delay_ms).await?;
        }
        let first = round.checked_rem(sides.len()).unwrap_or(0);
        let (later, earlier) = sides.split_at_mut(first);
        for side in earlier.iter_mut().chain(later) {
            let (goal, maker) = (self.goal, side.maker.name());
            bench.progress.say(&format!("{goal}  {documents} contacts, round {round}: {maker}"));
            side.costs.push(side.maker.make(bench, &stand, documents).await?);
        }
        clear(stand)
    }
}

/// Delays the answer to every new contact.
async fn delay(stand: &Stand, delay_ms: u64) -> Result<(), Failed> {
    let fault = json!({
        "method": "POST", "path": "/contacts", "fault": "delay", "delay_ms": delay_ms, "probability": 1,
    });
    let path = "/_sandbox/faults";
    control::json(stand.sandbox.address, Method::POST, path, Some(&fault)).await?;
    Ok(())
}

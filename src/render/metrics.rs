//! Renders metrics in the text format that Prometheus reads. [`families`] writes one family;
//! [`state`] has those of resources, intents, the service and the journal, [`events`] those of events
//! and hooks. `docs/reference/metrics.md` lists them all.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::registry::Registry;

use crate::engine::protocol::diagnostics::Metrics;
use crate::render::metrics::families::Families;

mod events;
mod families;
mod state;

const PREFIX: &str = "reckon";

pub fn metrics(all: &Metrics) -> String {
    let mut registry = Registry::with_prefix(PREFIX);
    registry.register_collector(Box::new(MetricsCollector(all.clone())));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _written = encode_registry(&mut text, &registry);
    text
}

#[derive(Debug)]
struct MetricsCollector(Metrics);

impl Collector for MetricsCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (out, all) = (&mut Families(encoder), &self.0);
        state::write(out, all)?;
        events::write(out, all)
    }
}

#[cfg(test)]
mod tests;

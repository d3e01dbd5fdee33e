//! Renders metrics in the text format that Prometheus reads; one file for each group of families.

mod events;
mod families;
mod hooks;
mod intents;
mod journal;
mod resources;
mod service;
#[cfg(test)]
mod tests;

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::registry::Registry;

use crate::engine::protocol::queries::metrics::Metrics;
use families::Families;

/// First part of every name.
const PREFIX: &str = "reckon";

/// Writes the families of one group.
type FamilyWriter = fn(&mut Families<'_>, &Metrics) -> fmt::Result;

/// Every group in its order of output.
const GROUPS: [FamilyWriter; 6] = [
    resources::families,
    intents::families,
    service::families,
    journal::families,
    events::families,
    hooks::families,
];

/// Renders every metric with its help text.
pub fn metrics(all: &Metrics) -> String {
    let mut registry = Registry::with_prefix(PREFIX);
    registry.register_collector(Box::new(MetricsCollector(all.clone())));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _written = encode_registry(&mut text, &registry);
    text
}

/// The metrics of one moment.
#[derive(Debug)]
struct MetricsCollector(Metrics);

impl Collector for MetricsCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut families = Families::new(encoder);
        GROUPS.iter().try_for_each(|group| group(&mut families, &self.0))
    }
}

//! `webhooks` and `trusted_proxies`: the networks whose posts are accepted, and their rate.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::Path;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::config::reader::ConfigReader;
use crate::config::setting::{ConfigError, EnvSource, FromText, InvalidValue, Setting};
use crate::spec::text::node::Node;

const WEBHOOKS: [&str; 4] = ["gateway", "partner", "rate", "burst"];
/// Default of posts a second that one address accepts. At 256 kB each, a disk can keep up with
/// them.
const RATE_DEFAULT: NonZeroU32 = match NonZeroU32::new(200) {
    Some(rate) => rate,
    None => NonZeroU32::MAX,
};
/// Default burst of one address, in seconds of its rate.
const BURST_SECONDS: NonZeroU32 = match NonZeroU32::new(5) {
    Some(seconds) => seconds,
    None => NonZeroU32::MIN,
};

/// The posts accepted at the addresses that face the world.
#[derive(Debug, Clone, JsonSchema)]
pub struct WebhookSettings {
    /// The networks from which merchants' events are accepted; none: from anywhere.
    #[schemars(with = "Option<Vec<Setting<IpNet>>>")]
    pub gateway: Vec<Setting<IpNet>>,
    /// The networks from which the partner's webhooks are accepted; none: from anywhere.
    #[schemars(with = "Option<Vec<Setting<IpNet>>>")]
    pub partner: Vec<Setting<IpNet>>,
    /// Posts a second that one address accepts.
    #[schemars(with = "Option<Setting<NonZeroU32>>", extend("default" = 200))]
    pub rate: Setting<NonZeroU32>,
    /// Posts that one address accepts at once; none: five seconds of `rate`.
    pub burst: Option<Setting<NonZeroU32>>,
}

impl WebhookSettings {
    /// Returns the posts that one address accepts a second, and at once.
    ///
    /// # Errors
    /// A variable is unset, or does not fit.
    pub fn rates(&self, env: &dyn EnvSource) -> Result<(NonZeroU32, NonZeroU32), ConfigError> {
        let rate = self.rate.get(env)?;
        let burst = self.burst.as_ref().map(|burst| burst.get(env)).transpose()?;
        Ok((rate, burst.unwrap_or_else(|| rate.saturating_mul(BURST_SECONDS))))
    }
}

impl Default for WebhookSettings {
    fn default() -> Self {
        let rate = Setting::Literal(RATE_DEFAULT);
        Self { gateway: Vec::new(), partner: Vec::new(), rate, burst: None }
    }
}

impl ConfigReader<'_> {
    pub(crate) fn read_webhooks(&mut self, root: &Node) -> WebhookSettings {
        let default = WebhookSettings::default();
        let Some(node) = self.section(root, "webhooks", &WEBHOOKS) else { return default };
        WebhookSettings {
            gateway: self.read_networks(node, "gateway"),
            partner: self.read_networks(node, "partner"),
            rate: self.setting(node, "rate").unwrap_or(default.rate),
            burst: self.setting(node, "burst"),
        }
    }

    /// Reads a list of networks.
    pub(crate) fn read_networks(&mut self, parent: &Node, key: &str) -> Vec<Setting<IpNet>> {
        let items = self.items(parent, key);
        items.iter().filter_map(|one| self.scalar(one, one.span.clone())).collect()
    }
}

impl FromText for IpNet {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let network = text.parse::<Self>().ok();
        let network = network.or_else(|| Some(Self::from(text.parse::<IpAddr>().ok()?)));
        network.map(|network| network.trunc()).ok_or_else(|| {
            let message = format!("`{text}` is not a network");
            InvalidValue::new(
                message,
                "write it like `192.0.2.0/24`, `2001:db8::/32` or `192.0.2.7`",
            )
        })
    }

    fn schema() -> Value {
        json!({ "title": "network", "type": "string", "pattern": "^[0-9A-Fa-f:.]+(/[0-9]+)?$" })
    }
}

impl FromText for NonZeroU32 {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        text.parse().map_err(|_| {
            let message = format!("`{text}` is not a number above zero");
            InvalidValue::new(message, "write a whole number, such as `100`")
        })
    }

    fn schema() -> Value {
        json!({ "title": "number above zero", "type": ["integer", "string"], "minimum": 1, "pattern": "^\\+?[0-9]+$" })
    }
}

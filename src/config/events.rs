//! `webhooks`, `trusted_proxies`, `events` and `store`: the networks whose posts are accepted and
//! their rate, the time of compaction, and the retention of events and of the state's history.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::config::setting::{
    ConfigError, EnvSource, FromText, InvalidValue, Setting, resolve_optional, word_schema,
};

/// Default of posts a second at one address. At 256 kB each, a disk keeps up with them.
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
    pub fn rates(&self, env: &dyn EnvSource) -> Result<(NonZeroU32, NonZeroU32), ConfigError> {
        let rate = self.rate.get(env)?;
        let burst = resolve_optional(self.burst.as_ref(), env)?;
        Ok((rate, burst.unwrap_or_else(|| rate.saturating_mul(BURST_SECONDS))))
    }
}

impl Default for WebhookSettings {
    fn default() -> Self {
        let rate = Setting::Literal(RATE_DEFAULT);
        Self { gateway: Vec::new(), partner: Vec::new(), rate, burst: None }
    }
}

impl FromText for IpNet {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let network = text.parse::<Self>().ok();
        let network = network.or_else(|| Some(Self::from(text.parse::<IpAddr>().ok()?)));
        network.map(|network| network.trunc()).ok_or_else(|| {
            let help = "write it like `192.0.2.0/24`, `2001:db8::/32` or `192.0.2.7`";
            InvalidValue::new(format!("`{text}` is not a network"), help)
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

const KEEP_DEFAULT: Duration = Duration::from_hours(90 * 24);

/// The retention of events.
#[derive(Debug, Clone, JsonSchema)]
pub struct EventSettings {
    /// The time for which an event is kept with its hook runs and settled actions, and for which a
    /// forged post is.
    #[schemars(with = "Option<Setting<Duration>>", extend("default" = "90d"))]
    pub keep: Setting<Duration>,
}

impl Default for EventSettings {
    fn default() -> Self {
        Self { keep: Setting::Literal(KEEP_DEFAULT) }
    }
}

/// Compaction, and the retention of records that a compaction replaced.
#[derive(Debug, Clone, JsonSchema)]
pub struct StoreSettings {
    /// The time of compaction: automatic, or only at `store compact`.
    #[schemars(with = "Option<Setting<CompactionMode>>", extend("default" = "auto"))]
    pub compact: Setting<CompactionMode>,
    /// The retention of records that a compaction replaced; none: that of events.
    pub archive: Option<Setting<ArchiveRetention>>,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { compact: Setting::Literal(CompactionMode::Auto), archive: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionMode {
    /// When the journal holds much more than the fold.
    Auto,
    /// When `store compact` is called.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveRetention {
    Keep,
    /// Kept for at least this time.
    For(Duration),
    Drop,
}

impl StoreSettings {
    /// Returns the retention of replaced records, never shorter than that of events.
    pub fn archive_retention(
        &self,
        events: &EventSettings,
        env: &dyn EnvSource,
    ) -> Result<ArchiveRetention, ConfigError> {
        let keep = events.keep.get(env)?;
        let archive = resolve_optional(self.archive.as_ref(), env)?;
        Ok(match archive {
            None => ArchiveRetention::For(keep),
            Some(ArchiveRetention::For(wanted)) => ArchiveRetention::For(wanted.max(keep)),
            Some(other @ (ArchiveRetention::Keep | ArchiveRetention::Drop)) => other,
        })
    }
}

impl FromText for CompactionMode {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        match text {
            "auto" => Ok(Self::Auto),
            "never" => Ok(Self::Never),
            _ => {
                Err(InvalidValue::new(format!("unknown value `{text}`"), "write `auto` or `never`"))
            }
        }
    }

    fn schema() -> Value {
        word_schema(&["auto", "never"])
    }
}

impl FromText for ArchiveRetention {
    fn from_text(text: &str, dir: &Path) -> Result<Self, InvalidValue> {
        match text {
            "keep" => Ok(Self::Keep),
            "drop" => Ok(Self::Drop),
            other => Duration::from_text(other, dir).map(Self::For).map_err(|_| {
                let help = "write `keep`, `drop` or a time such as `365d`";
                InvalidValue::new(format!("`{other}` is not a retention of the history"), help)
            }),
        }
    }

    fn schema() -> Value {
        json!({ "title": "retention", "type": "string", "pattern": "^(keep|drop|[0-9]+(ms|s|m|h|d|w))$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::setting::ProcessEnv;
    use crate::config::settings::Config;

    fn archive(text: &str) -> ArchiveRetention {
        let text = format!(
            "apiVersion: reckon.dev/v1\nkind: Config\npartner: {{name: acme}}\nevents: {{keep: 10d}}\n{text}"
        );
        let config = Config::parse("reckon.yaml", Path::new("."), text.into_bytes()).unwrap();
        config.store.archive_retention(&config.events, &ProcessEnv).unwrap()
    }

    /// Closes K11.
    #[test]
    fn history_is_kept_no_shorter_than_events() {
        let days = |days: u64| ArchiveRetention::For(Duration::from_hours(24_u64 * days));
        assert_eq!(archive(""), days(10));
        assert_eq!(archive("store: {compact: never}"), days(10));
        assert_eq!(archive("store: {archive: 2d}"), days(10));
        assert_eq!(archive("store: {archive: 400d}"), days(400));
        assert_eq!(archive("store: {archive: keep}"), ArchiveRetention::Keep);
        assert_eq!(archive("store: {archive: drop}"), ArchiveRetention::Drop);
        assert!(ArchiveRetention::from_text("7", Path::new(".")).is_err());
        assert!(CompactionMode::from_text("often", Path::new(".")).is_err());
    }
}

//! `policy.prune`: the guards of removals, each value with its line.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::base::wording;
use crate::config::reader::ConfigReader;
use crate::config::setting::{
    ConfigError, EnvSource, FromText, InvalidValue, Setting, word_schema,
};
use crate::policy::prune::{Configured, PruneGuards};
use crate::spec::text::node::Node;

const KEYS: [&str; 4] = ["percent", "empty", "renames", "delay"];

/// The guards of removals.
#[derive(Debug, Clone, Default, JsonSchema)]
pub struct PruneSection {
    /// The largest share of a set that one plan may remove; sets of fewer than ten are not checked.
    #[schemars(extend("default" = 30))]
    percent: Option<PlacedSetting<Percentage>>,
    /// The treatment of a tree, kind or merchant without any document left.
    #[schemars(extend("default" = "refuse"))]
    empty: Option<PlacedSetting<GuardMode>>,
    /// The treatment of a new document that equals a missing one.
    #[schemars(extend("default" = "refuse"))]
    renames: Option<PlacedSetting<GuardMode>>,
    /// The time that a live object stays after its mark.
    #[schemars(extend("default" = "24h"))]
    delay: Option<PlacedSetting<Duration>>,
}

impl<T: FromText> JsonSchema for PlacedSetting<T> {
    fn schema_name() -> Cow<'static, str> {
        "PlacedSetting".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Setting::<T>::json_schema(generator)
    }
}

/// A setting and its place, as `FILE:LINE`.
#[derive(Debug, Clone)]
struct PlacedSetting<T> {
    setting: Setting<T>,
    set_at: String,
}

/// A whole number of per cent, from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Percentage(u32);

/// The effect of a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GuardMode {
    Refuse,
    Allow,
}

impl FromText for Percentage {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let number = text.strip_suffix('%').unwrap_or(text).trim();
        let number = number.parse::<u32>().ok().filter(|number| *number <= 100);
        number.map(Self).ok_or_else(|| {
            InvalidValue::new(
                format!("`{text}` is not a percentage"),
                "write a whole number from 0 to 100, such as `30`",
            )
        })
    }

    fn schema() -> Value {
        json!({ "title": "percentage", "type": ["integer", "string"], "minimum": 0, "maximum": 100, "pattern": "^\\+?[0-9]+\\s*%?$" })
    }
}

impl FromText for GuardMode {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        match text {
            "refuse" => Ok(Self::Refuse),
            "allow" => Ok(Self::Allow),
            _ => Err(InvalidValue::new(
                format!("unknown value `{text}`"),
                wording::suggestion_help(text, ["refuse", "allow"]),
            )),
        }
    }

    fn schema() -> Value {
        word_schema(&["refuse", "allow"])
    }
}

impl<T: FromText + Clone> PlacedSetting<T> {
    fn resolve<V>(
        &self,
        env: &dyn EnvSource,
        value: impl Fn(T) -> V,
    ) -> Result<Configured<V>, ConfigError> {
        Ok(Configured { value: value(self.setting.get(env)?), set_at: self.set_at.clone() })
    }
}

impl PruneSection {
    /// Returns the guards.
    ///
    /// # Errors
    /// As [`Setting::get`].
    pub fn get(&self, env: &dyn EnvSource) -> Result<PruneGuards, ConfigError> {
        let Self { percent, empty, renames, delay } = self;
        let mut prune = PruneGuards::default();
        if let Some(percent) = percent {
            prune.percent = percent.resolve(env, |percent| percent.0)?;
        }
        if let Some(empty) = empty {
            prune.refuse_empty = empty.resolve(env, |guard| guard == GuardMode::Refuse)?;
        }
        if let Some(renames) = renames {
            prune.refuse_renames = renames.resolve(env, |guard| guard == GuardMode::Refuse)?;
        }
        if let Some(delay) = delay {
            prune.delay = delay.resolve(env, |delay| delay)?;
        }
        Ok(prune)
    }
}

impl ConfigReader<'_> {
    pub(crate) fn read_prune(&mut self, policy: &Node) -> PruneSection {
        let Some(node) = self.section(policy, "prune", &KEYS) else {
            return PruneSection::default();
        };
        PruneSection {
            percent: self.read_placed(node, "percent"),
            empty: self.read_placed(node, "empty"),
            renames: self.read_placed(node, "renames"),
            delay: self.read_placed(node, "delay"),
        }
    }

    fn read_placed<T: FromText>(&mut self, node: &Node, key: &str) -> Option<PlacedSetting<T>> {
        let setting = self.setting(node, key)?;
        let at = node.entry(key).map_or(0, |entry| entry.key_span.start);
        let (line, _) = self.source.position(at);
        Some(PlacedSetting { setting, set_at: format!("{}:{line}", self.source.file) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::Config;

    struct Nothing;

    impl EnvSource for Nothing {
        fn var(&self, _: &str) -> Option<String> {
            None
        }
    }

    fn check(policy: &str) -> Result<PruneGuards, Vec<String>> {
        let text = format!("apiVersion: reckon.dev/v1\nkind: Config\npolicy:\n{policy}");
        match Config::parse("reckon.yaml", Path::new("."), text.into_bytes()) {
            Ok(config) => Ok(config.policy.prune.get(&Nothing).unwrap()),
            Err(broken) => Err(broken.problems.iter().map(|one| one.message.clone()).collect()),
        }
    }

    #[test]
    fn a_guard_knows_where_it_is_set() {
        let prune =
            check("  prune:\n    percent: 50%\n    empty: allow\n    delay: 72h\n").unwrap();
        assert_eq!((prune.percent.value, prune.percent.set_at.as_str()), (50, "reckon.yaml:5"));
        assert_eq!(
            (prune.refuse_empty.value, prune.refuse_empty.set_at.as_str()),
            (false, "reckon.yaml:6")
        );
        assert_eq!(
            (prune.refuse_renames.value, prune.refuse_renames.set_at.as_str()),
            (true, "default")
        );
        assert_eq!(prune.delay.value, Duration::from_hours(72));
        assert_eq!(check("  amounts: minor\n").unwrap(), PruneGuards::default());
    }

    #[test]
    fn what_is_wrong_is_told() {
        let wrong = check(
            "  prune:\n    percent: 130\n    empty: maybe\n    delay: soon\n    persent: 1\n",
        );
        let wrong = wrong.unwrap_err();
        assert_eq!(wrong.len(), 4, "{wrong:?}");
    }
}

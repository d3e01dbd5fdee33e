//! `policy.scripts`: the rights of scripts, as a list of powers, or as powers with the merchants
//! for which they are opened.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemars::JsonSchema;
use serde_json::Value;

use crate::base::id::Key;
use crate::base::wording;
use crate::config::reader::ConfigReader;
use crate::config::setting::{
    ConfigError, EnvSource, FromText, InvalidValue, Setting, text_schema, word_schema,
};
use crate::kinds::planning::step::MERCHANT;
use crate::policy::{AllowedMerchants, Rights, ScriptPower};
use crate::spec::text::node::{Node, NodeValue};

const SECTION: [&str; 1] = ["allow"];
/// The word for every merchant.
const ALL: &str = "all";
const EXAMPLE: &str = "write `allow: [refund, mail]`, or `allow: {refund: [acme], mail: all}`";

/// The rights of scripts.
#[derive(Debug, Clone, Default, JsonSchema)]
pub struct ScriptRights {
    /// The opened rights: a list, or a mapping of each right to `all` or to its merchants. A script
    /// has none that is not listed.
    #[schemars(rename = "allow", with = "Option<AllowForm>")]
    powers: Vec<(Setting<ScriptPower>, PowerScope)>,
}

/// The merchants for which a power is opened.
#[derive(Debug, Clone)]
enum PowerScope {
    All(Option<Setting<Everyone>>),
    Merchants(Vec<Setting<MerchantKey>>),
}

/// The forms of `allow`.
#[derive(JsonSchema)]
#[schemars(untagged, extend("title" = "list or mapping"))]
#[expect(dead_code, reason = "declares a schema")]
enum AllowForm {
    List(Vec<Setting<ScriptPower>>),
    Merchants(BTreeMap<String, ScopeForm>),
}

/// The forms of the merchants of a right.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "declares a schema")]
enum ScopeForm {
    All(Setting<Everyone>),
    Merchants(Vec<Setting<MerchantKey>>),
}

/// The word `all`.
#[derive(Debug, Clone, Copy)]
struct Everyone;

/// A merchant, as `NAME` or `NAMESPACE/NAME`.
#[derive(Debug, Clone)]
struct MerchantKey(Key);

impl FromText for ScriptPower {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        Self::from_word(text).ok_or_else(|| {
            let help = wording::suggestion_help(text, Self::ALL.map(Self::word));
            InvalidValue::new(format!("unknown right `{text}`"), help)
        })
    }

    fn schema() -> Value {
        word_schema(&Self::ALL.map(Self::word))
    }
}

impl FromText for Everyone {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let wrong =
            || InvalidValue::new(format!("`{text}` is neither `{ALL}` nor a list"), EXAMPLE);
        (text == ALL).then_some(Self).ok_or_else(wrong)
    }

    fn schema() -> Value {
        word_schema(&[ALL])
    }
}

impl FromText for MerchantKey {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let key = format!("{MERCHANT}/{text}").parse();
        key.map(Self).map_err(|_| {
            let help = "write its name, or its namespace and name: `acme` or `books/acme`";
            InvalidValue::new(format!("`{text}` is not the name of a merchant"), help)
        })
    }

    fn schema() -> Value {
        text_schema("merchant")
    }
}

impl ScriptRights {
    /// Returns the rights with every setting read.
    ///
    /// # Errors
    /// A variable is unset, or does not fit.
    pub fn get(&self, env: &dyn EnvSource) -> Result<Rights, ConfigError> {
        let powers = self.powers.iter().map(|(power, opened)| {
            let whose = match opened {
                PowerScope::All(word) => {
                    word.as_ref().map(|word| word.get(env)).transpose()?;
                    AllowedMerchants::All
                }
                PowerScope::Merchants(names) => {
                    let names = names.iter().map(|name| Ok(name.get(env)?.0));
                    AllowedMerchants::Some(names.collect::<Result<BTreeSet<_>, ConfigError>>()?)
                }
            };
            Ok((power.get(env)?, whose))
        });
        Ok(Rights::new(powers.collect::<Result<Vec<_>, ConfigError>>()?))
    }
}

impl ConfigReader<'_> {
    /// Reads `policy.scripts`.
    pub(crate) fn script_rights(&mut self, policy: &Node) -> ScriptRights {
        let Some(node) = self.section(policy, "scripts", &SECTION) else {
            return ScriptRights::default();
        };
        let Some(entry) = node.entry("allow").filter(|entry| !entry.value.is_null()) else {
            return ScriptRights::default();
        };
        let powers = match &entry.value.value {
            NodeValue::Seq(items) => items.iter().filter_map(|one| self.power(one)).collect(),
            NodeValue::Map(_) => self.powers_by_merchant(&entry.value),
            NodeValue::Scalar { .. } | NodeValue::Skipped => {
                let (span, message) =
                    (entry.key_span.clone(), "`allow` must be a list or a mapping");
                self.report("reckon::config::value", span, message, EXAMPLE);
                Vec::new()
            }
        };
        ScriptRights { powers }
    }

    fn power(&mut self, node: &Node) -> Option<(Setting<ScriptPower>, PowerScope)> {
        Some((self.scalar(node, node.span.clone())?, PowerScope::All(None)))
    }

    fn powers_by_merchant(&mut self, node: &Node) -> Vec<(Setting<ScriptPower>, PowerScope)> {
        self.report_unknown_keys(node, &ScriptPower::ALL.map(ScriptPower::word));
        let known = node.entries().iter();
        let known =
            known.filter_map(|entry| Some((ScriptPower::from_word(&entry.key)?, &entry.value)));
        let opened = known.filter_map(|(power, value)| {
            let opened = if matches!(value.value, NodeValue::Seq(_)) {
                let names = value.items().iter();
                PowerScope::Merchants(
                    names.filter_map(|name| self.scalar(name, name.span.clone())).collect(),
                )
            } else {
                PowerScope::All(Some(self.scalar(value, value.span.clone())?))
            };
            Some((Setting::Literal(power), opened))
        });
        opened.collect()
    }
}

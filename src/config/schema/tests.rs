use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::config::schema::*;
use crate::config::settings::Config;
use crate::model::issue::PlacedIssue;

const HEAD: &str = "apiVersion: reckon.dev/v1\nkind: Config\n";

fn parse(body: &str) -> Result<Config, Vec<PlacedIssue>> {
    let text = format!("{HEAD}{body}\n").into_bytes();
    Config::parse("reckon.yaml", Path::new("/work"), text).map_err(|broken| broken.problems)
}

/// Writes a value at a path of the tables, in one line.
fn document(path: &str, value: &str) -> String {
    path.rsplit('.').fold(value.to_owned(), |value, segment| {
        let (name, value) = match segment.strip_suffix("[]") {
            Some(name) => (name, format!("[{value}]")),
            None => (segment, value),
        };
        format!("{{{}: {value}}}", if name == ANY_NAME { "acme" } else { name })
    })
}

/// Returns the body of a file that has a value at a path.
fn body(path: &str, value: &str) -> String {
    let document = document(path, value);
    document.strip_prefix('{').unwrap().strip_suffix('}').unwrap().to_owned()
}

#[test]
fn every_field_has_a_meaning_and_a_type() {
    let file = explain("").unwrap();
    assert!(file.meaning.starts_with("The operator's decisions"), "{}", file.meaning);
    assert!(file.fields.len() > 80, "{}", file.fields.len());
    for field in &file.fields {
        assert!(field.meaning.len() > 4 && !field.meaning.contains('\n'), "{field:?}");
        assert!(!field.value_type.is_empty() && !field.value_type.ends_with(" s"), "{field:?}");
        let paths = explain(&field.path).map(|found| found.path);
        assert_eq!(paths.as_ref(), Ok(&field.path));
    }
}

#[test]
fn a_field_says_what_its_type_says() {
    let timeout = explain("service.timeout").unwrap();
    assert_eq!(
        (timeout.value_type.as_str(), timeout.default.as_deref()),
        ("duration", Some("30s"))
    );
    let plans = explain("partner.plans").unwrap();
    assert_eq!((plans.value_type.as_str(), plans.fields.len()), ("list of mappings", 2));
    let plan = explain("partner.plans[0].id").unwrap();
    assert_eq!((plan.path.as_str(), plan.required), ("partner.plans[].id", true));
    let url = explain("notify.ops.url").unwrap();
    assert_eq!((url.path.as_str(), url.privacy), ("notify.NAME.url", Some("secret")));
    let limit = explain("policy.limits.merchants.acme.per_day").unwrap();
    assert_eq!(limit.value_type, "list of amounts");
    assert_eq!(explain("policy.limits.live.per_day").unwrap().value_type, "list of amounts");
    assert_eq!(explain("doubt.contact").unwrap().allowed, ["recreate", "hold"]);
    assert_eq!(explain("trusted_proxies").unwrap().value_type, "list of networks");
    assert!(explain("notify.ops.mail.to").unwrap().required);
}

#[test]
fn a_name_that_does_not_exist_is_told_with_the_nearest() {
    let help = |path: &str| explain(path).unwrap_err();
    assert_eq!(help("servce"), "did you mean `service`?");
    assert_eq!(help("service.timout"), "did you mean `service.timeout`?");
    assert_eq!(help("notify.ops.utl"), "did you mean `notify.ops.url`?");
    assert!(help("file").starts_with("write one of `apiVersion`"), "{}", help("file"));
}

/// Returns the names that the reader suggests for an unknown key of a section.
fn known_to_the_reader(section: &str) -> BTreeSet<String> {
    let unknown = format!("{section}.{}", "q".repeat(20));
    let problems = parse(&body(unknown.trim_start_matches('.'), "1")).unwrap_err();
    let found = problems.iter().find(|one| one.code == "reckon::config::unknown_key");
    let help = &found.unwrap_or_else(|| panic!("{section}: {problems:?}")).help;
    help.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_sections_have_the_keys_that_the_reader_knows() {
    let mut sections: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for field in explain("").unwrap().fields {
        let (section, name) = field.path.rsplit_once('.').unwrap_or(("", &field.path));
        sections.entry(section.to_owned()).or_default().insert(name.to_owned());
    }
    assert!(sections.len() > 15, "{sections:?}");
    for (section, names) in sections {
        assert_eq!(known_to_the_reader(&section), names, "{section}");
    }
}

/// Returns everything that has a default, with every setting read.
fn resolved(config: &Config) -> String {
    let nothing = |_: &str| None;
    let prune = config.policy.prune.get(&nothing).unwrap();
    format!(
        "{:?}",
        (
            (&config.service, &config.specs, &config.scripts, &config.state, &config.listen),
            (&config.webhooks, &config.events, &config.store, &config.doubt),
            (&config.policy.amounts, config.policy.approvals.rules(&nothing).unwrap()),
            (prune.percent.value, prune.refuse_empty.value),
            (prune.refuse_renames.value, prune.delay.value),
        )
    )
}

#[test]
fn a_default_is_what_a_file_without_the_field_gets() {
    let without = resolved(&parse("").unwrap());
    let fields = explain("").unwrap().fields;
    let mut compared = Vec::new();
    for field in
        fields.iter().filter(|field| !field.path.contains(ANY_NAME) && !field.path.contains("[]"))
    {
        let Some(default) = &field.default else { continue };
        if field.path.starts_with("policy.approvals.signed") {
            continue;
        }
        let with = parse(&body(&field.path, default));
        let with = with.unwrap_or_else(|problems| panic!("{}: {problems:?}", field.path));
        assert_eq!(resolved(&with), without, "{}", field.path);
        compared.push(field.path.clone());
    }
    assert!(compared.len() >= 15, "{compared:?}");
}

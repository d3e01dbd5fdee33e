//! Laws of `reckon.yaml`.

use super::*;
use crate::config::notify::NotifyTarget;
use crate::config::read::{InvalidConfig, LoadError};
use crate::notify::message::{BodyFormat, SmtpEncryption};

const HEAD: &str = "apiVersion: reckon.dev/v1\nkind: Config\n";
const NOTHING: fn(&str) -> Option<String> = |_| None;

fn parse(body: &str) -> Result<Config, InvalidConfig> {
    Config::parse("reckon.yaml", Path::new("/work"), format!("{HEAD}{body}").into_bytes())
}

/// Checks `line:column+length code` of every problem.
fn check(body: &str, expect: &[&str]) {
    let problems = parse(body).map_or_else(|broken| broken.problems, |_| Vec::new());
    let places = problems.iter().map(|problem| {
        let code = problem.code.trim_start_matches("reckon::");
        format!("{}:{}+{} {code}", problem.line, problem.column, problem.length)
    });
    assert_eq!(places.collect::<Vec<_>>(), expect, "{body}");
}

fn folders(config: &Config) -> Vec<PathBuf> {
    config.specs.iter().map(|folder| folder.get(&NOTHING).unwrap()).collect()
}

#[test]
fn specs_are_one_folder_or_several_in_their_order() {
    let several = parse("specs: [base, /other/live]\n").unwrap();
    assert_eq!(folders(&several), [Path::new("/work/base"), Path::new("/other/live")]);
    assert_eq!(folders(&parse("specs: base\n").unwrap()), [Path::new("/work/base")]);
    check("specs: []\n", &["3:8+2 config::value"]);
}

#[test]
fn an_almost_empty_file_has_every_default() {
    let config = parse("").unwrap();
    assert_eq!(folders(&config), [Path::new("/work/specs")]);
    assert_eq!(config.state.get(&NOTHING).unwrap(), Path::new("/work/.reckon"));
    assert_eq!(config.scripts.get(&NOTHING).unwrap(), Path::new("/work/scripts"));
    assert_eq!(config.listen.get(&NOTHING).unwrap().to_string(), "127.0.0.1:8780");
    assert_eq!(config.service.timeout.get(&NOTHING).unwrap(), Duration::from_secs(30));
    assert_eq!(config.doubt.grace.get(&NOTHING).unwrap(), Duration::from_secs(30));
    assert_eq!(config.doubt.contact.get(&NOTHING).unwrap(), OnDoubt::Recreate);
    assert!(!config.check_context(&NOTHING).unwrap().decimal_amounts_only);
    assert!(config.check_context(&NOTHING).unwrap().files.is_none(), "no file may be named");
    assert!(config.partner.name.is_none() && config.secrets.key.is_none());
}

#[test]
fn every_key_of_the_design_is_read() {
    let config = parse(
        "partner: {name: acme, client_id: {env: ID}, client_secret: {env: SECRET}, \
         redirect_uri: https://partner.example/callback, plans: [{id: basic, trust: true}, {id: {env: PLAN}}]}\n\
         service: {base_url: 'https://127.0.0.1:8700/', web_url: 'http://[::1]:80', portal_url: https://p.example, \
         brands: [https://b.example], ca_file: .reckon/sandbox/ca.pem, timeout: 2h}\n\
         secrets:\n  key: {env: KEY}\n  env: [CODE_*, ONE]\n  files: /abs\n  attachments: letters\n  exec: {jane: [vault, {env: PLAN}, -x]}\n  age: {file: age.key}\n\
         specs: ./tree\nscripts: hooks\nstate: ../state\nlisten: '[::1]:0'\n\
         policy: {amounts: decimal}\nnotify: {}\ndoubt: {grace: 500ms, contact: hold}\n",
    )
    .unwrap();
    let env = |name: &str| match name {
        "ID" => Some("client".to_owned()),
        "KEY" => Some("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_owned()),
        "PLAN" => Some("pro".to_owned()),
        _ => None,
    };
    let partner = &config.partner;
    assert_eq!(
        config.require("partner.name", partner.name.as_ref(), &env).unwrap().as_str(),
        "acme"
    );
    assert_eq!(
        config.require("partner.client_id", partner.client_id.as_ref(), &env).unwrap(),
        "client"
    );
    assert_eq!(partner.plans[1].id.get(&env).unwrap(), "pro");
    assert!(
        partner.plans[0].trust.get(&env).unwrap() && !partner.plans[1].trust.get(&env).unwrap()
    );
    let cx = config.check_context(&env).unwrap();
    assert_eq!(cx.web_urls, ["http://[::1]:80", "https://b.example"]);
    assert!(cx.decimal_amounts_only);
    let folder = config.secrets.attachments.as_ref().unwrap().get(&env).unwrap();
    assert_eq!(folder, Path::new("/work/letters"));
    assert!(cx.files.is_some(), "specs may name what is in it");
    let base = config.service.base_url.as_ref().unwrap().get(&env).unwrap();
    assert_eq!(base.as_str(), "https://127.0.0.1:8700");
    assert_eq!(config.secrets.key.as_ref().unwrap().get(&env).unwrap().0.expose(), [0; 32]);
    assert_eq!(config.secrets.files.as_ref().unwrap().get(&env).unwrap(), Path::new("/abs"));
    let program = config.secrets.exec["jane"].iter().map(|one| one.get(&env).unwrap());
    assert_eq!(program.collect::<Vec<_>>(), ["vault", "pro", "-x"]);
    assert_eq!(cx.programs.as_deref(), Some(&["jane".to_owned()][..]));
    let identity = config.secrets.age.as_ref().unwrap();
    assert_eq!(identity.get(&env).unwrap(), Path::new("/work/age.key"));
    assert_eq!(config.state.get(&env).unwrap(), Path::new("/work/../state"));
    assert_eq!(config.doubt.grace.get(&env).unwrap(), Duration::from_millis(500));
    assert_eq!(config.service.timeout.get(&env).unwrap(), Duration::from_hours(2));
}

#[test]
fn loading_reads_no_variable_and_the_first_use_tells_which_is_unset() {
    let config = parse("partner:\n  client_secret:\n    env: SECRET\n").unwrap();
    let secret = config.partner.client_secret.as_ref();
    let error = config.require("partner.client_secret", secret, &NOTHING).unwrap_err();
    assert_eq!(error.to_string(), "the variable `SECRET`, which reckon.yaml:5 names, is not set");
    let missing = config.require("partner.client_id", config.partner.client_id.as_ref(), &NOTHING);
    assert_eq!(missing.unwrap_err().to_string(), "`partner.client_id` is missing in reckon.yaml");
}

#[test]
fn the_text_of_a_variable_that_does_not_fit_is_not_told() {
    let config = parse("secrets: {key: {env: KEY}}\nlisten: {env: WHERE}\n").unwrap();
    let env = |_: &str| Some("hunter2".to_owned());
    let key = config.secrets.key.as_ref().unwrap().get(&env).unwrap_err().to_string();
    let listen = config.listen.get(&env).unwrap_err().to_string();
    for said in [key, listen] {
        assert!(said.contains("reckon.yaml:") && !said.contains("hunter2"), "{said}");
    }
}

#[test]
fn mistakes_are_told_all_at_once_and_by_place() {
    check(
        "partnr: {}\npartner: {nam: x}\nscript: x\nsecrets: {exc: {}, agge: {}}\nnotify: {chat: x}\n",
        &[
            "3:1+6 config::unknown_key",
            "4:11+3 config::unknown_key",
            "5:1+6 config::unknown_key",
            "6:11+3 config::unknown_key",
            "6:20+4 config::unknown_key",
            "7:10+4 config::value",
        ],
    );
    check(
        "listen: 8780\nscripts: [a]\nservice: x\npolicy:\n  amounts: both\ndoubt:\n  grace: 30\n",
        &[
            "3:9+4 config::value",
            "4:10+3 config::value",
            "5:10+1 config::value",
            "7:12+4 config::value",
            "9:10+2 config::value",
        ],
    );
    check(
        "state: {env: A B}\nspecs: {file: x}\nlisten: {env: A, x: 1}\n",
        &["3:8+10 config::value", "4:8+9 config::value", "5:9+14 config::value"],
    );
    check(
        "secrets: {env: ['*', A-B, X*]}\npartner: {plans: [x, {trust: true}], name: No}\n",
        &[
            "3:17+3 config::value",
            "3:22+3 config::value",
            "4:19+1 config::value",
            "4:22+13 config::missing",
            "4:44+2 config::value",
        ],
    );
    check(
        "secrets: {exec: {a b: [x], b: x, c: [[y]], d: []}, age: {}}\n",
        &[
            "3:18+3 config::value",
            "3:28+1 config::value",
            "3:38+3 config::value",
            "3:44+1 config::value",
            "3:57+2 config::missing",
        ],
    );
    check("secrets: {exec: [x], age: x}\n", &["3:17+3 config::value", "3:27+1 config::value"]);
    check("a: 'x\n", &["3:4+1 yaml::syntax"]);
    check("state: a\nstate: b\n", &["4:1+5 yaml::duplicate_key"]);
    check("---\nkind: Config\n", &["4:1+1 config::second_document"]);
}

#[test]
fn the_head_is_as_in_every_file() {
    let codes = |text: &str| {
        let broken = Config::parse("c", Path::new("."), text.as_bytes().to_vec()).unwrap_err();
        broken.problems.into_iter().map(|problem| problem.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(""), ["reckon::config::empty"]);
    assert_eq!(codes("- a\n"), ["reckon::config::not_a_mapping"]);
    assert_eq!(codes("kind: Merchant\n"), ["reckon::config::missing", "reckon::config::value"]);
    assert_eq!(codes("a: \0\n"), ["reckon::yaml::nul"]);
}

#[test]
fn plain_http_is_for_loopback_addresses_only() {
    for good in ["http://127.0.0.1:8700", "http://127.9.9.9", "http://[::1]:1", "https://x.example"]
    {
        assert!(HttpUrl::from_text(good, Path::new("")).is_ok(), "{good}");
    }
    for bad in [
        "http://localhost:1",
        "http://10.0.0.1",
        "http://x.example",
        "ftp://127.0.0.1",
        "x",
        "",
        "https://",
        "https://me@x.example",
        "http://127.0.0.1.x.example",
        "/a",
    ] {
        assert!(HttpUrl::from_text(bad, Path::new("")).is_err(), "{bad}");
    }
}

#[test]
fn lengths_of_time_have_a_unit() {
    for (text, seconds) in
        [("30s", 30), ("5m", 300), ("2h", 7200), ("7d", 604_800), ("2w", 1_209_600)]
    {
        assert_eq!(Duration::from_text(text, Path::new("")), Ok(Duration::from_secs(seconds)));
    }
    for bad in
        ["30", "s", "", "-1s", "1.5h", "1 h", "99999999999999999999s", "18446744073709551615h"]
    {
        assert!(Duration::from_text(bad, Path::new("")).is_err(), "{bad}");
    }
}

#[test]
fn specs_may_read_open_variables_but_none_that_the_file_reads() {
    let config = parse("secrets: {env: [CODE_*, ONE], key: {env: CODE_KEY}}\n").unwrap();
    let variables = config.open_variables(&NOTHING).unwrap();
    assert!(variables.is_open("CODE_JANE") && variables.is_open("ONE"));
    for closed in ["CODE_KEY", "ONE_MORE", "HOME", ""] {
        assert!(!variables.is_open(closed), "{closed}");
    }
}

#[test]
fn neither_a_problem_nor_the_text_beside_it_shows_a_secret() {
    let body = "partner: {client_secret: hunter2, redirect_uri: hunter2}\nsecrets: {key: AAAA}\n";
    let broken = parse(body).unwrap_err();
    let masked = "partner: {client_secret: •••••••, redirect_uri: hunter2}\nsecrets: {key: ••••}\n";
    assert_eq!(*broken.source.source().text, format!("{HEAD}{masked}"));
    let said: Vec<_> = broken.problems.iter().map(|problem| problem.message.as_str()).collect();
    let expect = ["`•••` is not a web address", "the key is not 32 bytes in base64"];
    assert_eq!(said, expect);
}

#[test]
fn a_file_that_is_not_there_is_no_mistake_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(FILE_NAME);
    assert!(matches!(Config::load(&file), Err(LoadError::Unreadable { .. })));
    std::fs::write(&file, HEAD).unwrap();
    let config = Config::load(&file).unwrap();
    assert_eq!(folders(&config), [dir.path().join("specs")]);
    std::fs::write(&file, "x").unwrap();
    assert!(matches!(Config::load(&file), Err(LoadError::Invalid(_))));
}

#[test]
fn targets_of_notifications_are_read_and_never_shown() {
    let body = "notify:\n  ops: {url: https://chat.example/secret-path, type: chat}\n  payers:\n    mail: \
        {to: [{env: OPS}, b@b.example], from: c@c.example, host: smtp.example, password: {env: PASS}, encryption: tls}\n";
    let config = parse(body).unwrap();
    let names: Vec<&str> = config.notify.keys().map(Name::as_str).collect();
    assert_eq!(names, ["ops", "payers"]);
    let debug = format!("{:?}", config.notify);
    assert!(!debug.contains("secret-path") && !debug.contains("c@c"), "{debug}");
    let env = |name: &str| (name == "OPS").then(|| "ops@a.example".to_owned());
    let mut targets = config.notify.values();
    let Some(NotifyTarget::Web { url, form, .. }) = targets.next() else { panic!("a web target") };
    assert_eq!(url.get(&env).unwrap().0.expose(), "https://chat.example/secret-path");
    assert_eq!(form.get(&env).unwrap(), BodyFormat::Chat);
    let Some(NotifyTarget::Mail(mail)) = targets.next() else { panic!("a mail target") };
    let to: Vec<String> =
        mail.to.iter().map(|to| to.get(&env).unwrap().0.expose().to_owned()).collect();
    assert_eq!(to, ["ops@a.example", "b@b.example"]);
    assert_eq!(mail.from.get(&env).unwrap().0.expose(), "c@c.example");
    assert_eq!(mail.host.get(&env).unwrap(), "smtp.example");
    assert_eq!(mail.encryption.get(&env).unwrap(), SmtpEncryption::Tls);
    assert!(mail.port.is_none() && mail.user.is_none() && mail.password.is_some());
}

#[test]
fn a_wrong_target_is_told_without_its_address() {
    check(
        "notify: {ops: {url: http://chat.example/x, type: chta}}\n",
        &["3:21+21 config::value", "3:50+4 config::value"],
    );
    check(
        "notify: {Ops: {url: https://c.example}, two: x, no: {}}\n",
        &[
            "3:10+3 config::missing",
            "3:10+3 config::value",
            "3:41+3 config::value",
            "3:49+2 config::missing",
        ],
    );
    check(
        "notify: {m: {mail: {to: [x], port: 0}}}\n",
        &[
            "3:10+1 config::missing",
            "3:10+1 config::missing",
            "3:26+1 config::value",
            "3:36+1 config::value",
        ],
    );
    check(
        "notify: {m: {mail: {}, type: json, url: https://c.example}}\n",
        &["3:10+1 config::value"],
    );
    let broken =
        parse("notify: {ops: {url: http://chat.example/secret, type: chat}}\n").unwrap_err();
    assert!(!format!("{broken:?}").contains("secret"), "{broken:?}");
}

#[test]
fn networks_and_rates_of_posts_are_read_and_checked() {
    let config = parse(
        "trusted_proxies: [10.0.0.1/8, 'fd00::1']\nwebhooks: {gateway: [192.0.2.7], partner: [{env: NET}], rate: 300}\n",
    )
    .unwrap();
    let env = |name: &str| (name == "NET").then(|| "2001:db8::/32".to_owned());
    let all = |networks: &[Setting<IpNet>]| {
        networks.iter().map(|one| one.get(&env).unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(all(&config.trusted_proxies), ["10.0.0.0/8", "fd00::1/128"]);
    assert_eq!(all(&config.webhooks.gateway), ["192.0.2.7/32"]);
    assert_eq!(all(&config.webhooks.partner), ["2001:db8::/32"]);
    let rates = |webhooks: &WebhookSettings| {
        let (rate, burst) = webhooks.rates(&env).unwrap();
        (rate.get(), burst.get())
    };
    assert_eq!(rates(&config.webhooks), (300, 1500));
    assert_eq!(rates(&WebhookSettings::default()), (200, 1000), "closes S13: what a disk survives");
    let config = parse("webhooks: {rate: 50, burst: 60}\n").unwrap();
    assert_eq!(rates(&config.webhooks), (50, 60));
    check(
        "trusted_proxies: [ten]\nwebhooks: {gateway: [192.0.2.0/33], rate: 0, rates: 1}\n",
        &[
            "3:19+3 config::value",
            "4:22+12 config::value",
            "4:43+1 config::value",
            "4:46+5 config::unknown_key",
        ],
    );
}

/// Closes S7: the rights of scripts are a list of powers, or powers with merchants.
#[test]
fn s7_rights_of_scripts_are_read() {
    use crate::policy::ScriptPower;
    let rights = |body: &str| {
        let config = parse(&format!("policy: {{scripts: {{allow: {body}}}}}\n")).unwrap();
        config.policy.scripts.get(&|_: &str| None).unwrap()
    };
    let acme = "Merchant/acme".parse().unwrap();
    let listed = rights("[refund, mail]");
    assert!(
        listed.allows(ScriptPower::Refund, Some(&acme)) && !listed.allows_any(ScriptPower::Charge)
    );
    let mapped = rights("{refund: [acme, books/two], mail: all}");
    assert!(
        mapped.allows(ScriptPower::Refund, Some(&acme)) && mapped.allows(ScriptPower::Mail, None)
    );
    assert!(!mapped.allows(ScriptPower::Refund, Some(&"Merchant/two".parse().unwrap())));
    for wrong in ["[refnd]", "{refnd: all}", "{refund: some}", "{refund: [A/B/C]}", "yes"] {
        let broken = parse(&format!("policy: {{scripts: {{allow: {wrong}}}}}\n")).unwrap_err();
        assert_eq!(broken.problems.len(), 1, "{wrong}: {:?}", broken.problems);
    }
}

/// Closes S7: `to: any` opens a target to any address.
#[test]
fn s7_a_mail_target_says_whether_it_takes_any_address() {
    let any = |to: &str| {
        let config = parse(&format!(
            "notify: {{m: {{mail: {{to: {to}, from: a@b.example, host: smtp.b.example}}}}}}\n"
        ));
        let config = config.unwrap();
        let Some(NotifyTarget::Mail(mail)) = config.notify.values().next() else {
            panic!("no mail")
        };
        (mail.to.len(), mail.allows_any_recipient)
    };
    assert_eq!(any("[a@b.example]"), (1, false));
    assert_eq!(any("any"), (0, true));
    assert_eq!(any("[a@b.example, any]"), (1, true));
}

//! Notifications of the daemon's hooks: the targets of `notify`, read when the first one is needed,
//! and the delivery to them.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::base::clock::SystemClock;
use crate::base::id::Name;
use crate::base::secret::Secret;
use crate::cli::commands::sandbox::command::WebhookAddresses;
use crate::cli::context::open::Context;
use crate::config::notify::{MailTarget, NotifyTarget};
use crate::config::setting::{ConfigError, EnvSource, FromText, ProcessEnv, Setting};
use crate::config::settings::Config;
use crate::engine::hooks::notify::{DeliveryAttempt, NotificationSender};
use crate::engine::protocol::payers::IntakeLink;
use crate::notify::alert::AlertTarget;
use crate::notify::deliver::Notifier;
use crate::notify::message::{
    BodyFormat, DeliveryResult, NotificationTarget, OutgoingNotification, SmtpEncryption,
    SmtpLogin, SmtpTarget,
};

const PORT: u16 = 587;
/// Port for mail submission with TLS from the first byte on.
const PORT_TLS: u16 = 465;

/// Returns every target by its name. Reads environment variables, so it is called only when the
/// outbox is needed.
///
/// # Errors
/// All settings that are unset or invalid, and a user without a password or the other way round.
pub(crate) fn targets(
    config: &Config,
    env: &dyn EnvSource,
) -> Result<BTreeMap<String, NotificationTarget>, Vec<ConfigError>> {
    let mut reading = SettingReader { env, file: config.file.clone(), errors: Vec::new() };
    let targets = config.notify.iter();
    let targets =
        targets.filter_map(|(name, target)| Some((name.to_string(), reading.target(target)?)));
    let targets = targets.collect();
    if reading.errors.is_empty() { Ok(targets) } else { Err(reading.errors) }
}

struct SettingReader<'a> {
    env: &'a dyn EnvSource,
    file: Arc<str>,
    errors: Vec<ConfigError>,
}

impl SettingReader<'_> {
    fn get<T: FromText + Clone>(&mut self, setting: &Setting<T>) -> Option<T> {
        setting.get(self.env).map_err(|error| self.errors.push(error)).ok()
    }

    fn target(&mut self, target: &NotifyTarget) -> Option<NotificationTarget> {
        match target {
            NotifyTarget::Web { url, form, .. } => {
                let (url, form) = (self.get(url), self.get(form));
                Some(NotificationTarget::Web { url: url?.0, form: form? })
            }
            NotifyTarget::Mail(mail) => Some(NotificationTarget::Mail(Box::new(self.mail(mail)?))),
        }
    }

    /// Reads every setting, so that all errors are collected before the first one ends it.
    fn mail(&mut self, mail: &MailTarget) -> Option<SmtpTarget> {
        let MailTarget { to, from, host, port, user, password, encryption, .. } = mail;
        let to: Vec<_> = to.iter().map(|to| self.get(to)).collect();
        let (from, host, encryption) = (self.get(from), self.get(host), self.get(encryption));
        let port = port.as_ref().map(|port| self.get(port));
        let login = self.login(user.as_ref(), password.as_ref());
        let encryption = encryption?;
        Some(SmtpTarget {
            to: to.into_iter().map(|to| Some(to?.0)).collect::<Option<_>>()?,
            from: from?.0,
            host: host?,
            port: port.unwrap_or_else(|| Some(usual_port(encryption)))?,
            login,
            encryption,
        })
    }

    /// Returns the login, if one is configured. One half without the other is an error.
    fn login(
        &mut self,
        user: Option<&Setting<String>>,
        password: Option<&Setting<Secret>>,
    ) -> Option<SmtpLogin> {
        if user.is_some() != password.is_some() {
            let path = if user.is_none() { "notify.*.mail.user" } else { "notify.*.mail.password" };
            self.errors.push(ConfigError::Missing { path, file: self.file.clone() });
        }
        let user = user.and_then(|user| self.get(user));
        let password = password.and_then(|password| self.get(password));
        Some(SmtpLogin { user: Secret::from(user?), password: password? })
    }
}

fn usual_port(encryption: SmtpEncryption) -> u16 {
    match encryption {
        SmtpEncryption::Tls => PORT_TLS,
        SmtpEncryption::Starttls | SmtpEncryption::None => PORT,
    }
}

#[derive(derive_more::Debug)]
#[debug("Post(…)")]
pub(crate) struct DaemonNotifier {
    setup: Arc<Context>,
    addresses: WebhookAddresses,
    /// True in a rehearsal, where no notification is sent.
    is_rehearsal: bool,
    outbox: OnceLock<Result<Notifier, String>>,
}

impl DaemonNotifier {
    /// Creates the notifier of this configuration; links begin with the public address where there
    /// is one. In a rehearsal it delivers nothing, since a sandbox made the events up.
    pub(crate) fn new(setup: Arc<Context>, addresses: WebhookAddresses, rehearses: bool) -> Self {
        let public = setup.config.public_url.as_ref().and_then(|url| url.get(&ProcessEnv).ok());
        let base = public.map_or_else(|| addresses.base.clone(), |url| url.as_str().to_owned());
        let addresses = WebhookAddresses { base, ..addresses };
        Self { setup, addresses, is_rehearsal: rehearses, outbox: OnceLock::new() }
    }

    fn outbox(&self) -> Result<&Notifier, String> {
        let made = self.outbox.get_or_init(|| {
            let targets = targets(&self.setup.config, &ProcessEnv);
            let targets = targets.map_err(|errors| {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                errors.join("; ")
            })?;
            Ok(Notifier::new(targets, Arc::new(SystemClock)))
        });
        made.as_ref().map_err(Clone::clone)
    }
}

impl NotificationSender for DaemonNotifier {
    fn deliver<'a>(&'a self, message: &'a OutgoingNotification) -> DeliveryAttempt<'a> {
        Box::pin(async move {
            if self.is_rehearsal {
                // The text may hold a payer's link.
                let (target, key) = (message.target.as_str(), message.key.as_str());
                tracing::info!(
                    target_name = target,
                    key,
                    "rehearsal: the notification is not sent"
                );
                return DeliveryResult::Done;
            }
            match self.outbox() {
                Ok(outbox) => outbox.send(message).await,
                Err(why) => DeliveryResult::NotSent(why),
            }
        })
    }

    fn allows_any_address(&self, target: &str) -> bool {
        let target = self.setup.config.notify.iter().find(|(name, _)| name.as_str() == target);
        matches!(target, Some((_, NotifyTarget::Mail(mail))) if mail.allows_any_recipient)
    }

    fn drops_repeats(&self, target: &str) -> bool {
        let mut targets = self.setup.config.notify.iter();
        let target = targets.find(|(name, _)| name.as_str() == target);
        target.is_some_and(|(_, target)| target.is_at_least_once(&ProcessEnv))
    }

    fn alert_targets(&self) -> Vec<AlertTarget> {
        let target = |(name, target): (&Name, &NotifyTarget)| AlertTarget {
            name: name.to_string(),
            choices: target.alerts().clone(),
            is_program: matches!(target, NotifyTarget::Web { form, .. }
                if form.get(&ProcessEnv) == Ok(BodyFormat::Json)),
        };
        self.setup.config.notify.iter().map(target).collect()
    }

    fn intake_address(&self, link: &IntakeLink) -> String {
        self.addresses.outside.intake_url(&self.addresses.base, link)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::notify::message::BodyFormat;

    fn read(body: &str) -> Result<BTreeMap<String, NotificationTarget>, Vec<ConfigError>> {
        let text = format!("apiVersion: reckon.dev/v1\nkind: Config\nnotify:\n{body}");
        let config = Config::parse("reckon.yaml", Path::new("/work"), text.into_bytes()).unwrap();
        let env = |name: &str| match name {
            "CHAT" => Some("https://chat.example/canary".to_owned()),
            "PASSWORD" => Some("canary-password".to_owned()),
            "ODD" => Some("canary".to_owned()),
            _ => None,
        };
        targets(&config, &env)
    }

    fn mail(body: &str) -> SmtpTarget {
        let targets =
            read(&format!("  m: {{mail: {{to: [a@a.example], from: f@f.example, {body}}}}}\n"));
        let target = targets.unwrap().remove("m");
        let Some(NotificationTarget::Mail(mail)) = target else { panic!("{target:?}") };
        *mail
    }

    #[test]
    fn every_target_is_read_and_none_is_shown() {
        let targets = read(
            "  chat: {url: {env: CHAT}, type: chat}\n  program: {url: https://p.example/canary, type: json}\n  \
             payers: {mail: {to: [canary@a.example], from: canary@f.example, host: smtp.example, user: canary, \
             password: {env: PASSWORD}}}\n",
        )
        .unwrap();
        assert_eq!(targets.keys().collect::<Vec<_>>(), ["chat", "payers", "program"]);
        assert!(!format!("{targets:?}").contains("canary"), "{targets:?}");
        let Some(NotificationTarget::Web { url, form: BodyFormat::Chat }) = targets.get("chat")
        else {
            panic!("{targets:?}")
        };
        assert_eq!(url.expose(), "https://chat.example/canary");
        let Some(NotificationTarget::Mail(mail)) = targets.get("payers") else {
            panic!("{targets:?}")
        };
        assert_eq!(mail.to.first().unwrap().expose(), "canary@a.example");
        assert_eq!(mail.login.as_ref().unwrap().password.expose(), "canary-password");
    }

    #[test]
    fn the_port_follows_the_encryption_where_none_is_written() {
        let port = |body: &str| (mail(body).port, mail(body).encryption);
        assert_eq!(port("host: s.example"), (587, SmtpEncryption::Starttls));
        assert_eq!(port("host: s.example, encryption: tls"), (465, SmtpEncryption::Tls));
        assert_eq!(port("host: 127.0.0.1, encryption: none"), (587, SmtpEncryption::None));
        assert_eq!(port("host: s.example, port: 2525").0, 2525);
    }

    #[test]
    fn all_that_is_unset_or_does_not_fit_is_told_at_once() {
        let errors = read(
            "  chat: {url: {env: ODD}, type: {env: NOTHING}}\n  m: {mail: {to: [{env: TO}, {env: ODD}], \
             from: f@f.example, host: {env: HOST}, user: jane}}\n",
        )
        .unwrap_err();
        let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 6, "{told:#?}");
        assert!(told.iter().all(|line| !line.contains("canary")), "{told:#?}");
        assert!(told.contains(&"`notify.*.mail.password` is missing in reckon.yaml".to_owned()));
        let both = "  m: {mail: {to: [a@a.example], from: f@f.example, host: s.example, password: {env: PASSWORD}}}\n";
        let told = read(both).unwrap_err();
        assert_eq!(
            told.first().unwrap().to_string(),
            "`notify.*.mail.user` is missing in reckon.yaml"
        );
    }
}

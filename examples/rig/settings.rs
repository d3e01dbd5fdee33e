//! The `reckon.yaml` of a tree.

use std::path::Path;
use std::{fs, io};

/// The settings that differ between trees.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Settings {
    /// The address of the service.
    #[arg(long, default_value = "http://127.0.0.1:8700")]
    pub(crate) base_url: String,
    /// The authority of an https service, as `reckon.yaml` names it.
    #[arg(long)]
    pub(crate) ca_file: Option<String>,
    /// The address at which the daemon listens.
    #[arg(long, default_value = "127.0.0.1:8780")]
    pub(crate) listen: String,
    /// The state directory, as `reckon.yaml` names it.
    #[arg(long, default_value = ".reckon")]
    pub(crate) state: String,
    /// The longest time of a call.
    #[arg(long, default_value = "30s")]
    pub(crate) timeout: String,
    /// Time after the timeout in which a call may still take effect.
    #[arg(long, default_value = "30s")]
    pub(crate) grace: String,
    /// The partner's redirect address.
    #[arg(long, default_value = "https://partner.example/callback")]
    pub(crate) redirect_uri: String,
}

/// The partner's name in every tree.
pub(crate) const PARTNER: &str = "acme";

/// Writes `reckon.yaml` into `folder`.
pub(crate) fn write(folder: &Path, settings: &Settings) -> io::Result<()> {
    let Settings { base_url, ca_file, listen, state, timeout, grace, redirect_uri } = settings;
    let ca_file = ca_file.as_ref().map(|file| format!("  ca_file: {file}\n")).unwrap_or_default();
    let text = format!(
        "apiVersion: reckon.dev/v1\nkind: Config\n\
         partner:\n  name: {PARTNER}\n  client_id: {{env: RECKON_CLIENT_ID}}\n  \
         client_secret: {{env: RECKON_CLIENT_SECRET}}\n  redirect_uri: {redirect_uri}\n\
         service:\n  base_url: {base_url}\n  web_url: {base_url}\n  portal_url: {base_url}\n{ca_file}  timeout: {timeout}\n\
         secrets:\n  env: [CODE_*]\n  attachments: files\n\
         policy:\n  amounts: decimal\n  scripts: {{allow: [refund, charge, credit]}}\n\
         webhooks:\n  rate: 30000\n\
         doubt:\n  grace: {grace}\n  contact: recreate\n\
         specs: specs\nstate: {state}\nlisten: {listen}\n"
    );
    fs::create_dir_all(folder.join("files"))?;
    fs::write(folder.join("reckon.yaml"), text)
}

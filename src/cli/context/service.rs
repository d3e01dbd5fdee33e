//! The client of the service, from the configuration or from an embedded sandbox.

use std::io::Read;
use std::path::Path;

use super::machine;
use super::open::Context;
use super::state_handle::{Embedded, clock};
use crate::base::folder::{PathError, open_file};
use crate::cli::exit::CommandFailure;
use crate::client::config::{ClientCredentials, ServiceConfig};
use crate::client::service_client::Client;
use crate::client::transport::Transport;
use crate::config::setting::ProcessEnv;
use crate::engine::handles::shared::PartnerAccess;

/// Bytes that are read of a file of certificates, at most.
const PEM_BYTES_MAX: u64 = 1 << 20;

impl Context {
    /// Returns the client of the service.
    pub(crate) fn client(
        &self,
        embedded: Option<&Embedded>,
        partner: Option<&PartnerAccess>,
    ) -> Result<Client, CommandFailure> {
        let config = &self.config.service;
        let url = |path, setting| self.config.require(path, setting, &ProcessEnv);
        let (base_url, web_url, ca_file) = if let Some(embedded) = embedded {
            (embedded.base_url.clone(), embedded.base_url.clone(), embedded.ca.clone())
        } else {
            let base = url("service.base_url", config.base_url.as_ref())?.as_str().to_owned();
            let web = config.web_url.as_ref().map(|web| web.get(&ProcessEnv)).transpose()?;
            let web = web.map_or_else(|| base.clone(), |web| web.as_str().to_owned());
            (base, web, self.ca()?)
        };
        let partner = partner.map(|partner| ClientCredentials {
            client_id: partner.client_id.expose().to_owned(),
            client_secret: partner.client_secret.clone(),
        });
        let timeout = config.timeout.get(&ProcessEnv)?;
        let jitter_seed = machine::seed()?;
        let service = ServiceConfig { base_url, web_url, timeout, ca_file, partner, jitter_seed };
        let failed = |error| CommandFailure::environment("reckon::service", error);
        let transport = Transport::http(&service).map_err(failed)?;
        Client::new(service, transport, clock(embedded)).map_err(failed)
    }

    /// Reads the extra authority's certificate, PEM. A missing file counts as none: the sandbox
    /// writes the file when it first starts, and a call without it fails with a message of its own.
    fn ca(&self) -> Result<Option<Vec<u8>>, CommandFailure> {
        let Some(setting) = &self.config.service.ca_file else { return Ok(None) };
        let path = setting.get(&ProcessEnv)?;
        match pem(&path) {
            Ok(pem) => Ok(Some(pem)),
            Err(error) if error.is_absent() => Ok(None),
            Err(error) => {
                let what = format!("service.ca_file {}: {error}", path.display());
                Err(CommandFailure::environment("reckon::service::ca_file", what))
            }
        }
    }
}

/// Reads the certificates of a file.
///
/// # Errors
/// The file cannot be read, or is no plain file.
pub(crate) fn pem(path: &Path) -> Result<Vec<u8>, PathError> {
    let mut pem = Vec::new();
    open_file(path)?.take(PEM_BYTES_MAX).read_to_end(&mut pem)?;
    Ok(pem)
}

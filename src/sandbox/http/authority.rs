//! The sandbox's own certificate authority, made once for each state directory.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, crypto::ring};

/// The certificate that clients are configured to trust.
const CERTIFICATE_FILE: &str = "ca.pem";
/// The private key, readable only by its owner.
const KEY_FILE: &str = "ca.key";
const NAME: &str = "reckon sandbox authority";
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Returns the path of the authority's certificate, and a TLS configuration (1.2 or later) with a
/// fresh server certificate signed by it. Makes the authority if the directory has none.
pub(crate) fn server_config(directory: &Path) -> io::Result<(PathBuf, ServerConfig)> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let certificate = directory.join(CERTIFICATE_FILE);
    let key = load_or_make(&certificate, &directory.join(KEY_FILE))?;
    let issuer = Issuer::new(authority()?, key);
    let server_key = KeyPair::generate().map_err(io::Error::other)?;
    let names = OWN_NAMES.map(str::to_owned).to_vec();
    let params = CertificateParams::new(names).map_err(io::Error::other)?;
    let own = params.signed_by(&server_key, &issuer).map_err(io::Error::other)?;
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(server_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], private)
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok((certificate, config))
}

fn authority() -> io::Result<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.distinguished_name.push(DnType::CommonName, NAME);
    Ok(params)
}

/// Loads or makes the authority's key. The certificate is written last: without it, a key does not
/// count.
fn load_or_make(certificate: &Path, key: &Path) -> io::Result<KeyPair> {
    if certificate.exists() {
        let text = fs::read_to_string(key)?;
        return KeyPair::from_pem(&text).map_err(io::Error::other);
    }
    let pair = KeyPair::generate().map_err(io::Error::other)?;
    let own = authority()?.self_signed(&pair).map_err(io::Error::other)?;
    write(key, 0o600, &pair.serialize_pem())?;
    write(certificate, 0o644, &own.pem())?;
    Ok(pair)
}

/// Writes a file atomically: a draft, synced, then renamed.
fn write(path: &Path, mode: u32, text: &str) -> io::Result<()> {
    let draft = path.with_extension("draft");
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)
}

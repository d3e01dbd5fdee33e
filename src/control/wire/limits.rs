//! Requests over HTTP: one `POST` of one [`crate::control::protocol::ControlRequest`], answered by one
//! [`crate::control::protocol::Response`].
//!
//! A slow response sends a space every [`BEAT`] as keep-alive, so that no intermediary takes the
//! connection for dead; JSON ignores leading white space. Both sides must have one version:
//! requests are internal to this program, and no contract with others.

use std::time::Duration;

use crate::control::protocol::ControlError;

/// Path to which requests are posted.
pub const CONTROL_PATH: &str = "/api/v1/control";
/// Header in which both sides state their version.
pub const VERSION_HEADER: &str = "reckon-version";
/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Largest request, in bytes: it may hold a whole tree of specs.
pub const REQUEST_BYTES_MAX: usize = 128 << 20;
/// Largest response, in bytes.
pub const RESPONSE_BYTES_MAX: usize = 1 << 30;
/// Interval of the keep-alive spaces.
pub const BEAT: Duration = Duration::from_secs(10);
/// The client gives the connection up after this long without any byte.
pub const SILENCE_MAX: Duration = Duration::from_mins(2);

impl ControlError {
    /// A token is required, and the request had none.
    pub const TOKEN_NEEDED: &str = "token_needed";
    /// The token is not known.
    pub const WRONG_TOKEN: &str = "wrong_token";
    /// The token permits only reads.
    pub const READ_ONLY: &str = "read_only_token";
    /// The two sides have different versions.
    pub const OTHER_VERSION: &str = "version_mismatch";
}

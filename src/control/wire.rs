//! How requests travel over HTTP: one `POST` of one [`super::Request`], answered by one [`super::Response`].
//!
//! An answer may take long: while it is made, a blank is sent every [`BEAT`], which no reader of JSON minds, so that
//! nothing between the two takes the connection for dead. Both sides have to be of one version: a request is a word
//! of this program, and no contract with others.

use std::time::Duration;

use super::ControlError;

/// Where requests are posted.
pub const CONTROL_PATH: &str = "/api/v1/control";
/// The header in which both sides say their version.
pub const VERSION_HEADER: &str = "reckon-version";
/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The greatest request, in bytes: a whole tree of specs may be in it.
pub const REQUEST_BYTES_MAX: usize = 128 << 20;
/// The greatest response, in bytes.
pub const RESPONSE_BYTES_MAX: usize = 1 << 30;
/// A sign of life comes so often.
pub const BEAT: Duration = Duration::from_secs(10);
/// Without any sign for so long, the connection is given up.
pub const SILENCE_MAX: Duration = Duration::from_mins(2);

impl ControlError {
    /// A token is needed, and there was none.
    pub const TOKEN_NEEDED: &str = "token_needed";
    /// The token is not known.
    pub const WRONG_TOKEN: &str = "wrong_token";
    /// The token may only look.
    pub const READ_ONLY: &str = "read_only_token";
    /// The two sides are of different versions.
    pub const OTHER_VERSION: &str = "version_mismatch";
}

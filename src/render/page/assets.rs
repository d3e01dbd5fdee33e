//! The style sheet and the script of the page. Their addresses hold a digest of their content, so a
//! browser may keep them for ever.

use std::sync::LazyLock;

use crate::base::hash::sha256;
use crate::base::page_style::STYLES;

const OWN_STYLES: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Characters of a digest in an address.
const DIGEST_LENGTH: usize = 16;

/// A file of the page.
#[derive(Debug)]
pub struct Asset {
    pub path: String,
    pub content: String,
    pub content_type: &'static str,
}

pub static STYLE_SHEET: LazyLock<Asset> = LazyLock::new(|| {
    let content = format!("{STYLES}{OWN_STYLES}");
    asset("css", content, "text/css; charset=utf-8")
});

pub static PAGE_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| asset("js", SCRIPT.to_owned(), "text/javascript; charset=utf-8"));

fn asset(extension: &str, content: String, content_type: &'static str) -> Asset {
    let digest = sha256(content.as_bytes()).to_string();
    let digest: String = digest.chars().take(DIGEST_LENGTH).collect();
    Asset { path: format!("/page/{digest}.{extension}"), content, content_type }
}

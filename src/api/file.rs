//! Files for invoices (partner-api, Invoice, attachments): uploaded under a contact, processed,
//! then named by an invoice.
//!
//! The documents mention the upload and its processing, and show neither. Paths and forms here are
//! our own choice (docs/design/assumptions.md); the documents win.

use data_encoding::BASE64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::endpoints;
use crate::api::invoice::FileReference;
use crate::api::rules::{FieldProblem, FieldProblems};

/// Maximum size of a file, in bytes.
pub const FILE_BYTES_MAX: u64 = 10 << 20;
/// Maximum length of a file's name, in characters.
pub const FILE_NAME_LENGTH_MAX: usize = 255;
/// The `processing_state` of a file that an invoice may name (partner-api, Invoice).
pub const COMPLETED: &str = "completed";
/// The `processing_state` of a file before that.
pub const PROCESSING: &str = "processing";

/// The request that uploads a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["file_name", "content"]))]
pub struct NewFile {
    /// The file's name, as the payer sees it.
    #[schemars(
        length(min = 1, max = FILE_NAME_LENGTH_MAX),
        regex(pattern = r"^[^/\\\x00-\x1f\x7f]*[^/\\\s\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*$")
    )]
    pub file_name: String,
    /// The file's bytes in base64.
    #[schemars(extend("contentEncoding" = "base64"))]
    pub content: String,
}

/// Decodes the bytes of a new file.
///
/// # Errors
/// Every problem of the file, all at once.
pub fn bytes(new: &NewFile) -> Result<Vec<u8>, Vec<FieldProblem>> {
    let mut problems = FieldProblems::default();
    problems.require_text("file_name", "File name", &new.file_name);
    problems.length_max("file_name", "File name", Some(&new.file_name), FILE_NAME_LENGTH_MAX);
    if new.file_name.contains(['/', '\\']) || new.file_name.chars().any(char::is_control) {
        problems.add("file_name", "invalid", "File name is invalid");
    }
    let bytes = BASE64.decode(new.content.as_bytes());
    match &bytes {
        Err(_) => problems.add("content", "invalid", "Content is invalid"),
        Ok(bytes) if bytes.is_empty() => {
            problems.add("content", "not_blank", "Content cannot be blank");
        }
        Ok(bytes) if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX => {
            problems.add("content", "exceeds_maximum_value", "Content exceeds the maximum");
        }
        Ok(_) => {}
    }
    let problems = problems.into_list();
    if problems.is_empty() { Ok(bytes.unwrap_or_default()) } else { Err(problems) }
}

endpoints! {
    /// Uploads a file under a contact; it is processed afterwards.
    UploadFile "file.upload": Post Base "/contacts/{contact_id}/files" by Payments,
        NewFile => FileReference;
    /// Reads the processing state of a file.
    GetFile "file.get": Get Base "/contacts/{contact_id}/files/{id}" by Payments,
        () => FileReference;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(file_name: &str, content: &str) -> Vec<(String, String)> {
        let new = NewFile { file_name: file_name.to_owned(), content: content.to_owned() };
        let problems = bytes(&new).err().unwrap_or_default();
        problems.into_iter().map(|one| (one.context, one.sub_code)).collect()
    }

    #[test]
    fn a_file_has_a_plain_name_and_bytes() {
        let new = NewFile { file_name: "a.pdf".to_owned(), content: "JVBERg==".to_owned() };
        assert_eq!(bytes(&new), Ok(b"%PDF".to_vec()));
        let pair = |context: &str, code: &str| (context.to_owned(), code.to_owned());
        assert_eq!(wrong(" ", "x"), [pair("file_name", "not_blank"), pair("content", "invalid")]);
        assert_eq!(wrong("../a", ""), [pair("file_name", "invalid"), pair("content", "not_blank")]);
        assert_eq!(wrong(&"a".repeat(256), "YQ=="), [pair("file_name", "invalid_length")]);
    }

    #[test]
    fn a_file_is_not_larger_than_the_service_takes() {
        let most = usize::try_from(FILE_BYTES_MAX).unwrap();
        assert!(wrong("a", &BASE64.encode(&vec![7; most])).is_empty());
        let more = wrong("a", &BASE64.encode(&vec![7; most + 1]));
        assert_eq!(more, [("content".to_owned(), "exceeds_maximum_value".to_owned())]);
    }
}

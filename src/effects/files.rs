//! Uploads a file under a contact, so that invoices can name it (docs/design/assumptions.md). The
//! file is named by a document or supplied by a person.
//!
//! No documented list shows files, so no evidence could settle a lost upload: it is sent again. A
//! second copy that no invoice names does no harm and sends nothing. The intent's `about` holds the
//! file's identity (a keyed digest) and its contact. The file's bytes are read only when they are
//! sent, and sealed.

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::invoice::{COMPLETED, GetFile, NewFile, PROCESSING, UploadFile};
use crate::base::hash::keyed_digest;
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::expect;
use crate::effects::core::expect::text;
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, ReadingCx, ReadingError, ReadingRow, RemoteAnswer, RemoteQuery,
};
use crate::model::effect::{Effect, is_action};
use crate::model::intent::Intent;
use crate::model::manifest::AttachedFile;
use crate::model::state::observed::Observed;

/// Reading of a file's processing state, about `{contact, file, id}`.
pub const FILE_STATE: &str = "file.state";

/// Prefix of the fact about one uploaded file; its digest follows.
const FACT: &str = "file.";
/// Domain label of the file digests.
const LABEL: &str = "attachment";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownUpload {
    pub id: String,
    /// Set once processing has ended: an invoice may then name the file.
    pub processed: bool,
}

/// Returns the identity of a file under a contact: `{contact, file}`, the file as a keyed digest.
pub fn file_identity(contact: &RemoteId, file: &AttachedFile, key: &[u8; 32]) -> Value {
    let digest = keyed_digest(key, LABEL, file.sha256.as_bytes()).short();
    json!({"contact": contact, "file": digest})
}

/// Returns the known upload of the file `about`.
pub fn known_upload(known: &Observed, about: &Value) -> Option<KnownUpload> {
    let fact = known.fact(&fact_name(about));
    let same = fact.get("contact").is_some_and(|contact| Some(contact) == about.get("contact"));
    let text = |field| fact.get(field).and_then(Value::as_str);
    let processed = text("state") == Some(COMPLETED);
    Some(KnownUpload { id: text("id")?.to_owned(), processed }).filter(|_| same)
}

/// Uploads a file under a contact. The context's `applied` is the current state on the service; its
/// spec is null while no invoice exists.
pub fn upload_file(
    cx: EffectContext,
    contact: &RemoteId,
    file: &AttachedFile,
    about: Value,
) -> Effect {
    let content = json!({"$file": file.path, "sha256": file.sha256});
    upload(cx, contact, json!({"file_name": file.name, "content": content}), about)
}

/// Uploads content that a person supplied, as base64. No two commands upload the same file.
pub fn upload_content(cx: EffectContext, contact: &RemoteId, new: NewFile) -> Effect {
    let about = json!({"contact": contact, "file": cx.source_id.mark()});
    let NewFile { file_name, content } = new;
    upload(cx, contact, json!({"file_name": file_name, "content": content}), about)
}

fn upload(cx: EffectContext, contact: &RemoteId, body: Value, about: Value) -> Effect {
    let effect = cx.effect::<UploadFile>(ROW.name, &[contact.as_str()], body);
    effect.with_sealed_body().with_subject(about)
}

fn learn(intent: &Intent, reply: &Value) -> Result<Learned, String> {
    if is_action(&intent.key) {
        return Learned::object(reply, json!({"processing_state": state_word(reply)}));
    }
    let facts = file_fact(&intent.subject, &expect::id(reply)?, reply);
    Ok(Learned { exists: !intent.applied.spec.is_null(), facts, ..Learned::default() })
}

/// Returns the fact of a file, as an answer shows it.
fn file_fact(about: &Value, id: &RemoteId, reply: &Value) -> Value {
    let contact = about.get("contact");
    json!({fact_name(about): {"contact": contact, "id": id, "state": state_word(reply)}})
}

fn state_word(reply: &Value) -> &'static str {
    if is_processed(reply) { COMPLETED } else { PROCESSING }
}

fn is_processed(reply: &Value) -> bool {
    text(reply, "processing_state").eq_ignore_ascii_case(COMPLETED)
}

fn fact_name(about: &Value) -> String {
    format!("{FACT}{}", text(about, "file"))
}

pub(crate) const ROW: EffectRow = EffectRow::resent("file.upload", Isolation::Dedup, learn);

fn queries(about: &Value) -> Vec<RemoteQuery> {
    vec![RemoteQuery::one(Call::to::<GetFile>(&[text(about, "contact"), text(about, "id")]))]
}

/// An invoice names an attachment only after its processing is confirmed (partner-api, Invoice).
fn learn_state(cx: &ReadingCx<'_>, answers: &[RemoteAnswer]) -> Result<Learned, ReadingError> {
    let Some(RemoteAnswer::Body(reply)) = answers.first() else {
        let why = "the service does not know the file that was uploaded";
        return Err(ReadingError::RetryLater(why.to_owned()));
    };
    if !is_processed(reply) {
        let state = expect::render_field(reply, "processing_state");
        return Err(ReadingError::InProgress(format!(
            "an attachment is not processed yet (it is {state})"
        )));
    }
    let id = RemoteId::new(text(cx.about, "id"));
    let id = id.map_err(|error| {
        ReadingError::RetryLater(format!("the file's id cannot be used: {error}"))
    })?;
    let exists = cx.observed.is_some_and(|observed| observed.exists);
    Ok(Learned { exists, facts: file_fact(cx.about, &id, reply), ..Learned::default() })
}

pub(crate) const STATE_ROW: ReadingRow =
    ReadingRow { name: FILE_STATE, queries, learn: learn_state };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::sha256;
    use crate::base::id::{Key, Mode};
    use crate::effects::testing::intent;

    const KEY: [u8; 32] = [9; 32];

    fn letter() -> AttachedFile {
        let (path, name) = ("letters/a.pdf".to_owned(), "a.pdf".to_owned());
        AttachedFile { path, name, size: 9, sha256: sha256(b"Dear Jane") }
    }

    fn contact(id: &str) -> RemoteId {
        RemoteId::new(id).unwrap()
    }

    fn observed(facts: Value) -> Observed {
        let merchant: Key = "Merchant/default/acme".parse().unwrap();
        let mut known = Observed::unknown(merchant, chrono::DateTime::UNIX_EPOCH);
        known.facts = facts;
        known
    }

    #[test]
    fn a_file_is_known_again_for_the_same_contact_and_content_alone() {
        let about = file_identity(&contact("p_1"), &letter(), &KEY);
        let mut intent = intent("file.upload", &json!({}), Value::Null);
        intent.subject = about.clone();
        let reply = json!({"id": "fref_1", "processing_state": "processing"});
        let learned = learn(&intent, &reply).unwrap();
        assert!(learned.remote_id.is_none(), "the file is not the invoice");
        let known = observed(learned.facts);
        let found = KnownUpload { id: "fref_1".to_owned(), processed: false };
        assert_eq!(known_upload(&known, &about), Some(found));
        let other = AttachedFile { sha256: sha256(b"Dear John"), ..letter() };
        assert_eq!(known_upload(&known, &file_identity(&contact("p_1"), &other, &KEY)), None);
        assert_eq!(known_upload(&known, &file_identity(&contact("p_2"), &letter(), &KEY)), None);
        let shown = format!("{about}{}", known.facts);
        assert!(!shown.contains(&letter().sha256.short()), "only a keyed digest is kept");
    }

    #[test]
    fn an_invoice_that_is_not_there_is_not_made_by_an_upload() {
        let mut intent = intent("file.upload", &json!({}), Value::Null);
        let reply = json!({"id": "fref_1", "processing_state": "COMPLETED"});
        assert!(learn(&intent, &reply).unwrap().exists, "the old one stays known");
        intent.applied.spec = Value::Null;
        assert!(!learn(&intent, &reply).unwrap().exists);
        assert!(learn(&intent, &json!({"processing_state": "completed"})).is_err());
    }

    #[test]
    fn a_command_has_the_file_itself_and_no_two_are_twins() {
        let new = || NewFile { file_name: "a.pdf".to_owned(), content: "JVBERg==".to_owned() };
        let effect = upload_content(crate::effects::testing::obligation(), &contact("p_1"), new());
        assert_eq!((effect.request.path.as_str(), effect.sealed), ("/contacts/p_1/files", true));
        assert_eq!(effect.request.body, json!({"file_name": "a.pdf", "content": "JVBERg=="}));
        assert_eq!(effect.subject["file"], json!(effect.source_id.mark()));
        let mut asked = intent("file.upload", &json!({}), Value::Null);
        asked.key = "Action/default/upload-1".parse().unwrap();
        let learned = learn(&asked, &json!({"id": "fref_1"})).unwrap();
        assert_eq!(learned.remote_id, Some(contact("fref_1")));
        assert_eq!(learned.facts, json!({"processing_state": "processing"}));
    }

    #[test]
    fn processing_is_waited_for_and_nothing_else_ends_it() {
        let key: Key = "Invoice/default/it".parse().unwrap();
        let mut about = file_identity(&contact("p_1"), &letter(), &KEY);
        crate::effects::core::context::set_field(&mut about, "id", "fref_1");
        let cx = ReadingCx {
            key: &key,
            generation: 0,
            mode: Mode::Test,
            observed: None,
            about: &about,
            knows_mark: &|_| true,
        };
        assert_eq!(queries(&about)[0].call.path, "/contacts/p_1/files/fref_1");
        let read = |reply| learn_state(&cx, &[RemoteAnswer::Body(reply)]);
        let learned = read(json!({"id": "fref_1", "processing_state": "completed"})).unwrap();
        assert!(known_upload(&observed(learned.facts), &about).unwrap().processed);
        for state in ["processing", "failed", ""] {
            let waits = read(json!({"id": "fref_1", "processing_state": state}));
            assert!(matches!(waits, Err(ReadingError::InProgress(_))), "{state}");
        }
    }
}

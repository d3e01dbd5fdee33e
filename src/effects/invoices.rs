//! Creates invoices, the contacts who pay them, portal links of those contacts, and the files that
//! invoices name (partner-api, POST /invoices, POST /contacts; docs/design/assumptions.md).
//!
//! An invoice is the one object with an idempotency key: `source_id` prevents a second one, so a
//! lost answer is settled by sending the same bytes again. The answer is accepted only if it is the
//! requested invoice. A contact has no field for a mark and cannot be searched, so no evidence can
//! settle a lost creation: the manifest's `reckon.dev/on-doubt` decides, and a possible orphan is
//! reported. Only a person requests a portal link, and only after the invoice exists. It sends
//! nothing to anyone, so a lost answer is settled by sending again. The link shows its holder the
//! payments requested of the contact, so it is sealed.
//!
//! A file is named by a document or supplied by a person. No documented list shows files, so no
//! evidence could settle a lost upload: it is sent again. A second copy that no invoice names does
//! no harm and sends nothing. The intent's `about` holds the file's identity (a keyed digest) and
//! its contact. The file's bytes are read only when they are sent, and sealed.

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::contact::{CreateContact, CreateContactHash};
use crate::api::invoice::{COMPLETED, CreateInvoice, GetFile, NewFile, PROCESSING, UploadFile};
use crate::base::hash::keyed_digest;
use crate::base::id::{Mode, RemoteId};
use crate::base::secret::Secret;
use crate::effects::core::context::{EffectContext, copy_fields, set_field};
use crate::effects::core::expect::{self, text};
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LostReply, ProvenState, ReadingCx, ReadingError, ReadingRow,
    RemoteAnswer, RemoteQuery,
};
use crate::effects::onboarding::PAGE;
use crate::model::effect::{Effect, is_action};
use crate::model::intent::Intent;
use crate::model::manifest::AttachedFile;
use crate::model::outcome::{ServiceMessage, ServiceProblem};
use crate::model::state::observed::Observed;

/// Fields that the answer must repeat (law 4), beside the total.
const COMPARED_FIELDS: [&str; 6] =
    ["contact_id", "bank_account_id", "currency", "test_mode", "source_id", "attachments"];

/// Creates an invoice from its body; `files` are its attachments, each with its id, and `total` is
/// the sum of its lines in minor units.
pub fn create_invoice(cx: EffectContext, mut body: Value, files: &[Value], total: i64) -> Effect {
    if !files.is_empty() {
        set_field(&mut body, "attachments", files);
    }
    set_field(&mut body, "source_id", json!(cx.source_id.as_str()));
    let asked = body.clone();
    let mut effect = cx.effect::<CreateInvoice>(INVOICE_CREATE.name, &[], body).with_sealed_body();
    effect.counts.emails = count_addresses(asked.get("invoice_messages"));
    effect.expecting_fields(&asked, &COMPARED_FIELDS).expecting("total_amount", total)
}

/// Counts the addresses of an invoice's messages: the service sends an e-mail to each (partner-api,
/// POST /invoices).
pub fn count_addresses(messages: Option<&Value>) -> u32 {
    let messages = messages.and_then(Value::as_array).into_iter().flatten();
    let lists = messages.filter_map(|message| message.get("email_addresses")?.as_array());
    u32::try_from(lists.map(Vec::len).sum::<usize>()).unwrap_or(u32::MAX)
}

/// Fields of an answer that are stored.
const STORED_FIELDS: [&str; 6] =
    ["status", "presentment_status", "invoice_number", "total_amount", "currency", "contact_id"];

fn learn_invoice(_: &Intent, reply: &Value) -> Result<Learned, String> {
    // A portal link that was created for an earlier invoice is forgotten.
    let mut facts = json!({PAGE: null});
    copy_fields(&mut facts, reply, &STORED_FIELDS);
    Learned::object(reply, facts)
}

/// Detects a refusal because the `source_id` is taken: then the invoice exists, id unknown.
fn proves_exists(problem: &ServiceProblem) -> Option<ProvenState> {
    let about_source = |message: &ServiceMessage| {
        message.context.as_ref().is_some_and(|context| context.as_str() == "source_id")
    };
    let taken = |message: &ServiceMessage| {
        let text = message.message.as_ref().map(|text| text.as_str().to_lowercase());
        let says = |word: &&str| text.as_ref().is_some_and(|text| text.contains(word));
        ["already", "duplicate", "unique", "taken"].iter().any(says)
    };
    let mut messages = problem.messages.iter();
    let told = messages.any(|message| about_source(message) && taken(message));
    told.then_some(ProvenState::Exists)
}

pub(crate) const INVOICE_CREATE: EffectRow =
    EffectRow::resent::<CreateInvoice>("invoice.create", Isolation::None, learn_invoice)
        .with_proven_state(proves_exists);

pub fn create_contact(cx: EffectContext, spec: &Value) -> Effect {
    let test = cx.mode == Mode::Test;
    let mut body = json!({"type": "person", "test_mode": test});
    copy_fields(&mut body, spec, &["first_name", "last_name", "email_addresses"]);
    cx.effect::<CreateContact>(CONTACT_CREATE.name, &[], body)
        .with_sealed_body()
        .expecting("test_mode", test)
        .expecting("type", "person")
}

pub(crate) const CONTACT_CREATE: EffectRow = EffectRow::new::<CreateContact>(
    "contact.create",
    LostReply::Undecidable,
    Isolation::None,
    |_, reply| Learned::object(reply, json!({"test_mode": reply.get("test_mode")})),
);

/// Places of the link in an answer: no document shows this endpoint.
const LINK_PLACES: [&str; 2] = ["/url", "/contact_hash/url"];

/// Creates a portal link of a contact. The context's `applied` is the state already on the
/// service.
pub fn make_link(cx: EffectContext, contact: &RemoteId) -> Effect {
    cx.effect::<CreateContactHash>(CONTACT_HASH.name, &[contact.as_str()], json!({}))
        .with_subject(json!({"contact": contact}))
}

fn learn_link(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let mut found = LINK_PLACES.iter().filter_map(|place| reply.pointer(place)?.as_str());
    let url = found.find(|url| !url.is_empty()).ok_or("the answer names no link")?;
    let secrets = vec![(PAGE, Secret::from(url))];
    Ok(Learned { secrets, ..Learned::existing(json!({})) })
}

pub(crate) const CONTACT_HASH: EffectRow =
    EffectRow::resent::<CreateContactHash>("contact.hash", Isolation::Dedup, learn_link);

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
    let effect = cx.effect::<UploadFile>(FILE_UPLOAD.name, &[contact.as_str()], body);
    effect.with_sealed_body().with_subject(about)
}

fn learn_upload(intent: &Intent, reply: &Value) -> Result<Learned, String> {
    if is_action(&intent.key) {
        return Learned::object(reply, json!({"processing_state": state_word(reply)}));
    }
    let facts = file_fact(&intent.subject, &expect::id(reply)?, reply);
    Ok(Learned { exists: !intent.applied.spec.is_null(), facts, ..Learned::default() })
}

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

pub(crate) const FILE_UPLOAD: EffectRow =
    EffectRow::resent::<UploadFile>("file.upload", Isolation::Dedup, learn_upload);

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

pub(crate) const FILE_STATE_ROW: ReadingRow = ReadingRow {
    name: FILE_STATE,
    queries: |about| {
        vec![RemoteQuery::one(Call::to::<GetFile>(&[text(about, "contact"), text(about, "id")]))]
    },
    learn: learn_state,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::sha256;
    use crate::base::id::Key;
    use crate::effects::testing::intent;

    #[test]
    fn a_link_is_a_secret_wherever_the_answer_has_it() {
        let intent = intent("contact.hash", &json!({}), Value::Null);
        for reply in
            [json!({"url": "https://p/x"}), json!({"contact_hash": {"url": "https://p/x"}})]
        {
            let learned = learn_link(&intent, &reply).unwrap();
            assert_eq!(learned.secrets, [(PAGE, Secret::from("https://p/x"))]);
            assert!(learned.remote_id.is_none() && !format!("{learned:?}").contains("https"));
        }
        assert!(learn_link(&intent, &json!({"url": ""})).is_err());
    }

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
        let learned = learn_upload(&intent, &reply).unwrap();
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
        assert!(learn_upload(&intent, &reply).unwrap().exists, "the old one stays known");
        intent.applied.spec = Value::Null;
        assert!(!learn_upload(&intent, &reply).unwrap().exists);
        assert!(learn_upload(&intent, &json!({"processing_state": "completed"})).is_err());
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
        let learned = learn_upload(&asked, &json!({"id": "fref_1"})).unwrap();
        assert_eq!(learned.remote_id, Some(contact("fref_1")));
        assert_eq!(learned.facts, json!({"processing_state": "processing"}));
    }

    #[test]
    fn processing_is_waited_for_and_nothing_else_ends_it() {
        let key: Key = "Invoice/default/it".parse().unwrap();
        let mut about = file_identity(&contact("p_1"), &letter(), &KEY);
        set_field(&mut about, "id", "fref_1");
        let cx = ReadingCx {
            key: &key,
            generation: 0,
            mode: Mode::Test,
            observed: None,
            about: &about,
            knows_mark: &|_| true,
        };
        assert_eq!((FILE_STATE_ROW.queries)(&about)[0].call.path, "/contacts/p_1/files/fref_1");
        let read = |reply| learn_state(&cx, &[RemoteAnswer::Body(reply)]);
        let learned = read(json!({"id": "fref_1", "processing_state": "completed"})).unwrap();
        assert!(known_upload(&observed(learned.facts), &about).unwrap().processed);
        for state in ["processing", "failed", ""] {
            let waits = read(json!({"id": "fref_1", "processing_state": state}));
            assert!(matches!(waits, Err(ReadingError::InProgress(_))), "{state}");
        }
    }
}

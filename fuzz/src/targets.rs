//! One function for each kind of bytes that come from outside. It panics where an invariant is broken and nowhere else.
//!
//! The fuzz targets pass it libFuzzer's inputs, and `tests/it/fuzz.rs` those of proptest. The functions use only the
//! crate's public items.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use chrono::DateTime;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde_json::Value;

use reckon::api;
use reckon::base::money::Currency;
use reckon::base::secret::mask_digits;
use reckon::config::approvals::ApprovalFile;
use reckon::config::settings::Config;
use reckon::control::protocol::ControlRequest;
use reckon::engine::protocol::approvals::SavedPlan;
use reckon::kinds::register::KINDS;
use reckon::kinds::schema::kind::CheckCx;
use reckon::model::issue::PlacedIssue;
use reckon::model::remote_object::RemoteObject;
use reckon::scripting::host::script_event::ScriptEvent;
use reckon::spec::document::{ReadContext, read};
use reckon::spec::lazy_source::LazySource;
use reckon::spec::privacy::private_ranges;
use reckon::spec::text::decode::decode;
use reckon::spec::text::lint::{Keep, lint};
use reckon::spec::text::source::split;
use reckon::store::disk::traits::{Disk, MemoryDisk};
use reckon::store::journal::files::JournalOptions;
use reckon::store::journal::log::Journal;
use reckon::store::vault::key::MasterKey;
use reckon::store::vault::values::Vault;

/// The first segment of a journal.
const SEGMENT: &str = "00000000000000000001.seg";
/// The files of a vault.
const VAULT_FILES: [&str; 2] = ["keys", "data"];

/// Reads a file of documents: every problem has a place in the text, and private ranges lie in the text.
pub fn documents(bytes: &[u8]) {
    let decoded = decode(bytes.to_vec());
    let cx = ReadContext { kinds: KINDS, check: check_cx() };
    let source = LazySource::new(Arc::from("fuzz.yaml"), &decoded.text);
    let (slices, _) = split(&decoded.text);
    for slice in &slices {
        let document = read(&cx, &source, slice, 0);
        placed(&decoded.text, &document.problems);
        if document.is_good() {
            let found = lint(&decoded.text, slice, Keep::All).findings;
            // Only the parser of the values decides what is YAML.
            assert!(found.iter().all(|one| one.code == "reckon::yaml::syntax"), "{found:?}");
        }
        for range in private_ranges(KINDS, &decoded.text, slice) {
            assert!(decoded.text.get(range.clone()).is_some(), "{range:?} is no part of the text");
        }
    }
}

fn check_cx() -> CheckCx {
    CheckCx {
        decimal_amounts_only: true,
        web_urls: vec!["https://web.example".to_owned()],
        currency: Currency::USD,
        plans: BTreeMap::new(),
        programs: Some(Vec::new()),
        variables: None,
        files: None,
    }
}

/// Asserts that every problem lies in its text.
fn placed(text: &str, problems: &[PlacedIssue]) {
    let lines = text.split(['\n', '\r']).count().max(1);
    for problem in problems {
        let inside = (1..=lines).contains(&problem.line);
        assert!(
            inside && problem.column >= 1 && problem.length >= 1,
            "{problem:?} of {lines} lines"
        );
    }
}

/// Reads `reckon.yaml`.
pub fn configuration(bytes: &[u8]) {
    if let Err(broken) = Config::parse("reckon.yaml", Path::new("/nowhere"), bytes.to_vec()) {
        assert!(!broken.problems.is_empty(), "the configuration is refused without a problem");
    }
}

/// Masks the body of a webhook, of the gateway or of the partner side.
pub fn posted_event(bytes: &[u8]) {
    let masked = mask_digits(&String::from_utf8_lossy(bytes));
    assert_eq!(mask_digits(&masked), masked, "masking twice changes nothing");
    let _notification = serde_json::from_slice::<api::event::Notification>(bytes);
    if let Ok(event) = serde_json::from_slice::<api::event::Event>(bytes) {
        let data = event.data.unwrap_or(Value::Null);
        let _object = RemoteObject::of(&event.kind, &data, DateTime::UNIX_EPOCH);
        let _given = ScriptEvent::with_record(&data, bytes);
    }
}

/// Reads a request over the socket or HTTP. A request that can be read is written, and reads again as the same.
pub fn control_request(bytes: &[u8]) {
    if let Ok(request) = serde_json::from_slice::<ControlRequest>(bytes) {
        let again = serde_json::to_vec(&request).expect("a request can be written");
        let again = serde_json::from_slice::<ControlRequest>(&again)
            .expect("a written request can be read");
        assert_eq!(again, request);
    }
}

/// Opens a segment of a journal. A journal that opens verifies, takes a record, and shows the record after it is opened
/// again.
pub fn journal_frames(bytes: &[u8]) {
    if let Ok(record) = reckon::store::writer::core::decode(1, bytes) {
        let _shown = format!("{record:?}");
    }
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    disk.write_at(SEGMENT, 0, bytes).expect("the memory disk takes the bytes");
    let Ok((mut journal, opened)) = Journal::open(disk.clone(), JournalOptions::default()) else {
        return;
    };
    assert_eq!(journal.verify().expect("an open journal verifies"), opened.head);
    journal.append(&[b"next".to_vec()]).expect("the journal takes a record");
    journal.sync().expect("the memory disk syncs");
    let head = journal.head();
    drop(journal);
    let (_, again) =
        Journal::open(disk, JournalOptions::default()).expect("the journal opens again");
    assert_eq!(again.head, head);
}

/// Opens the files of a vault, keys first: the first two bytes are their length.
pub fn vault_frames(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_at_checked(2) else { return };
    let length = usize::from(u16::from_be_bytes([length[0], length[1]])).min(rest.len());
    let (keys, data) = rest.split_at(length);
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    for (name, content) in VAULT_FILES.into_iter().zip([keys, data]) {
        disk.write_at(name, 0, content).expect("the memory disk takes the bytes");
    }
    let Ok(vault) = Vault::open(disk, &master()) else { return };
    let _gaps = vault.find_gaps();
    if let Ok(sealed) = vault.seal("subject", b"plain", &mut ChaCha8Rng::seed_from_u64(1)) {
        let reference = sealed.reference();
        vault.write(&[sealed]).expect("the vault takes a value");
        assert_eq!(vault.unseal(&reference).expect("the value unseals").as_slice(), b"plain");
    }
}

fn master() -> MasterKey {
    MasterKey::new([7; 32])
}

/// Reads a file of `approve --write`. A file that can be read is written, and reads again as the same.
pub fn approval_file(bytes: &[u8]) {
    if let Ok(approval) = ApprovalFile::parse("approval.yaml", bytes.to_vec()) {
        let text = approval.text().into_bytes();
        let again = ApprovalFile::parse("approval.yaml", text).expect("a written file can be read");
        assert_eq!(again, approval);
    }
}

/// Reads a file of `plan --out`.
pub fn saved_plan(bytes: &[u8]) {
    if let Ok(Ok((plan, value))) = std::str::from_utf8(bytes).map(SavedPlan::read) {
        let _changes = plan.changes();
        let _seal = SavedPlan::seal_of(value, &[7; 32]);
    }
}

/// Returns a segment of a journal with a few records, as a seed.
pub fn journal_seed() -> Vec<u8> {
    let disk = Arc::new(MemoryDisk::new());
    let options = JournalOptions { segment_bytes: 1024, ..JournalOptions::default() };
    let (mut journal, _) = Journal::open(disk.clone(), options).expect("an empty journal opens");
    for bodies in [vec![b"one".to_vec()], vec![b"two".to_vec(), vec![0; 40]]] {
        journal.append(&bodies).expect("the journal takes records");
        journal.sync().expect("the memory disk syncs");
    }
    whole(&*disk, SEGMENT)
}

/// Returns the files of a vault with two values, as a seed.
pub fn vault_seed() -> Vec<u8> {
    let disk = Arc::new(MemoryDisk::new());
    let vault = Vault::open(disk.clone(), &master()).expect("an empty vault opens");
    for (subject, plain) in [("Merchant/default/acme", "one"), ("Contact/default/jane", "two")] {
        let sealed = vault.seal(subject, plain.as_bytes(), &mut ChaCha8Rng::seed_from_u64(2));
        vault.write(&[sealed.expect("the value seals")]).expect("the vault takes a value");
    }
    let [keys, data] = VAULT_FILES.map(|name| whole(&*disk, name));
    let length = u16::try_from(keys.len()).expect("two keys are short").to_be_bytes();
    [&length[..], &keys, &data].concat()
}

fn whole(disk: &dyn Disk, name: &str) -> Vec<u8> {
    let length = disk.len(name).expect("the file exists");
    disk.read_at(name, 0, usize::try_from(length).expect("the length fits"))
        .expect("the file can be read")
}

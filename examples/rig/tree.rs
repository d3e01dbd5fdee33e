//! A realistic tree of documents, the same for the same seed. Merchants come first, and each document after those that
//! it refers to.
//!
//! The module writes text alone and uses nothing of `reckon`, so that it cannot share a mistake with it.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use crate::random::Random;

#[path = "every.rs"]
pub(crate) mod every;

/// Documents for each merchant of a mixed tree.
const DOCUMENTS_PER_MERCHANT: usize = 2_000;
/// Files in one folder: larger folders are slow to list and to read.
const FILES_PER_FOLDER: usize = 1_000;

const FIRST: [&str; 16] = [
    "Ada", "Ben", "Carla", "Dmitri", "Elena", "Farid", "Grace", "Hiro", "Ines", "Jonas", "Kofi",
    "Lucia", "Mina", "Noor", "Oskar", "Priya",
];
const LAST: [&str; 16] = [
    "Abbott",
    "Bianchi",
    "Castro",
    "Dahl",
    "Eriksen",
    "Fischer",
    "Garcia",
    "Haddad",
    "Ito",
    "Jensen",
    "Kowalski",
    "Lindqvist",
    "Moreau",
    "Novak",
    "Okafor",
    "Petrov",
];
const CITIES: [(&str, &str, &str); 4] = [
    ("Chicago", "IL", "60607"),
    ("Portland", "ME", "04101"),
    ("Austin", "TX", "78701"),
    ("Reno", "NV", "89501"),
];
const WORK: [&str; 8] = [
    "Retainer",
    "Consultation",
    "Filing fee",
    "Drafting",
    "Review of a contract",
    "Courier",
    "Monthly fee",
    "Copies",
];
/// Published test numbers that are accepted.
const CARDS: [&str; 8] = [
    "4242424242424242",
    "5105105105105100",
    "378282246310005",
    "6011111111111117",
    "4012888888881881",
    "5499740000000057",
    "371449635398431",
    "6011000990139424",
];
const SCHEDULES: [&str; 5] = [
    "{start: 2030-01-07, interval_unit: WEEK, interval_delay: 1, days: [\"1\", \"4\"]}",
    "{start: 2030-01-31, interval_unit: MONTH, interval_delay: 1, days: [LAST]}",
    "{start: 2030-02-15, interval_unit: MONTH, interval_delay: 2}",
    "{start: 2030-03-01, interval_unit: DAY, interval_delay: 10, end: 2031-12-31}",
    "{start: 2030-01-04, interval_unit: WEEK, interval_delay: 2}",
];

/// The kinds of documents in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kinds {
    /// One merchant and its contacts.
    Contacts,
    /// A merchant for every 2,000 documents; of the rest 40 % contacts, 30 % invoices, 20 % saved methods and
    /// 10 % recurring charges.
    Mixed,
    /// Every kind, and every sort of it.
    Every,
}

/// One document.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// Its kind, as written.
    pub(crate) kind: &'static str,
    /// Its name; the namespace is `default`.
    pub(crate) name: String,
    /// The place in the tree of the document that it refers to besides its merchant.
    pub(crate) needs: Option<usize>,
    /// The text of the file.
    pub(crate) text: String,
}

/// Returns the documents of a seed.
///
/// # Errors
///
/// Too few documents for their kinds.
pub(crate) fn documents(kinds: Kinds, count: usize, seed: u64) -> Result<Vec<Document>, String> {
    let (merchants, least) = match kinds {
        Kinds::Contacts => (1, 2),
        Kinds::Mixed => (count.div_ceil(DOCUMENTS_PER_MERCHANT), 20),
        Kinds::Every => return every::documents(count, seed),
    };
    if count < least {
        return Err(format!("{count} documents are too few for this tree: at least {least}"));
    }
    let rest = count.saturating_sub(merchants);
    let part = |hundredths: usize| rest.saturating_mul(hundredths) / 100;
    let [invoices, methods, recurring] = match kinds {
        Kinds::Contacts | Kinds::Every => [0, 0, 0],
        Kinds::Mixed => [part(30), part(20), part(10)],
    };
    let contacts = rest.saturating_sub(invoices.saturating_add(methods).saturating_add(recurring));
    let mut tree = Tree { random: Random::new(seed), merchants, documents: Vec::new() };
    tree.all(merchants, Tree::merchant);
    let first_contact = tree.all(contacts, Tree::contact);
    let first_method = tree.all(methods, Tree::method);
    tree.all(invoices, |tree, at| tree.invoice(at, first_contact, contacts));
    tree.all(recurring, |tree, at| tree.recurring(at, first_method, methods));
    Ok(tree.documents)
}

struct Tree {
    random: Random,
    merchants: usize,
    documents: Vec<Document>,
}

impl Tree {
    /// Adds `count` documents; returns the place of the first.
    fn all(&mut self, count: usize, one: impl Fn(&mut Self, usize) -> Document) -> usize {
        let first = self.documents.len();
        for at in 0..count {
            let document = one(self, at);
            self.documents.push(document);
        }
        first
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let below = u64::try_from(from.len()).unwrap_or(0);
        let at = usize::try_from(self.random.below(below)).unwrap_or(0);
        from.get(at).copied()
    }

    fn word(&mut self, from: &[&'static str]) -> &'static str {
        self.pick(from).unwrap_or_default()
    }

    fn number(&mut self, from: u64, below: u64) -> u64 {
        self.random.below(below.saturating_sub(from)).saturating_add(from)
    }

    fn amount(&mut self) -> String {
        format!("\"{}.{:02} USD\"", self.number(5, 3_000), self.number(0, 100))
    }

    /// Returns the merchant of the document at this place of its kind; the merchants take turns.
    fn merchant_of(&self, at: usize) -> usize {
        at.checked_rem(self.merchants).unwrap_or(0)
    }

    /// Returns a place in the tree: one of the `count` documents from `first` on, with the same merchant as `at`.
    fn same_merchant(&mut self, at: usize, first: usize, count: usize) -> usize {
        let merchant = self.merchant_of(at);
        let theirs = count.saturating_sub(merchant).div_ceil(self.merchants.max(1));
        let chosen = self.random.below(u64::try_from(theirs).unwrap_or(0));
        let chosen = usize::try_from(chosen).unwrap_or(0);
        first.saturating_add(merchant).saturating_add(chosen.saturating_mul(self.merchants))
    }

    fn name_at(&self, place: usize) -> String {
        self.documents.get(place).map(|document| document.name.clone()).unwrap_or_default()
    }

    fn merchant(&mut self, at: usize) -> Document {
        let code = code_variable(at);
        let zone = self.word(&["America/Chicago", "America/New_York", "America/Denver"]);
        let spec = format!(
            "  mode: test\n  timezone: {zone}\n  credentials:\n    authorization_code: {{env: {code}}}\n"
        );
        document("Merchant", merchant_name(at), None, &spec)
    }

    fn contact(&mut self, at: usize) -> Document {
        let (first, last) = (self.word(&FIRST), self.word(&LAST));
        let name = format!("{first}-{last}-{at}").to_lowercase();
        let merchant = merchant_name(self.merchant_of(at));
        let spec = format!(
            "  merchant: {merchant}\n  first_name: {first}\n  last_name: {last}\n  email_addresses: [{{address: {}}}]\n",
            address(&name)
        );
        document("Contact", name, None, &spec)
    }

    fn invoice(&mut self, at: usize, first_contact: usize, contacts: usize) -> Document {
        let contact = self.same_merchant(at, first_contact, contacts);
        let payer = self.name_at(contact);
        let account = self.word(&["Operating", "Operating", "Operating", "Trust"]);
        let date = self.date();
        let merchant = merchant_name(self.merchant_of(at));
        let mut spec = format!(
            "  merchant: {merchant}\n  contact: {payer}\n  bank_account: {account}\n  invoice_date: {date}\n  line_items:\n"
        );
        for _ in 0..self.number(1, 4) {
            let (what, amount) = (self.word(&WORK), self.amount());
            push(
                &mut spec,
                format_args!("    - {{description: {what}, rate_per_quantity: {amount}}}\n"),
            );
        }
        self.messages(&mut spec, &payer);
        document("Invoice", format!("invoice-{at}"), Some(contact), &spec)
    }

    fn messages(&mut self, spec: &mut String, payer: &str) {
        let to = address(payer);
        let head = "  invoice_messages:\n    - email_addresses";
        match self.random.below(4) {
            0 => push(spec, format_args!("{head}: [{to}]\n")),
            1 => push(spec, format_args!("{head}: [{to}]\n      subject: Your invoice\n")),
            _ => {}
        }
    }

    fn date(&mut self) -> String {
        let (month, day) = (self.number(1, 13), self.number(1, 29));
        match self.random.below(3) {
            0 => format!("2030-{month:02}-{day:02}T{:02}:30:00-06:00", self.number(8, 18)),
            _ => format!("2030-{month:02}-{day:02}"),
        }
    }

    fn method(&mut self, at: usize) -> Document {
        let (first, last) = (self.word(&FIRST), self.word(&LAST));
        let (city, state, code) = self.pick(&CITIES).unwrap_or_default();
        let (number, month, year) =
            (self.word(&CARDS), self.number(1, 13), self.number(2031, 2040));
        let (house, merchant) = (self.number(1, 900), merchant_name(self.merchant_of(at)));
        let mut spec = format!(
            "  merchant: {merchant}\n  type: card\n  description: Card of {first} {last}\n"
        );
        push(
            &mut spec,
            format_args!(
                "  source:\n    card:\n      number: \"{number}\"\n      exp_month: {month}\n      exp_year: {year}\n      \
                 name: {first} {last}\n      address1: {house} Main Street\n      city: {city}\n      state: {state}\n      \
                 postal_code: \"{code}\"\n"
            ),
        );
        document("SavedMethod", format!("card-{at}"), None, &spec)
    }

    fn recurring(&mut self, at: usize, first_method: usize, methods: usize) -> Document {
        let method = self.same_merchant(at, first_method, methods);
        let (payer, merchant) = (self.name_at(method), merchant_name(self.merchant_of(at)));
        let (what, amount, schedule) = (self.word(&WORK), self.amount(), self.word(&SCHEDULES));
        let mut spec = format!(
            "  merchant: {merchant}\n  method: {payer}\n  amount: {amount}\n  description: {what} {at}\n  schedule: {schedule}\n"
        );
        match self.random.below(3) {
            0 => push(&mut spec, format_args!("  max_occurrences: {}\n", self.number(2, 60))),
            1 => push(
                &mut spec,
                format_args!("  max_amount: \"{}.00 USD\"\n", self.number(3_001, 90_000)),
            ),
            _ => {}
        }
        document("RecurringCharge", format!("plan-{at}"), Some(method), &spec)
    }
}

fn document(kind: &'static str, name: String, needs: Option<usize>, spec: &str) -> Document {
    let text = format!(
        "apiVersion: reckon.dev/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n{spec}"
    );
    Document { kind, name, needs, text }
}

fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    text.write_fmt(more).unwrap_or_default();
}

/// Returns the name of the merchant at this place.
pub(crate) fn merchant_name(at: usize) -> String {
    format!("shop-{at}")
}

/// Returns the variable with the merchant's authorization code.
pub(crate) fn code_variable(at: usize) -> String {
    format!("CODE_SHOP_{at}")
}

/// Returns the e-mail address of the contact with this name.
pub(crate) fn address(name: &str) -> String {
    format!("{name}@example.com")
}

/// Writes documents into `specs` under `folder`, `per_file` in a file. A document's place in the tree gives its file.
/// So a tree can be written in parts, where a file holds one document.
pub(crate) fn write<'a>(
    folder: &Path,
    documents: impl IntoIterator<Item = (usize, &'a Document)>,
    per_file: usize,
) -> io::Result<()> {
    let mut open: Option<(usize, String)> = None;
    for (place, document) in documents {
        let file = place.checked_div(per_file).unwrap_or(place);
        match &mut open {
            Some((at, text)) if *at == file => {
                text.push_str("---\n");
                text.push_str(&document.text);
            }
            _ => {
                let before = open.replace((file, document.text.clone()));
                save(folder, before)?;
            }
        }
    }
    save(folder, open)
}

fn save(folder: &Path, file: Option<(usize, String)>) -> io::Result<()> {
    let Some((file, text)) = file else {
        return Ok(());
    };
    let path = file_of(folder, file);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)
}

/// Returns the path of the file with this number.
pub(crate) fn file_of(folder: &Path, file: usize) -> std::path::PathBuf {
    let part = file / FILES_PER_FOLDER;
    folder.join("specs").join(format!("part-{part:03}")).join(format!("{file:06}.yaml"))
}

//! One folder per kind of manifest, and one line each in the register.
//!
//! A kind says what its YAML looks like (`shape.rs`) and what has to be done so that the service
//! matches it (`step.rs`). Outside its folder a spec is canonical JSON; inside it is a typed
//! struct. There is no second `match` on kinds anywhere in the crate.

pub mod adopting;
pub mod amount;
pub mod as_said;
pub mod contact;
pub mod deposit;
pub mod diff;
pub mod files;
pub mod guilty;
mod health;
pub mod invoice;
pub mod leaving;
pub mod merchant;
pub mod merchant_application;
pub mod misfit;
pub mod open_variables;
mod overdue;
pub mod readback;
pub mod recurring_charge;
pub mod redact;
pub mod reference;
pub mod refused;
pub mod register;
mod renamed;
pub mod saved_method;
pub mod schema;
pub(crate) mod secret_place;
pub mod secret_source;
pub mod step;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
pub mod whole;

use std::collections::BTreeMap;

use std::fmt;
use std::sync::Arc;

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::id::{Key, Name};
use crate::base::money::{Currency, Money};
use crate::model::effect::{Effect, Reading};
use crate::model::health::Health;
use crate::model::issue::Issue;
use crate::model::manifest::{Manifest, Reference};
use crate::model::observed::{Applied, Observed};

/// How private a field is (design.md part 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// Anyone may see it.
    Plain,
    /// Names, addresses, e-mail, phone: masked wherever people look.
    Personal,
    /// Card numbers, codes and keys: never shown, never stored in clear.
    Secret,
}

impl Privacy {
    /// The word for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Personal => "personal",
            Self::Secret => "secret",
        }
    }
}

/// What the service can do when a field changes after creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The object is changed where it is.
    InPlace,
    /// The object is changed where it is, with all its details sent again by a fresh one-time token.
    ByToken,
    /// The service has no way; the plan says so at the field's line.
    Never,
    /// The field steers `reckon` alone.
    Local,
}

impl Change {
    /// The words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::InPlace => "in place",
            Self::ByToken => "by a fresh token",
            Self::Never => "never",
            Self::Local => "reckon's own matter",
        }
    }
}

/// One field of a kind, by its path below `spec` (`schedule.days`, `line_items[].description`).
/// A field covers everything beneath it that has no entry of its own.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The path below `spec`; `[]` stands for any place in a sequence.
    pub path: &'static str,
    /// How private it is.
    pub privacy: Privacy,
    /// What a change of it takes.
    pub change: Change,
    /// What it means, its unit and its source, for `explain` and for help texts.
    pub doc: &'static str,
}

/// What a check needs to know besides the document.
#[derive(Debug, Clone)]
pub struct CheckCx {
    /// `policy.amounts: decimal` forbids integers of minor units.
    pub decimal_amounts_only: bool,
    /// The web hosts a merchant may name (`service.web_url` and `service.brands`).
    pub web_urls: Vec<String>,
    /// The currency assumed for an integer amount.
    pub currency: Currency,
    /// `partner.plans`: whether each of them is a trust plan. Empty: none was declared.
    pub plans: BTreeMap<String, bool>,
    /// The programs that a secret may come from (`secrets.exec`); `None` where that is not known.
    pub programs: Option<Vec<String>>,
    /// The variables that a secret may come from (`secrets.env`); `None` where that is not known.
    pub variables: Option<open_variables::Variables>,
    /// The files that specs may name (`secrets.attachments`); `None` where none was opened.
    pub files: Option<Arc<dyn files::Files>>,
}

/// Finds another good manifest.
pub type Find<'a> = &'a dyn Fn(&Key) -> Option<Arc<Manifest>>;

/// A kind of manifest: its YAML shape and the checks that need no service.
pub trait Shape: 'static {
    /// What the YAML calls it.
    const NAME: &'static str;
    /// Every field, for masks, plans and help.
    const FIELDS: &'static [Field];
    /// The typed spec. `Serialize` gives the canonical form: defaults filled in, empty left out.
    type Spec: DeserializeOwned + Serialize + JsonSchema;
    /// What is wrong with one document by itself; paths begin with `spec`.
    fn check(spec: &Self::Spec, cx: &CheckCx) -> Vec<Issue>;
    /// The resources it refers to.
    fn references(spec: &Self::Spec, namespace: &Name) -> Vec<Reference>;
    /// The files that it names and does not hold.
    fn files(_: &Self::Spec) -> Vec<files::FileRef> {
        Vec::new()
    }
    /// What is wrong between this document and the good ones it refers to.
    fn check_links(spec: &Self::Spec, manifest: &Manifest, find: Find<'_>) -> Vec<Issue>;
    /// What the document has that only one document of a tree may have.
    fn sole(_: &Manifest) -> Option<&'static Sole> {
        None
    }
}

/// Something that only one document of a tree may have. Every document but the first one is told.
#[derive(Debug, Clone, Copy)]
pub struct Sole {
    /// The stable code of the problem, which also says what it is.
    pub code: &'static str,
    /// The field that says so.
    pub path: &'static str,
    /// What is wrong with a second one.
    pub message: &'static str,
    /// What to write instead.
    pub help: &'static str,
    /// What to say of the first one.
    pub first: &'static str,
}

/// A spec as its kind read it. `Debug` leaves the spec out: it may hold personal values.
pub struct Read {
    /// The canonical form.
    pub spec: Value,
    /// The references in it.
    pub references: Vec<Reference>,
    /// What is wrong with it.
    pub issues: Vec<Issue>,
    /// What a look at the files that it names gave.
    pub files: Vec<files::Looked>,
}

impl fmt::Debug for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Read({:?}, {:?})", self.references, self.issues)
    }
}

/// A document that does not fit its kind's shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The path of the guilty value, as `serde_path_to_error` writes it (`spec.schedule.start`).
    pub path: String,
    /// Byte offset of the guilty value in the document, where the parser knew it.
    pub offset: Option<usize>,
    /// What the parser said.
    pub message: String,
}

/// A kind of manifest as a whole: its shape, and what has to be done about it.
pub trait Kind: Shape {
    /// What has to be done about a resource whose document is there.
    fn step(cx: &step::StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> step::Draft;
    /// What has to be done about a resource whose document is gone.
    fn gone(cx: &step::StepCx<'_>, key: &Key, have: &Observed) -> step::Draft;
    /// What an object whose document is gone still uses beside its merchant: that goes after it.
    fn holds(_: &Key, _: &Applied) -> Vec<Key> {
        Vec::new()
    }
    /// What a person may ask for of a resource that is on the service.
    fn offer(_: &step::StepCx<'_>, _: &Manifest, _: &Observed) -> Option<Effect> {
        None
    }

    /// How an object of this spec is read back; `None`: the service shows it never.
    fn read_back(_: &Value) -> Option<&'static readback::ReadBack> {
        None
    }

    /// What would be known of a resource that is on the service just as its document says.
    fn as_said(cx: &step::StepCx<'_>, manifest: &Manifest) -> Observed {
        as_said::plain(Self::FIELDS, cx, manifest)
    }

    /// What an object has to show besides the fields of its list, to be taken over for this document. Errors: why no
    /// object is taken over for a document of this kind, and what to do instead.
    fn adopts(_: &step::StepCx<'_>, _: &Manifest) -> Result<Vec<adopting::Expect>, &'static str> {
        Ok(Vec::new())
    }

    /// The health of its object, beside whether that is as its document says.
    fn health(_: &step::StepCx<'_>, _: Option<&Manifest>, _: &Observed) -> Health {
        Health::well()
    }

    /// Warnings of dates in this spec that are over on this day, where its object is to be created.
    fn overdue(_: &Value, _today: NaiveDate) -> Vec<Issue> {
        Vec::new()
    }

    /// The days on which money of this spec is due, from this day on: twelve months of a schedule.
    fn dues(_: &Value, _from: NaiveDate) -> Vec<(NaiveDate, Money)> {
        Vec::new()
    }

    /// What the service may say otherwise by now: the readings that would tell, in their order. The spec is its
    /// document's, or what that said last where it is gone.
    fn again(_: &step::StepCx<'_>, _: &Key, _: &Value, _: &Observed) -> Vec<Reading> {
        Vec::new()
    }
}

//! Creates a contact, who can be invoiced (partner-api, POST /contacts).
//!
//! A contact has no field for a mark and cannot be searched, so no evidence can settle a lost
//! creation. The manifest's `reckon.dev/on-doubt` decides, and a possible orphan is reported.

use serde_json::{Value, json};

use crate::api::contact::CreateContact;
use crate::base::id::Mode;
use crate::effects::core::context::{EffectBuilder, EffectContext, put};
use crate::effects::core::expect;
use crate::effects::core::row::{EffectRow, Isolation, Learned, LostReply};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Creates the contact of a spec.
pub fn create_contact(obligation: EffectContext, spec: &Value) -> Effect {
    let test = obligation.mode == Mode::Test;
    let mut body = json!({"type": "person", "test_mode": test});
    for field in ["first_name", "last_name", "email_addresses"] {
        put(&mut body, field, spec.get(field).cloned().unwrap_or_default());
    }
    obligation
        .effect::<CreateContact>(ROW.name, &[], body)
        .with_sealed_body()
        .expecting("test_mode", test)
        .expecting("type", "person")
}

fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let facts = json!({"test_mode": reply.get("test_mode")});
    Ok(Learned { remote_id: Some(expect::id(reply)?), exists: true, facts, secrets: Vec::new() })
}

pub(crate) const ROW: EffectRow =
    EffectRow::new("contact.create", LostReply::Undecidable, Isolation::None, learn);

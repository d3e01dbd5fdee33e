//! Creates a document for a card or bank that is saved already. Its details stay at the service,
//! which never shows them.

use serde_json::{Value, json};

use super::shape::SavedMethodKind;
use crate::effects::core::context::put;
use crate::effects::methods::method::method_facts;
use crate::kinds::remote::readback::{ImportTemplate, ImportTemplateCx};
use crate::kinds::schema::kind::SpecSchema;

#[expect(clippy::unnecessary_wraps, reason = "other kinds may find nothing to make one of")]
pub(super) fn card(cx: &ImportTemplateCx<'_>, item: &Value) -> Result<ImportTemplate, String> {
    Ok(import_template(cx, item, "card", "card_type"))
}

#[expect(clippy::unnecessary_wraps, reason = "other kinds may find nothing to make one of")]
pub(super) fn bank(cx: &ImportTemplateCx<'_>, item: &Value) -> Result<ImportTemplate, String> {
    Ok(import_template(cx, item, "bank", "account_type"))
}

/// Creates the document; its name is the brand, or account type, and the last digits.
fn import_template(
    cx: &ImportTemplateCx<'_>,
    item: &Value,
    word: &str,
    named_by: &str,
) -> ImportTemplate {
    let mut spec = json!({"merchant": cx.merchant, "type": word, "source": {}});
    if let Some(text) =
        item.get("description").and_then(Value::as_str).filter(|one| !one.is_empty())
    {
        put(&mut spec, "description", text);
    }
    let facts = method_facts(item);
    let text = |name: &str| facts.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let sort = item.get(named_by).and_then(Value::as_str).unwrap_or(word).to_owned();
    ImportTemplate { kind: SavedMethodKind::NAME, name: format!("{sort} {}", text("last4")), spec }
}

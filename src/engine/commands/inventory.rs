//! Lists a merchant's objects at the service, and the possible handling of each: for
//! `import --all`. Reads only.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::base::id::{Key, Kind, Name, RemoteId};
use crate::effects::core::row::{RemoteAnswer, RemoteQuery};
use crate::effects::merchants::read::mark_of;
use crate::engine::commands::decision::Decision;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::query::Reply;
use crate::engine::readers::read;
use crate::engine::view::EngineView;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::register::read_backs;
use crate::kinds::remote::readback::{ImportTemplateCx, ReadBack};
use crate::model::effect::is_action;
use crate::model::state::drift::{ImportOption, InventoryItem, InventoryRequest};
use crate::plan::state_view::StateView;

const METHOD: &str = "SavedMethod";
/// Largest number tried behind a name that is taken.
const NAMES_MAX: u32 = 10_000;

/// The known state with which a list is compared.
struct InventoryContext {
    merchant: Key,
    back: &'static ReadBack,
    wallet: CredentialSource,
    names: BTreeSet<Key>,
    /// Documents by the object that they adopt; `marks`: by the mark that an object may carry.
    adopts: BTreeMap<RemoteId, Key>,
    marks: BTreeMap<String, Key>,
    ours: BTreeMap<RemoteId, Key>,
    methods: Vec<(String, Value)>,
    several_accounts: bool,
}

impl EngineView<'_> {
    /// Decides about a list of a merchant's objects, with the possible handling of each.
    pub(crate) fn inventory(&self, asked: &InventoryRequest) -> Decision {
        let known = match self.inventory_context(asked) {
            Ok(known) => known,
            Err(why) => return Decision::answer(Reply::Inventory(Err(why))),
        };
        let shared = self.shared.clone();
        Decision::run(async move {
            let told = read_inventory(&shared, known).await?;
            Ok((TaskResult::RecordWritten(None), Reply::Inventory(told)))
        })
    }

    fn inventory_context(&self, asked: &InventoryRequest) -> Result<InventoryContext, String> {
        let InventoryRequest { merchant, list } = asked;
        let back = read_backs().find(|back| back.list_name == *list);
        let back = back.ok_or_else(|| format!("the service has no list of {list}"))?;
        let owner = self.known_state.observed(merchant).filter(|owner| owner.exists);
        let named = self.known_state.desired().manifests.contains_key(merchant);
        if merchant.kind.as_str() != MERCHANT || !(named || owner.is_some()) {
            return Err(format!("there is no {}", merchant.short()));
        }
        let owner = owner.ok_or_else(|| {
            let name = merchant.short();
            format!("{name} is not connected yet; run `reckon apply --target {name}` first")
        })?;
        let known = self.known_state.known_keys();
        let (mut ours, mut methods) = (BTreeMap::new(), Vec::new());
        for key in &known {
            let Some(one) = self.known_state.observed(key).filter(|one| one.exists) else {
                continue;
            };
            if one.merchant != *merchant {
                continue;
            }
            if key.kind.as_str() == METHOD && key.namespace == merchant.namespace {
                methods.push((key.name.to_string(), one.facts.clone()));
            }
            // An object made by a command is not managed yet: a document may adopt it.
            let id = one.remote_id.clone().filter(|_| !is_action(key));
            ours.extend(id.map(|id| (id, key.clone())));
        }
        let documents = self.known_state.desired().manifests.values();
        let adopts =
            documents.filter_map(|one| Some((one.annotations.adopts.clone()?, one.key.clone())));
        Ok(InventoryContext {
            merchant: merchant.clone(),
            back,
            wallet: self.snapshot().poll_credentials(merchant),
            adopts: adopts.collect(),
            names: self.known_state.desired().manifests.keys().cloned().chain(known).collect(),
            marks: self.marks(),
            ours,
            methods,
            several_accounts: owner.fact("accounts").as_array().is_some_and(|all| all.len() > 1),
        })
    }
}

async fn read_inventory(
    shared: &EngineShared,
    known: InventoryContext,
) -> EngineResult<Result<Vec<InventoryItem>, String>> {
    let query = RemoteQuery::list((known.back.list)());
    let answer = read::one(shared, query, &known.wallet).await?;
    Ok(answer.and_then(|answer| match answer {
        Some(RemoteAnswer::Items(items)) => Ok(known.compare_all(&items)),
        Some(RemoteAnswer::Missing(_) | RemoteAnswer::Body(_)) | None => {
            Err(format!("the service does not list {}", known.back.list_name))
        }
    }))
}

impl InventoryContext {
    /// Returns every object with its possible handling.
    fn compare_all(mut self, items: &[Value]) -> Vec<InventoryItem> {
        let mut found = Vec::new();
        for item in items {
            let id = item.get("id").and_then(Value::as_str);
            let Some(id) = id.and_then(|id| RemoteId::new(id).ok()) else { continue };
            let what = self.classify(&id, item);
            if let ImportOption::New(key, _) = &what {
                self.names.insert(key.clone());
            }
            found.push(InventoryItem { id, import_option: what });
        }
        found
    }

    fn classify(&self, id: &RemoteId, item: &Value) -> ImportOption {
        if let Some(key) = self.ours.get(id) {
            return ImportOption::Known(key.clone());
        }
        if let Some(why) = (self.back.ended_reason)(item) {
            return ImportOption::Skipped(why);
        }
        let marked = mark_of(item).and_then(|mark| self.marks.get(mark.as_str()));
        let unknown = |key: &&Key| !self.ours.values().any(|ours| ours == *key);
        if let Some(key) = self.adopts.get(id).or(marked).filter(unknown) {
            return ImportOption::Document(key.clone());
        }
        let cx = ImportTemplateCx {
            merchant: self.merchant.name.as_str(),
            several_accounts: self.several_accounts,
            methods: &self.methods,
        };
        let sketch = match (self.back.import_template)(&cx, item) {
            Ok(sketch) => sketch,
            Err(why) => return ImportOption::Impossible(why),
        };
        match self.free_name(sketch.kind, &sketch.name) {
            Some(key) => ImportOption::New(key, sketch.spec),
            None => ImportOption::Impossible("no free name".to_owned()),
        }
    }

    /// Returns a free name: the suggested one, or that with a number.
    fn free_name(&self, kind: &str, wish: &str) -> Option<Key> {
        let base = slug(wish);
        let key = |name: String| {
            let name: Name = name.parse().ok()?;
            Some(Key::new(Kind::new(kind), &self.merchant.namespace, &name))
        };
        let names = (2..NAMES_MAX).map(|number| format!("{base}-{number}"));
        let mut names = [base.clone()].into_iter().chain(names).filter_map(key);
        names.find(|key| !self.names.contains(key))
    }
}

/// Largest length of a name's stem: a number still fits behind it.
const SLUG_MAX: usize = 48;

/// Turns a text into a name: lower-case letters and digits, with one hyphen for everything else.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let short: String = slug.chars().take(SLUG_MAX).collect();
    let name = short.trim_matches('-');
    if name.is_empty() { "imported".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
#[expect(clippy::wildcard_enum_match_arm, reason = "every other value fails the test")]
mod tests {
    use serde_json::{Value, json};

    use super::slug;
    use crate::engine::protocol::input::EngineCommand;
    use crate::engine::protocol::query::Reply;
    use crate::engine::tests::fixture::{StateFixture, run_in};
    use crate::engine::tests::records::{CARD, MERCHANT, annotated_document, card, key};
    use crate::model::state::drift::{ImportOption, InventoryItem, InventoryRequest};

    #[test]
    fn any_text_makes_a_name() {
        for (text, name) in [
            ("VISA 4242", "visa-4242"),
            ("20.00 USD", "20-00-usd"),
            ("  Rent (Jané)!", "rent-jan"),
            ("…", "imported"),
        ] {
            assert_eq!(slug(text), name);
            assert!(name.parse::<crate::base::id::Name>().is_ok());
        }
        assert!(slug(&"a ".repeat(100)).len() <= super::SLUG_MAX);
    }

    fn list(merchant: &str, list: &str) -> EngineCommand {
        let list = list.to_owned();
        EngineCommand::Inventory(InventoryRequest { merchant: key(merchant), list })
    }

    #[test]
    fn only_a_list_of_the_service_at_a_connected_merchant_is_read() {
        let mut fixture = StateFixture::new();
        fixture.write(&[MERCHANT]);
        let why = |command: EngineCommand| match fixture.answer_to(command) {
            Reply::Inventory(Err(why)) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(list("Merchant/acme", "wishes")), "the service has no list of wishes");
        assert_eq!(why(list("Merchant/other", "cards")), "there is no Merchant/other");
        let unconnected = why(list("Merchant/acme", "cards"));
        assert!(unconnected.starts_with("Merchant/acme is not connected yet"), "{unconnected}");
    }

    async fn items(fixture: &StateFixture, objects: &Value) -> Vec<InventoryItem> {
        fixture.service.list("/v1/cards", objects);
        let (_, reply) = run_in(fixture.decide(list("Merchant/acme", "cards"))).await;
        let Reply::Inventory(Ok(items)) = reply else { panic!("{reply:?}") };
        items
    }

    #[tokio::test]
    async fn every_object_with_an_id_is_listed_in_the_order_of_the_service() {
        let adopts = annotated_document("SavedMethod", "adopts", "reckon.dev/adopts: card_2", CARD);
        let mut fixture = StateFixture::with_documents(&[&card("known"), &adopts]);
        fixture.apply("SavedMethod/known", "card_1", json!({}));
        let before = fixture.length();
        let objects = json!([{"id": "card_2"}, {"no": "id"}, {"id": "card_1"}]);
        let items = items(&fixture, &objects).await;
        let options: Vec<(&str, &ImportOption)> =
            items.iter().map(|item| (item.id.as_str(), &item.import_option)).collect();
        assert_eq!(
            options,
            [
                ("card_2", &ImportOption::Document(key("SavedMethod/adopts"))),
                ("card_1", &ImportOption::Known(key("SavedMethod/known"))),
            ]
        );
        assert_eq!(fixture.length(), before, "a list changes nothing");
    }

    #[tokio::test]
    async fn two_new_objects_never_get_one_name() {
        let fixture = StateFixture::with_documents(&[]);
        let object = |id: &str| json!({"id": id, "brand": "VISA", "number": "••••4242", "exp_month": 12, "exp_year": 2031});
        let items = items(&fixture, &json!([object("card_1"), object("card_2")])).await;
        let names: Vec<String> = items
            .iter()
            .map(|item| match &item.import_option {
                ImportOption::New(key, _) => key.short(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(names.len(), 2);
        assert_eq!(names[1], format!("{}-2", names[0]));
    }
}

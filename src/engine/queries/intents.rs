//! Open intents, possible orphans, and unknown objects with marks of ours, each with its remedy.

use std::collections::BTreeMap;

use crate::base::clock::timestamp;
use crate::base::hash::SourceId;
use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::engine::handles::shared::EngineResult;
use crate::engine::protocol::intents::{
    DisownPreview, DisownedView, IntentView, IntentsView, RemadeView, UnknownObjectView,
    collected_money, evidence, merchant_mode, unsettled_reason,
};
use crate::engine::view::EngineView;
use crate::model::intent::OpenIntent;
use crate::model::state::observed::Observed;
use crate::model::state::orphan::{Collection, UnknownObject};
use crate::plan::state_view::StateView;
use crate::store::read_model::model::{ReadModel, ReadModelError};

/// The command that disowns every unknown object at once.
const EMPTY_REMOTE: &str = "reckon init --empty-remote";

impl EngineView<'_> {
    pub fn intents(&self) -> EngineResult<IntentsView> {
        let mut open: Vec<&OpenIntent> =
            self.known_state.open_intents().map(|open| &**open).collect();
        open.sort_by_key(|open| open.intent.id);
        let orphans = self.shared.facts.possible_orphans()?.into_iter();
        let remade =
            orphans.map(|orphan| RemadeView { intent: orphan.intent.to_string(), key: orphan.key });
        let unknown = disown_preview(&self.shared.facts)?;
        Ok(IntentsView {
            last_resort: (!unknown.objects.is_empty()).then_some(unknown),
            items: open.into_iter().map(intent_view).collect(),
            remade: remade.collect(),
            unknown_objects: self.unknown_objects()?,
            freeze: self.view_freeze(),
        })
    }

    /// Returns every unknown object that blocks a resource.
    pub(crate) fn unknown_objects(&self) -> EngineResult<Vec<UnknownObjectView>> {
        let holders = self.shared.facts.unknown_objects()?;
        if holders.is_empty() {
            return Ok(Vec::new());
        }
        let marks = self.marks();
        let mut views = Vec::new();
        for (id, key) in holders {
            let known = self.known_state.observed(&key);
            let strays = known.as_ref().map_or(&[][..], |known| &known.unknown_objects);
            if let Some(stray) = strays.iter().find(|stray| stray.id.as_str() == id) {
                views.push(unknown_object_view(stray, key, &marks));
            }
        }
        Ok(views)
    }

    pub(crate) fn marks(&self) -> BTreeMap<String, Key> {
        let partner = &self.shared.settings.planning.partner;
        let mark = |key: &Key, generation: u32| {
            let known = self.known_state.observed(key);
            let origin = known.as_deref().and_then(Observed::first_name);
            SourceId::new(partner, origin.unwrap_or(key), generation).mark().to_string()
        };
        let documents = self.known_state.desired().manifests.values();
        documents.map(|one| (mark(&one.key, one.annotations.generation), one.key.clone())).collect()
    }
}

fn intent_view(open: &OpenIntent) -> IntentView {
    IntentView {
        id: open.intent.id.to_string(),
        key: open.intent.key.clone(),
        effect: open.intent.effect.clone(),
        state: open.state.word().to_owned(),
        attempts: open.state.attempt(),
        reason: unsettled_reason(&open.state).map(str::to_owned),
        source_id: open.intent.source_id.to_string(),
        mark: open.intent.mark.to_string(),
        at: timestamp(&open.intent.at),
        evidence: evidence(&open.intent),
    }
}

fn unknown_object_view(
    stray: &UnknownObject,
    key: Key,
    marks: &BTreeMap<String, Key>,
) -> UnknownObjectView {
    let UnknownObject { id, mark, list, is_duplicate: second, collection: _ } = stray;
    let document = marks.get(mark.as_str());
    let import = match document {
        Some(document) if !second => format!("reckon import {} {id}", document.short()),
        Some(_) => format!("end one of the two objects of {} at the service", key.short()),
        None => format!("reckon import KIND/NAME {id}"),
    };
    let way_out = vec![import, format!("reckon forget {id}")];
    let (id, mark, list) = (id.to_string(), mark.to_string(), list.clone());
    UnknownObjectView { id, list, mark, key, second: *second, way_out }
}

/// Lists the objects with unknown marks that a state has found so far.
///
/// # Errors
/// The index cannot be read.
pub fn disown_preview(facts: &ReadModel) -> Result<DisownPreview, ReadModelError> {
    let mut all = DisownPreview { command: EMPTY_REMOTE.to_owned(), ..DisownPreview::default() };
    let mut sums: BTreeMap<(Currency, Mode), i64> = BTreeMap::new();
    for (id, holder) in facts.unknown_objects()? {
        let Some(known) = facts.observed_state(&holder)? else { continue };
        let mut strays = known.unknown_objects.iter();
        let found = strays.find(|stray| stray.id.as_str() == id && !stray.is_duplicate);
        let Some(stray) = found else { continue };
        let mode = merchant_mode(facts, &known.merchant)?;
        if let Some(active) = stray.collection.as_ref().filter(|collects| collects.is_active()) {
            all.active = all.active.saturating_add(1);
            let sum = sums.entry((active.amount.currency(), mode)).or_default();
            *sum = sum.saturating_add(active.amount.minor());
        }
        all.objects.push(disowned_view(stray, known.merchant.clone(), mode));
    }
    let money = |((currency, mode), sum)| collected_money(currency, mode, sum);
    all.totals = sums.into_iter().map(money).collect();
    Ok(all)
}

fn disowned_view(stray: &UnknownObject, merchant: Key, mode: Mode) -> DisownedView {
    let collected = |Collection { amount, .. }: &Collection| {
        collected_money(amount.currency(), mode, amount.minor())
    };
    DisownedView {
        id: stray.id.to_string(),
        list: stray.list.clone(),
        merchant,
        status: stray.collection.as_ref().map(|collects| collects.status.clone()),
        money: stray.collection.as_ref().map(collected),
    }
}

#[cfg(test)]
mod tests;

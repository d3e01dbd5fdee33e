//! Changes by a merchant to itself and its accounts (service-facts, 67 to 71), and the deletion of
//! its test data. PUT and PATCH do the same: fields that are absent or null keep their values.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::Uri;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::api::credentials::AccountType;
use crate::api::merchant::{AccountChange, Merchant, MerchantAccount, MerchantChange, Purge};
use crate::api::rules::{FieldProblem, FieldProblems, NAME_LENGTH_MAX, is_country};
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::auth::parse_range;
use crate::sandbox::merchants::policy::{MerchantPolicy, SwipePolicy, is_payment_field};
use crate::sandbox::merchants::{accounts, events};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::{MerchantMode, ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

/// Parses a comma-separated list; `*` and empty words are dropped.
fn parse_list(text: &str) -> BTreeSet<String> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty() && *word != "*");
    words.map(str::to_owned).collect()
}

/// Maximum length of a list of event URLs (service-facts, 31).
const URLS_LENGTH_MAX: usize = 1024;

pub(crate) fn merchant(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    change: MerchantChange,
) -> Result<Merchant> {
    let owner = asked.owner()?;
    SandboxRefusal::fields("", &rules(&change))?;
    let mut policy = cx.policy_to_edit(&owner.merchant)?;
    if let Some(ranges) = &change.api_allowed_ip_address_ranges {
        policy.allowed_addresses = parse_list(ranges).into_iter().collect();
    }
    let urls = &mut policy.events_urls;
    urls.live = change.live_events_urls.clone().unwrap_or_else(|| urls.live.clone());
    urls.test = change.test_events_urls.clone().unwrap_or_else(|| urls.test.clone());
    cx.set_policy(&owner.merchant, &policy)?;
    let mut record = Arc::unwrap_or_clone(cx.merchant(&owner.merchant)?);
    record.own = merge_change(record.own, change);
    record.modified = Some(Timestamp(cx.now));
    cx.store_merchant(&record)?;
    let shown = accounts::merchant(cx, asked)?;
    events::emit_to_both(cx, &owner.merchant, "merchant.updated", &shown)?;
    Ok(shown)
}

/// Merges the changed details over the old ones; details of the policy are stored there.
fn merge_change(own: MerchantChange, change: MerchantChange) -> MerchantChange {
    MerchantChange {
        name: change.name.or(own.name),
        contact_name: change.contact_name.or(own.contact_name),
        contact_email: change.contact_email.or(own.contact_email),
        contact_phone: change.contact_phone.or(own.contact_phone),
        address1: change.address1.or(own.address1),
        address2: change.address2.or(own.address2),
        city: change.city.or(own.city),
        state: change.state.or(own.state),
        postal_code: change.postal_code.or(own.postal_code),
        country: change.country.or(own.country),
        ..MerchantChange::default()
    }
}

fn rules(change: &MerchantChange) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    if let Some(name) = &change.name {
        problems.require_text("name", "Name", name);
        problems.length_max("name", "Name", Some(name), NAME_LENGTH_MAX);
    }
    let ranges = change.api_allowed_ip_address_ranges.as_deref().map(parse_list);
    let fits = ranges.iter().flatten().all(|text| parse_range(text).is_some());
    let text = "IP address range is invalid";
    problems.unless(fits, "api_allowed_ip_address_ranges", "invalid", text);
    for (name, urls) in [
        ("live_events_urls", &change.live_events_urls),
        ("test_events_urls", &change.test_events_urls),
    ] {
        let fits = urls.as_deref().is_none_or(are_urls);
        problems.unless(fits, name, "invalid", "URL is invalid");
    }
    problems.country("country", change.country.as_deref());
    problems.into_list()
}

fn are_urls(text: &str) -> bool {
    let is_web = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https"));
    let is_url = |url: &str| url.parse().is_ok_and(|uri| is_web(&uri) && uri.host().is_some());
    let mut urls = text.split(',').map(str::trim).filter(|url| !url.is_empty());
    text.len() <= URLS_LENGTH_MAX && urls.all(is_url)
}

/// PATCH and PUT of an account of this type. 404 for an account of another merchant, mode or type.
pub(crate) fn account(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    change: AccountChange,
    kind: &AccountType,
) -> Result<MerchantAccount> {
    let (owner, id) = (asked.owner()?, asked.parameter(0));
    let record = cx.merchant(&owner.merchant)?;
    let found = record.find_account(owner.mode, id).filter(|account| account.kind == *kind);
    let mut account = found.cloned().ok_or_else(|| SandboxRefusal::not_found("Account", id))?;
    let mut policy = cx.policy_to_edit(&owner.merchant)?;
    let problems = FieldProblems::default();
    let mut rules = PolicyChange { policy: &mut policy, id, change: &change, problems };
    if *kind == AccountType::Card {
        rules.set_verification();
        rules.set_swipe();
    }
    rules.set_countries();
    SandboxRefusal::fields("", &rules.problems.into_list())?;
    // One account of each type stays primary: a request can set `primary`, but not clear it.
    let keeps_one = !account.primary || change.primary != Some(false);
    SandboxRefusal::unless(keeps_one, "no_primary_account", "No primary account")?;
    cx.set_policy(&owner.merchant, &policy)?;
    account.name = change.name.filter(|name| !name.trim().is_empty()).unwrap_or(account.name);
    account.primary |= change.primary == Some(true);
    cx.add_account(Arc::unwrap_or_clone(record), owner.mode, &account)?;
    let record = cx.merchant(&owner.merchant)?;
    let policy = cx.policy(&owner.merchant)?;
    let account = record.find_account(owner.mode, id).ok_or_else(SandboxRefusal::server_error)?;
    Ok(accounts::render_merchant_account(account, &record, &policy))
}

/// A change of an account's part of the policy, with the problems found so far.
struct PolicyChange<'a> {
    policy: &'a mut MerchantPolicy,
    id: &'a str,
    change: &'a AccountChange,
    problems: FieldProblems,
}

impl PolicyChange<'_> {
    fn set_countries(&mut self) {
        let countries = self.change.transaction_allowed_countries.as_deref().map(parse_list);
        let Some(countries) = countries else { return };
        let fits = countries.iter().all(|code| is_country(&code.to_ascii_uppercase()));
        let text = "Country is invalid";
        self.problems.unless(fits, "transaction_allowed_countries", "invalid", text);
        self.policy.allowed_countries.insert(self.id.to_owned(), countries);
    }

    fn set_verification(&mut self) {
        let (change, id) = (self.change, self.id.to_owned());
        let cvv = self.word("cvv_policy", change.cvv_policy.as_deref());
        self.policy.cvv.extend(cvv.map(|cvv| (id.clone(), cvv)));
        let avs = self.word("avs_policy", change.avs_policy.as_deref());
        self.policy.avs.extend(avs.map(|avs| (id.clone(), avs)));
        match change.ignore_avs_failure_if_cvv_match {
            Some(true) => drop(self.policy.avs_waived.insert(id.clone())),
            Some(false) => drop(self.policy.avs_waived.remove(&id)),
            None => {}
        }
        let fields = change.required_payment_fields.as_deref();
        let fields = self.payment_fields("required_payment_fields", fields);
        self.policy.required_fields.extend(fields.map(|fields| (id.clone(), fields)));
        let brands = change.accepted_card_types.as_deref().map(parse_list);
        self.policy.card_types.extend(brands.map(|brands| (id, brands)));
    }

    fn set_swipe(&mut self) {
        let (change, own) = (self.change, self.policy.swipe_of(self.id));
        let cvv = self.word("swipe_cvv_policy", change.swipe_cvv_policy.as_deref());
        let avs = self.word("swipe_avs_policy", change.swipe_avs_policy.as_deref());
        let fields = change.swipe_required_payment_fields.as_deref();
        let fields = self.payment_fields("swipe_required_payment_fields", fields);
        let new = SwipePolicy {
            cvv: cvv.unwrap_or(own.cvv),
            avs: avs.unwrap_or(own.avs),
            avs_waived: change.swipe_ignore_avs_failure_if_cvv_match.unwrap_or(own.avs_waived),
            required_fields: fields.unwrap_or(own.required_fields),
        };
        self.policy.swipe.insert(self.id.to_owned(), new);
    }

    fn payment_fields(&mut self, context: &str, said: Option<&str>) -> Option<BTreeSet<String>> {
        let fields = said.map(parse_list)?;
        let fits = fields.iter().all(|field| is_payment_field(field));
        self.problems.unless(fits, context, "invalid", "Payment field is invalid");
        fits.then_some(fields)
    }

    fn word<T: DeserializeOwned>(&mut self, context: &str, said: Option<&str>) -> Option<T> {
        let found = T::deserialize(Value::from(said?)).ok();
        self.problems.unless(found.is_some(), context, "invalid", "Policy is invalid");
        found
    }
}

pub(crate) fn purge(cx: &mut ChangeUnit, asked: &ParsedRequest, wanted: &Purge) -> Result<()> {
    let owner = asked.owner()?;
    let (is_test, text) = (owner.mode == MerchantMode::Test, "Only test data can be purged");
    SandboxRefusal::unless(is_test, "unavailable_for_merchant_mode", text)?;
    let (transactions, methods) = (wanted.delete_transactions, wanted.delete_payment_methods);
    let all = transactions != Some(true) && methods != Some(true);
    if all || transactions == Some(true) {
        recurring_charges(cx, &owner)?;
        clear(cx, ObjectKind::TRANSACTION, &owner.key())?;
        let prefix = ChangeUnit::reference_prefix(ObjectKind::TRANSACTION, &owner, "");
        cx.remove_all(&prefix, |_| true)?;
    }
    if all || methods == Some(true) {
        for kind in [ObjectKind::CARD, ObjectKind::BANK] {
            clear(cx, kind, &owner.key())?;
            cx.remove_all(&ChangeUnit::reference_prefix(kind, &owner, ""), |_| true)?;
        }
        clear(cx, ObjectKind::TOKEN, &owner.key())?;
    }
    Ok(())
}

fn recurring_charges(cx: &mut ChangeUnit, owner: &ObjectOwner) -> Result<()> {
    for id in cx.ids(&ObjectKind::RECURRING_CHARGE.list(&owner.key()), 0, u64::MAX)? {
        clear(cx, ObjectKind::OCCURRENCE, &id)?;
    }
    clear(cx, ObjectKind::RECURRING_CHARGE, &owner.key())?;
    cx.remove_all(&format!("l/hold/{}/", owner.key()), |_| true)
}

fn clear(cx: &mut ChangeUnit, kind: ObjectKind, under: &str) -> Result<()> {
    for id in cx.ids(&kind.list(under), 0, u64::MAX)? {
        if let Some(kept) = cx.look_up::<Stored<Value, IgnoredAny>>(kind, &id)? {
            cx.delete(kind, under, &id, kept.sequence);
        }
    }
    Ok(())
}

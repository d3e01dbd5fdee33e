//! Applications for further merchants: their documents, and the people who open their links.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;

use tokio::sync::{mpsc, oneshot};

use super::sandbox_control::SandboxControl;
use crate::engine::commands::approve::ApproveLive;
use crate::engine::core::input::EngineInput;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::sim::net::post_office::PostOffice;
use crate::sim::net::receivers::WebhookReceivers;
use crate::sim::world::documents::{Doc, DocBody, DocTree};

/// Address to which the sandbox sends application webhooks; the reference is appended.
pub(crate) const EVENT_URL: &str = "http://127.0.0.1:8780/events/";
/// Submissions of one document that the service can distinguish.
const GENERATIONS_MAX: u32 = 10;

/// Secrets of every applicant, by the variables that the documents name.
pub(crate) fn applicant_secrets() -> BTreeMap<String, String> {
    let signature = r#"[{"lx":1,"ly":2,"mx":3,"my":4}]"#;
    [("BORN", "1980-02-29"), ("LICENSE", "C000-0000"), ("SIGNATURE", signature)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// Writes the spec of an application. Each submission describes another business, since the service
/// would decline a second one of the same business.
pub(crate) fn write_spec(doc: &Doc, sign_up: bool, text: u32, out: &mut String) -> fmt::Result {
    let (name, generation) = (&doc.name, doc.generation);
    if sign_up {
        return writeln!(
            out,
            "  submission: sign_up\n  plan: basic\n  email: {name}@applicants.example\n  \
             goods_and_services: {name} version {text}"
        );
    }
    writeln!(
        out,
        "  submission: complete\n  plan: basic\n  business_name: {name} generation {generation}\n  \
         federal_tax_id: 00-{:07}\n  email: {name}@applicants.example",
        tax_number(name, generation)
    )?;
    out.write_str(
        "  first_name: Jo\n  last_name: Roe\n  business_address1: 1 Quay\n  business_city: Chicago\n  \
         business_state: IL\n  business_zip_code: '60601'\n  business_phone: '+1 312 555 0100'\n  \
         business_country: US\n  industry_code: 5942\n  goods_and_services: Books\n  structure: SO\n  \
         business_type: R\n  years_in_business: '7'\n  owner_first_name: Jo\n  owner_last_name: Roe\n  \
         owner_title: Owner\n  owner_date_of_birth: {env: BORN}\n  \
         owner_social_security_number: 000-12-3456\n  owner_has_significant_ownership: true\n  \
         owner_has_significant_responsibility: true\n  owner_address1: 1 Quay\n  owner_city: Chicago\n  \
         owner_state: IL\n  owner_zip_code: '60601'\n  owner_phone_number: '+1 312 555 0100'\n  \
         owner_email: jo@applicants.example\n  owner_drivers_license_number: {env: LICENSE}\n  \
         owner_drivers_license_state: IL\n  owner_drivers_license_expiration: 2031-05-31\n  \
         owner_country_of_citizenship: US\n  operating_account_routing_number: '000000013'\n  \
         operating_account_bank_name: First Bank of Testing\n  operating_account_number: '1234567890'\n  \
         signature: {env: SIGNATURE}\n  ip_address_timestamp: 2026-11-20T18:00:00Z\n",
    )
}

/// Returns a tax number for each submission. All begin with 00, which is never assigned.
fn tax_number(name: &str, generation: u32) -> u32 {
    let mixed = name.bytes().fold(7_u32, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u32::from(byte)).checked_rem(900_000).unwrap_or(0)
    });
    let own = generation.checked_rem(GENERATIONS_MAX).unwrap_or(0);
    mixed.saturating_add(own.saturating_mul(1_000_000))
}

/// Opens the link of every sign-up, and the portal link of every invoice with an attachment. The
/// pages are discarded.
pub(crate) async fn open_links(tree: &DocTree, engine: &mpsc::Sender<EngineInput>) {
    let asked = tree.values().filter(|doc| {
        matches!(
            doc.body,
            DocBody::Application { sign_up: true, .. } | DocBody::Invoice { letter: 1.., .. }
        )
    });
    for key in asked.filter_map(|doc| doc.address().parse().ok()) {
        let (page, _nobody) = oneshot::channel();
        drop(engine.send(EngineInput::Visit(key, page)).await);
    }
}

/// Seconds between two looks of a person for live merchants that wait for an approval.
const LOOKS_EVERY_S: u64 = 20;

/// Seconds between two decisions of underwriting, where it decides twice.
const DECIDES_EVERY_S: u64 = 5;

/// Approves every live merchant that waits for an approval.
async fn approve_live_merchants(engine: &mpsc::Sender<EngineInput>) -> Option<()> {
    let (reply, answer) = oneshot::channel();
    engine.send(EngineInput::Ask(EngineQuery::Approvals, reply)).await.ok()?;
    let Ok(Reply::Approvals(waiting)) = answer.await else { return None };
    for binding in waiting {
        let (reply, answer) = oneshot::channel();
        let approving = ApproveLive { binding, actor: "the simulator".to_owned() };
        engine.send(EngineInput::Approve(approving, reply)).await.ok()?;
        answer.await.ok()?;
    }
    Some(())
}

/// Delivers the service's webhooks and the approvals of people to the engine, for ever.
pub(crate) async fn deliver_and_approve(
    desk: &SandboxControl,
    post: &PostOffice,
    doors: &WebhookReceivers,
) {
    let mut second = 0_u64;
    loop {
        second = second.wrapping_add(1);
        let rest = post.poll_pause();
        if second.is_multiple_of(LOOKS_EVERY_S) || rest.as_secs() >= LOOKS_EVERY_S {
            // If the engine has ended, its next life gets the approval.
            approve_live_merchants(&doors.engine).await.unwrap_or_default();
        }
        if second.is_multiple_of(DECIDES_EVERY_S) {
            post.decide(desk).await;
        }
        desk.deliver(|letter| post.deliver_webhook(letter, doors)).await;
        post.deliver_late(doors).await;
        tokio::time::sleep(rest).await;
    }
}

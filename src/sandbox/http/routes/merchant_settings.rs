//! Routes for transactions, events and the merchant itself.

use http::StatusCode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Route, RouteHandler, Routes};
use crate::api::credentials::AccountType;
use crate::api::event::{GetEvent, ListEvents};
use crate::api::merchant::{
    GetMerchant, PatchAccount, PatchAchAccount, PatchMerchant, PurgeTestData,
};
use crate::api::payments::transaction::{GetTransaction, SearchTransactions};
use crate::api::status::{GatewayStatus, GetStatus};
use crate::api::{Auth, Endpoint, Method};
use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::lenient_json;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::merchants::{accounts, merchant_settings, purge};
use crate::sandbox::openapi::RouteDoc;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::payments::transactions;
use crate::sandbox::state::events;
use crate::sandbox::state::store::ChangeUnit;

impl Routes {
    pub(super) fn merchant_settings(&mut self) {
        self.read::<GetTransaction>(transactions::get).surface = ServiceSurface::Public;
        self.read::<SearchTransactions>(transactions::search).surface = ServiceSurface::Public;
        self.read::<ListEvents>(events::list);
        self.read::<GetEvent>(events::get);
        self.read::<GetMerchant>(accounts::merchant).surface = ServiceSurface::Public;
        self.change::<PatchMerchant>("merchant.put", merchant_settings::merchant);
        self.change::<PatchAccount>("account.put", |cx, asked, new| {
            merchant_settings::account(cx, asked, new, &AccountType::Card)
        });
        self.change::<PatchAchAccount>("ach_account.put", |cx, asked, new| {
            merchant_settings::account(cx, asked, new, &AccountType::Check)
        });
        self.purge_route();
        let normal = || Ok(GatewayStatus { status: "NORMAL".to_owned() });
        self.read::<GetStatus>(move |_, _| normal()).surface = ServiceSurface::Public;
    }

    /// Adds an endpoint for both PATCH and PUT (service-facts, 67 and 69).
    fn change<E: Endpoint>(
        &mut self,
        put_name: &'static str,
        handler: impl Fn(
            &mut ChangeUnit<'_>,
            &ParsedRequest,
            E::Request,
        ) -> Result<E::Reply, SandboxRefusal>
        + Send
        + Sync
        + Copy
        + 'static,
    ) where
        E::Request: DeserializeOwned,
        E::Reply: Serialize,
    {
        self.write::<E>(handler).surface = ServiceSurface::Public;
        let put: RouteHandler = Box::new(move |cx, asked| {
            SandboxAnswer::json(&handler(cx, asked, lenient_json::parse_body(asked.json()?)?)?)
        });
        let put = Self::route(Method::Put, E::PATH, put);
        let spoken = Some(RouteDoc::of::<E>().with_name(put_name));
        self.0.push(Route { auth: E::AUTH, surface: ServiceSurface::Public, doc: spoken, ..put });
    }

    /// Adds the purge, the only endpoint that answers 204 without a body (service-facts, 4).
    fn purge_route(&mut self) {
        let purge: RouteHandler = Box::new(|cx, asked| {
            purge::purge(cx, asked, &lenient_json::parse_body(asked.json()?)?)?;
            Ok(SandboxAnswer::of(StatusCode::NO_CONTENT, "text/plain", Vec::new()))
        });
        let route = Self::route(PurgeTestData::METHOD, PurgeTestData::PATH, purge);
        let spoken = Some(RouteDoc::of::<PurgeTestData>().without_content());
        self.0.push(Route {
            auth: Auth::SecretKey,
            surface: ServiceSurface::Public,
            doc: spoken,
            ..route
        });
    }
}

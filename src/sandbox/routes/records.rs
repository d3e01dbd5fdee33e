//! Routes for transactions, events and the merchant itself.

use http::StatusCode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::credentials::AccountType;
use crate::api::event::{GetEvent, ListEvents};
use crate::api::merchant::{
    GetMerchant, PatchAccount, PatchAchAccount, PatchMerchant, PurgeTestData,
};
use crate::api::status::{GetStatus, Status};
use crate::api::transaction::{GetTransaction, SearchTransactions};
use crate::api::{Auth, Endpoint, Method};
use crate::sandbox::answer::Answer;
use crate::sandbox::asked::Asked;
use crate::sandbox::lenient;
use crate::sandbox::openapi::Spoken;
use crate::sandbox::options::Surface;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::routes::{Handler, Route, Routes};
use crate::sandbox::state::Cx;
use crate::sandbox::{accounts, events, purge, records, transactions};

impl Routes {
    pub(super) fn records(&mut self) {
        self.read::<GetTransaction>(transactions::get).surface = Surface::Public;
        self.read::<SearchTransactions>(transactions::search).surface = Surface::Public;
        self.read::<ListEvents>(events::list);
        self.read::<GetEvent>(events::get);
        self.read::<GetMerchant>(accounts::merchant).surface = Surface::Public;
        self.change::<PatchMerchant>("merchant.put", records::merchant);
        self.change::<PatchAccount>("account.put", |cx, asked, new| {
            records::account(cx, asked, new, &AccountType::Card)
        });
        self.change::<PatchAchAccount>("ach_account.put", |cx, asked, new| {
            records::account(cx, asked, new, &AccountType::Check)
        });
        self.purging();
        let normal = || Ok(Status { status: "NORMAL".to_owned() });
        self.read::<GetStatus>(move |_, _| normal()).surface = Surface::Public;
    }

    /// Adds an endpoint for both PATCH and PUT (service-facts, 67 and 69).
    fn change<E: Endpoint>(
        &mut self,
        put_name: &'static str,
        handler: impl Fn(&mut Cx<'_>, &Asked, E::Request) -> Result<E::Reply, Refusal>
        + Send
        + Sync
        + Copy
        + 'static,
    ) where
        E::Request: DeserializeOwned,
        E::Reply: Serialize,
    {
        self.write::<E>(handler).surface = Surface::Public;
        let put: Handler = Box::new(move |cx, asked| {
            Answer::json(&handler(cx, asked, lenient::read(asked.json()?)?)?)
        });
        let put = Self::route(Method::Put, E::PATH, put);
        let spoken = Some(Spoken::of::<E>().named(put_name));
        self.0.push(Route { auth: E::AUTH, surface: Surface::Public, spoken, ..put });
    }

    /// Adds the purge, the only endpoint that answers 204 without a body (service-facts, 4).
    fn purging(&mut self) {
        let purge: Handler = Box::new(|cx, asked| {
            purge::purge(cx, asked, &lenient::read(asked.json()?)?)?;
            Ok(Answer::of(StatusCode::NO_CONTENT, "text/plain", Vec::new()))
        });
        let route = Self::route(PurgeTestData::METHOD, PurgeTestData::PATH, purge);
        let spoken = Some(Spoken::of::<PurgeTestData>().without_content());
        self.0.push(Route { auth: Auth::SecretKey, surface: Surface::Public, spoken, ..route });
    }
}

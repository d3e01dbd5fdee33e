//! Routing: the endpoints of [`crate::api`], each with its handler.

pub mod charge_actions;
pub mod merchant_settings;
mod pages;

use http::Method as Verb;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answer::SandboxAnswer;
use super::refusal::SandboxRefusal;
use super::request::{ParsedRequest, decode};
use super::{documented_surface, lenient_json};
use crate::api::contact::CreateContact;
use crate::api::contact_hash::CreateContactHash;
use crate::api::credentials::GetCredentials;
use crate::api::file::{GetFile, UploadFile};
use crate::api::invoice::CreateInvoice;
use crate::api::methods::bank::{CreateBank, DeleteBank, GetBank, ListBanks, PatchBank};
use crate::api::methods::bank_account::ListBankAccounts;
use crate::api::methods::card::{CreateCard, DeleteCard, GetCard, ListCards, PatchCard};
use crate::api::methods::one_time_token::{CreateToken, GetToken};
use crate::api::methods::token::ExchangeToken;
use crate::api::methods::vault::CreateVaultMethod;
use crate::api::onboarding::application::{StartSignUp, SubmitApplication};
use crate::api::payments::surcharge::GetSurcharge;
use crate::api::payments::transaction::CreateCharge;
use crate::api::recurring::actions::{CancelRecurring, DeleteRecurring, ScheduleCharge};
use crate::api::recurring::charge::{CreateRecurring, GetRecurring, ListRecurring, PatchRecurring};
use crate::api::recurring::occurrence::{
    GetOccurrence, IgnoreOccurrence, ListOccurrences, PayOccurrence,
};
use crate::api::recurring::preview::PreviewSchedule;
use crate::api::{Auth, Endpoint, Method};
use crate::sandbox::invoicing::{contact_hashes, contacts, files, invoices};
use crate::sandbox::merchants::{accounts, oauth};
use crate::sandbox::methods::{banks, cards, tokens, vault};
use crate::sandbox::onboarding::applications;
use crate::sandbox::openapi;
use crate::sandbox::openapi::RouteDoc;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::payments::{charges, surcharges};
use crate::sandbox::recurring::{
    change, end, occurrence_routes, preview, recurring_charges, start,
};
use crate::sandbox::state::store::ChangeUnit;

pub(crate) type RouteHandler = Box<
    dyn Fn(&mut ChangeUnit<'_>, &ParsedRequest) -> Result<SandboxAnswer, SandboxRefusal>
        + Send
        + Sync,
>;

/// A route.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) pattern: Vec<&'static str>,
    pub(crate) auth: Auth,
    pub(crate) surface: ServiceSurface,
    /// Its description in the document; `None` for a page.
    pub(crate) doc: Option<RouteDoc>,
    pub(crate) handler: RouteHandler,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} /{}", self.method, self.pattern.join("/"))
    }
}

/// All routes; if several match a path, the first counts.
#[derive(Debug)]
pub(crate) struct Routes(Vec<Route>);

impl Routes {
    /// Builds the routes of the emulated service.
    pub(crate) fn new() -> Self {
        let mut routes = Self(Vec::new());
        routes.partner();
        routes.applications();
        routes.payment();
        routes.charge_actions();
        routes.schedules();
        routes.merchant_settings();
        routes.pages();
        for (method, path, handler) in openapi::document_routes(&routes.0) {
            routes.0.push(Self::route(method, path, handler));
        }
        routes
    }

    fn partner(&mut self) {
        let exchange = self.read::<ExchangeToken>(oauth::exchange);
        exchange.doc = exchange.doc.map(|spoken| spoken.with_forms(ServiceSurface::Public));
        self.read::<GetCredentials>(accounts::credentials);
        self.read::<ListBankAccounts>(accounts::bank_accounts);
        self.write::<CreateContact>(contacts::create);
        self.write::<CreateInvoice>(invoices::create);
        self.write::<UploadFile>(files::upload);
        self.read::<GetFile>(files::get);
        self.read::<CreateContactHash>(contact_hashes::create);
        self.partner_public();
    }

    /// Adds the partner routes that only public material describes.
    fn partner_public(&mut self) {
        self.write::<CreateVaultMethod>(vault::create).surface = ServiceSurface::Public;
        let older: RouteHandler =
            Box::new(|cx, asked| SandboxAnswer::json(&accounts::credentials(cx, asked)?));
        let older = Self::route(Method::Get, "/api/v1/chargeio_credentials", older);
        let spoken = RouteDoc::of::<GetCredentials>().with_name("credentials.get_by_older_path");
        let (auth, surface) = (Auth::Payments, ServiceSurface::Public);
        self.0.push(Route { auth, surface, doc: Some(spoken), ..older });
    }

    fn applications(&mut self) {
        self.read::<SubmitApplication>(applications::submit);
        self.read::<StartSignUp>(applications::sign_up);
    }

    fn payment(&mut self) {
        let token = Self::route(CreateToken::METHOD, CreateToken::PATH, Box::new(tokens::create));
        let spoken = Some(RouteDoc::of::<CreateToken>().with_forms(ServiceSurface::Documented));
        self.0.push(Route { doc: spoken, ..token });
        self.read::<GetToken>(tokens::get);
        self.write::<CreateCard>(cards::create);
        self.write::<PatchCard>(|cx, asked, change| cards::SAVED_CARDS.patch(cx, asked, change));
        self.read::<GetCard>(|cx, asked| cards::SAVED_CARDS.get(cx, asked));
        self.read::<DeleteCard>(|cx, asked| cards::SAVED_CARDS.delete(cx, asked));
        self.read::<ListCards>(cards::list);
        self.write::<CreateBank>(banks::create);
        self.write::<PatchBank>(|cx, asked, change| banks::SAVED_BANKS.patch(cx, asked, change));
        self.read::<GetBank>(|cx, asked| banks::SAVED_BANKS.get(cx, asked));
        self.read::<DeleteBank>(|cx, asked| banks::SAVED_BANKS.delete(cx, asked));
        self.read::<ListBanks>(|cx, asked| banks::SAVED_BANKS.list(cx, asked, None));
        self.write::<CreateCharge>(charges::create);
        self.write::<ScheduleCharge>(start::schedule);
        self.read::<GetSurcharge>(surcharges::show);
    }

    fn schedules(&mut self) {
        self.write::<PreviewSchedule>(preview::show);
        self.write::<CreateRecurring>(recurring_charges::create);
        self.write::<PatchRecurring>(change::patch);
        let put: RouteHandler = Box::new(|cx, asked| SandboxAnswer::json(&change::put(cx, asked)?));
        let put = Self::route(Method::Put, PatchRecurring::PATH, put);
        let spoken = Some(RouteDoc::of::<PatchRecurring>().with_name("recurring.put"));
        let (auth, surface) = (Auth::SecretKey, ServiceSurface::Public);
        self.0.push(Route { auth, surface, doc: spoken, ..put });
        self.read::<GetRecurring>(recurring_charges::get).surface = ServiceSurface::Public;
        self.read::<ListRecurring>(recurring_charges::list).surface = ServiceSurface::Public;
        self.read::<CancelRecurring>(end::cancel).surface = ServiceSurface::Public;
        self.read::<DeleteRecurring>(end::delete).surface = ServiceSurface::Public;
        self.read::<ListOccurrences>(occurrence_routes::list);
        self.read::<GetOccurrence>(occurrence_routes::get);
        self.read::<PayOccurrence>(occurrence_routes::pay);
        self.read::<IgnoreOccurrence>(occurrence_routes::ignore);
    }

    fn route(method: Method, path: &'static str, handler: RouteHandler) -> Route {
        let pattern = path.split('/').filter(|part| !part.is_empty()).collect();
        let surface = ServiceSurface::Documented;
        let (method, auth) = (method.as_str(), Auth::None);
        Route { method, pattern, auth, surface, doc: None, handler }
    }

    /// Adds a page for people: no credential, no JSON.
    fn page(
        &mut self,
        method: Method,
        path: &'static str,
        handler: impl Fn(&mut ChangeUnit<'_>, &ParsedRequest) -> Result<SandboxAnswer, SandboxRefusal>
        + Send
        + Sync
        + 'static,
    ) {
        self.0.push(Self::route(method, path, Box::new(handler)));
    }

    /// Adds an endpoint whose handler needs no typed body.
    #[expect(clippy::indexing_slicing, reason = "the route was pushed just before")]
    fn read<E: Endpoint>(
        &mut self,
        handler: impl Fn(&mut ChangeUnit<'_>, &ParsedRequest) -> Result<E::Reply, SandboxRefusal>
        + Send
        + Sync
        + 'static,
    ) -> &mut Route
    where
        E::Reply: Serialize,
    {
        let handler: RouteHandler =
            Box::new(move |cx, asked| SandboxAnswer::json(&handler(cx, asked)?));
        let at = self.0.len();
        let route = Self::route(E::METHOD, E::PATH, handler);
        self.0.push(Route { auth: E::AUTH, doc: Some(RouteDoc::of::<E>()), ..route });
        &mut self.0[at]
    }

    /// Adds an endpoint with a typed body.
    fn write<E: Endpoint>(
        &mut self,
        handler: impl Fn(
            &mut ChangeUnit<'_>,
            &ParsedRequest,
            E::Request,
        ) -> Result<E::Reply, SandboxRefusal>
        + Send
        + Sync
        + 'static,
    ) -> &mut Route
    where
        E::Request: DeserializeOwned,
        E::Reply: Serialize,
    {
        self.read::<E>(move |cx, asked| {
            let body = asked.json()?;
            documented_surface::check(cx, E::NAME, &body)?;
            handler(cx, asked, lenient_json::parse_body(body)?)
        })
    }

    /// Returns the route for a request, and its path parameters.
    ///
    /// # Errors
    ///
    /// 404 for an unknown path, 400 for a known path with another method.
    pub(crate) fn find(
        &self,
        surface: ServiceSurface,
        verb: &Verb,
        path: &str,
    ) -> Result<(&Route, Vec<String>), SandboxRefusal> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let fitting: Vec<&Route> = self.0.iter().filter(|route| route.fits(&parts)).collect();
        match fitting.iter().find(|route| route.method == verb.as_str()) {
            Some(route) if route.surface.is_part_of(surface) => {
                Ok((route, route.parameters(&parts)))
            }
            None if fitting.iter().any(|route| route.surface.is_part_of(surface)) => {
                Err(SandboxRefusal::invalid("Method is not supported"))
            }
            Some(_) | None => Err(SandboxRefusal::no_path()),
        }
    }
}

impl Route {
    fn fits(&self, parts: &[&str]) -> bool {
        let fits = |(own, part): (&&str, &&str)| own.starts_with('{') || own == part;
        self.pattern.len() == parts.len() && self.pattern.iter().zip(parts).all(fits)
    }

    fn parameters(&self, parts: &[&str]) -> Vec<String> {
        let pairs = self.pattern.iter().zip(parts).filter(|(own, _)| own.starts_with('{'));
        pairs.map(|(_, part)| decode(&part.replace('+', "%2B"))).collect()
    }
}

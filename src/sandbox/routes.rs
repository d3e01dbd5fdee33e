//! Routing: the endpoints of [`crate::api`], each with its handler, and the pages for people.

use http::{Method as Verb, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::call::{Auth, Endpoint, Method};
use crate::api::contact::{CreateContact, CreateContactHash};
use crate::api::credentials::{AccountType, ExchangeToken, GetCredentials};
use crate::api::event::{GetEvent, ListEvents};
use crate::api::invoice::{CreateInvoice, GetFile, UploadFile};
use crate::api::merchant::{
    Deauthorise, GetMerchant, ListBankAccounts, PatchAccount, PatchAchAccount, PatchMerchant,
    PurgeTestData,
};
use crate::api::method_token::{CreateToken, CreateVaultMethod, GetToken};
use crate::api::onboarding::application::{StartSignUp, SubmitApplication};
use crate::api::reads::{GatewayStatus, GetStatus};
use crate::api::recurring::{
    CancelRecurring, CreateRecurring, DeleteRecurring, GetOccurrence, GetRecurring,
    IgnoreOccurrence, ListOccurrences, ListRecurring, PatchRecurring, PayOccurrence,
    ScheduleCharge,
};
use crate::api::saved_method::{
    CreateBank, CreateCard, DeleteBank, DeleteCard, GetBank, GetCard, ListBanks, ListCards,
    PatchBank, PatchCard,
};
use crate::api::schedule::PreviewSchedule;
use crate::api::transaction::{CreateCharge, GetSurcharge, GetTransaction, SearchTransactions};
use crate::api::transaction_action::{
    CaptureCharge, CreateCredit, GetSignature, ListHolds, RefundCharge, SignTransaction,
    VoidTransaction,
};
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::invoicing::{contacts, invoices, portal};
use crate::sandbox::merchants::{accounts, auth, events, merchant_settings, oauth};
use crate::sandbox::methods::{saved_methods, tokens};
use crate::sandbox::onboarding::{applications, page};
use crate::sandbox::openapi::document;
use crate::sandbox::openapi::route::{Route, RouteDoc, RouteHandler};
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::pages::ASSETS;
use crate::sandbox::payments::{charges, refunds, search, signatures};
use crate::sandbox::recurring::{change, occurrences, recurring_charges, start};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::{body, pages};

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
        for (method, path, handler) in document::document_routes(&routes.0) {
            routes.0.push(Self::route(method, path, handler));
        }
        routes
    }

    fn partner(&mut self) {
        let exchange = self.read::<ExchangeToken>(oauth::exchange_token);
        exchange.doc = exchange.doc.map(|spoken| spoken.with_forms(ServiceSurface::Public));
        self.read::<GetCredentials>(accounts::credentials);
        self.read::<ListBankAccounts>(accounts::bank_accounts);
        self.write::<CreateContact>(contacts::create);
        self.write::<CreateInvoice>(invoices::create);
        self.write::<UploadFile>(invoices::upload_file);
        self.read::<GetFile>(invoices::get_file);
        self.read::<CreateContactHash>(contacts::create_hash);
        self.partner_public();
    }

    /// Adds the partner routes that only public material describes.
    fn partner_public(&mut self) {
        self.write::<CreateVaultMethod>(contacts::create_vault_method).surface =
            ServiceSurface::Public;
        let older: RouteHandler =
            Box::new(|cx, asked| SandboxAnswer::json(&accounts::credentials(cx, asked)?));
        let older = Self::route(Method::Get, "/api/v1/chargeio_credentials", older);
        let spoken = RouteDoc::of::<GetCredentials>().with_name("credentials.get_by_older_path");
        let (auth, surface) = (Auth::Payments, ServiceSurface::Public);
        self.0.push(Route { auth, surface, doc: Some(spoken), ..older });
    }

    fn applications(&mut self) {
        self.read::<SubmitApplication>(applications::submit);
        self.read::<StartSignUp>(page::sign_up);
    }

    fn payment(&mut self) {
        let token = Self::route(CreateToken::METHOD, CreateToken::PATH, Box::new(tokens::create));
        let spoken = Some(RouteDoc::of::<CreateToken>().with_forms(ServiceSurface::Documented));
        self.0.push(Route { doc: spoken, ..token });
        self.read::<GetToken>(tokens::get);
        self.write::<CreateCard>(saved_methods::create_card);
        self.write::<PatchCard>(|cx, asked, change| {
            saved_methods::SAVED_CARDS.patch(cx, asked, change)
        });
        self.read::<GetCard>(|cx, asked| saved_methods::SAVED_CARDS.get(cx, asked));
        self.read::<DeleteCard>(|cx, asked| saved_methods::SAVED_CARDS.delete(cx, asked));
        self.read::<ListCards>(saved_methods::list_cards);
        self.write::<CreateBank>(saved_methods::create_bank);
        self.write::<PatchBank>(|cx, asked, change| {
            saved_methods::SAVED_BANKS.patch(cx, asked, change)
        });
        self.read::<GetBank>(|cx, asked| saved_methods::SAVED_BANKS.get(cx, asked));
        self.read::<DeleteBank>(|cx, asked| saved_methods::SAVED_BANKS.delete(cx, asked));
        self.read::<ListBanks>(|cx, asked| saved_methods::SAVED_BANKS.list(cx, asked, None));
        self.write::<CreateCharge>(start::charge);
        self.write::<ScheduleCharge>(start::schedule);
        self.read::<GetSurcharge>(accounts::surcharge);
    }

    fn schedules(&mut self) {
        self.write::<PreviewSchedule>(recurring_charges::preview);
        self.write::<CreateRecurring>(recurring_charges::create);
        self.write::<PatchRecurring>(change::patch);
        let put: RouteHandler = Box::new(|cx, asked| SandboxAnswer::json(&change::put(cx, asked)?));
        let put = Self::route(Method::Put, PatchRecurring::PATH, put);
        let spoken = Some(RouteDoc::of::<PatchRecurring>().with_name("recurring.put"));
        let (auth, surface) = (Auth::SecretKey, ServiceSurface::Public);
        self.0.push(Route { auth, surface, doc: spoken, ..put });
        self.read::<GetRecurring>(recurring_charges::get).surface = ServiceSurface::Public;
        self.read::<ListRecurring>(recurring_charges::list).surface = ServiceSurface::Public;
        self.read::<CancelRecurring>(change::cancel).surface = ServiceSurface::Public;
        self.read::<DeleteRecurring>(change::delete).surface = ServiceSurface::Public;
        self.read::<ListOccurrences>(occurrences::list);
        self.read::<GetOccurrence>(occurrences::get);
        self.read::<PayOccurrence>(occurrences::pay);
        self.read::<IgnoreOccurrence>(occurrences::ignore);
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
        handler: impl Fn(&mut ChangeUnit, &ParsedRequest) -> Result<SandboxAnswer>
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
        handler: impl Fn(&mut ChangeUnit, &ParsedRequest) -> Result<E::Reply> + Send + Sync + 'static,
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
        handler: impl Fn(&mut ChangeUnit, &ParsedRequest, E::Request) -> Result<E::Reply>
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
            body::check_documented(cx, E::NAME, &body)?;
            handler(cx, asked, body::parse_body(body)?)
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
    ) -> Result<(&Route, Vec<String>)> {
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

impl Routes {
    pub(super) fn charge_actions(&mut self) {
        // Before every path with a charge's id in the same place, because the first match counts.
        self.read::<ListHolds>(charges::list_holds);
        self.write::<CaptureCharge>(charges::capture);
        self.write::<RefundCharge>(refunds::refund);
        self.write::<VoidTransaction>(refunds::void);
        self.write::<CreateCredit>(refunds::credit);
        self.write::<SignTransaction>(signatures::sign);
        self.read::<GetSignature>(signatures::get_signature).surface = ServiceSurface::Public;
        self.deauthorisation();
    }

    /// Adds deauthorisation, whose answer is an empty body and no JSON.
    fn deauthorisation(&mut self) {
        let end: RouteHandler = Box::new(|cx, asked| {
            auth::deauthorise(cx, asked)?;
            Ok(SandboxAnswer::of(StatusCode::OK, "text/plain", Vec::new()))
        });
        let route = Self::route(Deauthorise::METHOD, Deauthorise::PATH, end);
        let spoken = Some(RouteDoc::of::<Deauthorise>());
        self.0.push(Route { auth: Auth::Tenant, doc: spoken, ..route });
    }
}

impl Routes {
    pub(super) fn merchant_settings(&mut self) {
        self.read::<GetTransaction>(search::get).surface = ServiceSurface::Public;
        self.read::<SearchTransactions>(search::search).surface = ServiceSurface::Public;
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
        handler: impl Fn(&mut ChangeUnit, &ParsedRequest, E::Request) -> Result<E::Reply>
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
            SandboxAnswer::json(&handler(cx, asked, body::parse_body(asked.json()?)?)?)
        });
        let put = Self::route(Method::Put, E::PATH, put);
        let spoken = Some(RouteDoc::of::<E>().with_name(put_name));
        self.0.push(Route { auth: E::AUTH, surface: ServiceSurface::Public, doc: spoken, ..put });
    }

    /// Adds the purge, the only endpoint that answers 204 without a body (service-facts, 4).
    fn purge_route(&mut self) {
        let purge: RouteHandler = Box::new(|cx, asked| {
            merchant_settings::purge(cx, asked, &body::parse_body(asked.json()?)?)?;
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

impl Routes {
    /// Adds start, sign-up, consent, portal and hosted fields.
    pub(super) fn pages(&mut self) {
        self.page(Method::Get, pages::START_PATH, pages::start);
        self.page(Method::Get, page::PATH, page::show);
        self.page(Method::Post, page::PATH, page::finish);
        self.page(Method::Get, page::THANKS_PATH, |cx, _| Ok(page::thanks(cx)));
        self.page(Method::Get, oauth::CONSENT_PATH, oauth::show_consent);
        self.page(Method::Post, oauth::CONSENT_PATH, oauth::decide_consent);
        self.page(Method::Get, portal::INVOICE, portal::show);
        self.page(Method::Post, portal::PAY, portal::pay);
        self.page(Method::Get, portal::CONTACT, portal::show_contact);
        for (path, content_type, content) in ASSETS.into_iter().chain(pages::FILES) {
            self.page(Method::Get, path, move |_, _| Ok(pages::file(content_type, content)));
        }
        let ask: RouteHandler = Box::new(pages::surchargeable);
        let ask = Self::route(Method::Get, pages::SURCHARGEABLE, ask);
        self.0.push(Route { auth: Auth::PublicKey, ..ask });
    }
}

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
use crate::sandbox::merchants::{accounts, auth, events, merchant_settings};
use crate::sandbox::methods::saved_methods::{SAVED_BANKS, SAVED_CARDS};
use crate::sandbox::methods::{saved_methods, tokens};
use crate::sandbox::onboarding::{applications, page};
use crate::sandbox::openapi::document;
use crate::sandbox::openapi::route::{Route, RouteDoc, RouteHandler, parts};
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::pages::ASSETS;
use crate::sandbox::payments::{charges, refunds, search, signatures};
use crate::sandbox::recurring::{change, occurrences, recurring_charges};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::{body, pages};

/// The routes of one surface; if several match a path, the first counts.
#[derive(Debug)]
pub(crate) struct Routes {
    all: Vec<Route>,
    surface: ServiceSurface,
}

impl Routes {
    pub(crate) fn new(surface: ServiceSurface) -> Self {
        let mut routes = Self { all: Vec::new(), surface };
        routes.partner();
        routes.payment();
        routes.charge_actions();
        routes.schedules();
        routes.merchant_settings();
        routes.pages();
        for (path, handler) in document::document_routes(&routes.all, surface) {
            routes.all.push(Route::new(Method::Get, path, handler));
        }
        routes
    }

    fn partner(&mut self) {
        let exchange = self.read::<ExchangeToken>(auth::exchange_token);
        exchange.describe(|doc| doc.forms = Some(ServiceSurface::Public));
        self.read::<GetCredentials>(|cx, asked| accounts::credentials(cx, asked));
        self.read::<ListBankAccounts>(|cx, asked| accounts::bank_accounts(cx, asked));
        self.write::<CreateContact>(contacts::create);
        self.write::<CreateInvoice>(invoices::create);
        self.write::<UploadFile>(invoices::upload_file);
        self.read::<GetFile>(invoices::get_file);
        self.read::<CreateContactHash>(contacts::create_hash);
        self.write::<CreateVaultMethod>(contacts::create_vault_method).public();
        let older = self.read::<GetCredentials>(|cx, asked| accounts::credentials(cx, asked));
        older.public().pattern = parts("/api/v1/chargeio_credentials").collect();
        older.describe(|doc| doc.name = "credentials.get_by_older_path");
        self.read::<SubmitApplication>(applications::submit);
        self.read::<StartSignUp>(page::sign_up);
    }

    fn payment(&mut self) {
        let token = self.add::<CreateToken>(Box::new(tokens::create));
        token.auth = Auth::None;
        token.describe(|doc| doc.forms = Some(ServiceSurface::Documented));
        self.read::<GetToken>(tokens::get);
        self.write::<CreateCard>(saved_methods::create_card);
        self.write::<PatchCard>(|cx, asked, change| SAVED_CARDS.patch(cx, asked, change));
        self.add::<GetCard>(Box::new(|cx, asked| SAVED_CARDS.get(cx, asked)));
        self.read::<DeleteCard>(|cx, asked| SAVED_CARDS.delete(cx, asked));
        self.read::<ListCards>(|cx, asked| saved_methods::list_cards(cx, asked));
        self.write::<CreateBank>(saved_methods::create_bank);
        self.write::<PatchBank>(|cx, asked, change| SAVED_BANKS.patch(cx, asked, change));
        self.add::<GetBank>(Box::new(|cx, asked| SAVED_BANKS.get(cx, asked)));
        self.read::<DeleteBank>(|cx, asked| SAVED_BANKS.delete(cx, asked));
        self.read::<ListBanks>(|cx, asked| SAVED_BANKS.list(cx, asked, None));
        self.write::<CreateCharge>(recurring_charges::charge);
        self.write::<ScheduleCharge>(recurring_charges::schedule);
        self.read::<GetSurcharge>(accounts::surcharge);
    }

    fn schedules(&mut self) {
        self.write::<PreviewSchedule>(recurring_charges::preview);
        self.write::<CreateRecurring>(recurring_charges::create);
        self.write::<PatchRecurring>(change::patch);
        self.read::<PatchRecurring>(change::put).put("recurring.put");
        self.read::<GetRecurring>(recurring_charges::get).public();
        self.read::<ListRecurring>(recurring_charges::list).public();
        self.read::<CancelRecurring>(change::cancel).public();
        self.read::<DeleteRecurring>(change::delete).public();
        self.read::<ListOccurrences>(occurrences::list);
        self.read::<GetOccurrence>(occurrences::get);
        self.read::<PayOccurrence>(occurrences::pay);
        self.read::<IgnoreOccurrence>(occurrences::ignore);
    }

    /// Adds a page for people: no credential, no JSON.
    fn page(&mut self, method: Method, path: &'static str, handler: RouteHandler) {
        self.all.push(Route::new(method, path, handler));
    }

    /// Adds an endpoint whose handler makes the whole answer.
    #[expect(clippy::indexing_slicing, reason = "the route was pushed just before")]
    fn add<E: Endpoint>(&mut self, handler: RouteHandler) -> &mut Route {
        let at = self.all.len();
        let route = Route::new(E::METHOD, E::PATH, handler);
        self.all.push(Route { auth: E::AUTH, doc: Some(RouteDoc::of::<E>()), ..route });
        &mut self.all[at]
    }

    /// Adds an endpoint whose handler needs no typed body.
    fn read<E: Endpoint<Reply: Serialize>>(
        &mut self,
        handler: impl Fn(&mut ChangeUnit, &ParsedRequest) -> Result<E::Reply> + Send + Sync + 'static,
    ) -> &mut Route {
        self.add::<E>(Box::new(move |cx, asked| SandboxAnswer::json(&handler(cx, asked)?)))
    }

    /// Adds an endpoint with a typed body.
    fn write<E: Endpoint<Request: DeserializeOwned, Reply: Serialize>>(
        &mut self,
        handler: impl Fn(&mut ChangeUnit, &ParsedRequest, E::Request) -> Result<E::Reply>
        + Send
        + Sync
        + 'static,
    ) -> &mut Route {
        self.read::<E>(move |cx, asked| {
            let body = asked.json()?;
            body::check_documented(cx, E::NAME, &body)?;
            handler(cx, asked, body::parse_body(body)?)
        })
    }

    /// Returns the route and the path parameters. 404 for an unknown path, 400 for another method.
    pub(crate) fn find(&self, verb: &Verb, path: &str) -> Result<(&Route, Vec<String>)> {
        let (surface, parts) = (self.surface, parts(path).collect::<Vec<_>>());
        let mut of_verb = self.all.iter().filter(|route| route.method == verb.as_str());
        let is_served = |route: &Route| route.fits(&parts) && route.surface.is_part_of(surface);
        match of_verb.find(|route| route.fits(&parts)) {
            Some(route) if route.surface.is_part_of(surface) => {
                Ok((route, route.parameters(&parts)))
            }
            None if self.all.iter().any(is_served) => {
                Err(SandboxRefusal::invalid("Method is not supported"))
            }
            Some(_) | None => Err(SandboxRefusal::no_path()),
        }
    }

    fn charge_actions(&mut self) {
        // Before every path with a charge's id in the same place, because the first match counts.
        self.read::<ListHolds>(charges::list_holds);
        self.write::<CaptureCharge>(charges::capture);
        self.write::<RefundCharge>(refunds::refund);
        self.write::<VoidTransaction>(refunds::void);
        self.write::<CreateCredit>(refunds::credit);
        self.write::<SignTransaction>(signatures::sign);
        self.read::<GetSignature>(signatures::get_signature).public();
        self.add::<Deauthorise>(Box::new(|cx, asked| {
            auth::deauthorise(cx, asked).map(|()| SandboxAnswer::empty(StatusCode::OK))
        }));
    }

    fn merchant_settings(&mut self) {
        self.add::<GetTransaction>(Box::new(search::get)).public();
        self.read::<SearchTransactions>(search::search).public();
        self.read::<ListEvents>(events::list);
        self.read::<GetEvent>(events::get);
        self.read::<GetMerchant>(accounts::merchant).public();
        self.change::<PatchMerchant>("merchant.put", merchant_settings::merchant);
        self.change::<PatchAccount>("account.put", |cx, asked, new| {
            merchant_settings::account(cx, asked, new, &AccountType::Card)
        });
        self.change::<PatchAchAccount>("ach_account.put", |cx, asked, new| {
            merchant_settings::account(cx, asked, new, &AccountType::Check)
        });
        // The only endpoint that answers 204 without a body (service-facts, 4).
        let purge = self.add::<PurgeTestData>(Box::new(|cx, asked| {
            merchant_settings::purge(cx, asked, &body::parse_body(asked.json()?)?)?;
            Ok(SandboxAnswer::empty(StatusCode::NO_CONTENT))
        }));
        purge.public().describe(|doc| doc.status = StatusCode::NO_CONTENT);
        self.read::<GetStatus>(|_, _| Ok(GatewayStatus { status: "NORMAL".to_owned() })).public();
    }

    /// Adds an endpoint for both PATCH and PUT (service-facts, 67 and 69).
    fn change<E: Endpoint<Request: DeserializeOwned, Reply: Serialize>>(
        &mut self,
        put_name: &'static str,
        handler: impl Fn(&mut ChangeUnit, &ParsedRequest, E::Request) -> Result<E::Reply>
        + Send
        + Sync
        + Copy
        + 'static,
    ) {
        self.write::<E>(handler).public();
        self.read::<E>(move |cx, asked| handler(cx, asked, body::parse_body(asked.json()?)?))
            .put(put_name);
    }

    fn pages(&mut self) {
        self.page(Method::Get, pages::START_PATH, Box::new(|cx, _| Ok(pages::start(cx))));
        self.page(Method::Get, page::PATH, Box::new(page::show));
        self.page(Method::Post, page::PATH, Box::new(page::finish));
        self.page(Method::Get, page::THANKS_PATH, Box::new(|cx, _| Ok(page::thanks(cx))));
        self.page(Method::Get, auth::CONSENT_PATH, Box::new(auth::show_consent));
        self.page(Method::Post, auth::CONSENT_PATH, Box::new(auth::decide_consent));
        self.page(Method::Get, portal::INVOICE, Box::new(portal::show));
        self.page(Method::Post, portal::PAY, Box::new(portal::pay));
        self.page(Method::Get, portal::CONTACT, Box::new(portal::show_contact));
        for (path, content_type, content) in ASSETS.into_iter().chain(pages::FILES) {
            let file: RouteHandler = Box::new(move |_, _| Ok(pages::file(content_type, content)));
            self.page(Method::Get, path, file);
        }
        let handler = Box::new(pages::surchargeable);
        let surcharge = Route::new(Method::Get, pages::SURCHARGEABLE, handler);
        self.all.push(Route { auth: Auth::PublicKey, ..surcharge });
    }
}

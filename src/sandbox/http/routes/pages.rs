//! Routes for people: pages, and the files that they load.

use super::{Route, RouteHandler, Routes};
use crate::api::{Auth, Method};
use crate::sandbox::invoicing::portal;
use crate::sandbox::merchants::consent;
use crate::sandbox::onboarding::page;
use crate::sandbox::pages::site::ASSETS;
use crate::sandbox::pages::{hosted_fields, start_page};

impl Routes {
    /// Adds start, sign-up, consent, portal and hosted fields.
    pub(super) fn pages(&mut self) {
        self.page(Method::Get, start_page::PATH, start_page::show);
        self.page(Method::Get, page::PATH, page::show);
        self.page(Method::Post, page::PATH, page::finish);
        self.page(Method::Get, page::THANKS_PATH, |cx, _| Ok(page::thanks(cx)));
        self.page(Method::Get, consent::PATH, consent::show);
        self.page(Method::Post, consent::PATH, consent::decide);
        self.page(Method::Get, portal::INVOICE, portal::show);
        self.page(Method::Post, portal::PAY, portal::pay);
        self.page(Method::Get, portal::CONTACT, portal::contact);
        for (path, content_type, content) in ASSETS.into_iter().chain(hosted_fields::FILES) {
            self.page(Method::Get, path, move |_, _| {
                Ok(hosted_fields::file(content_type, content))
            });
        }
        let ask: RouteHandler = Box::new(hosted_fields::surchargeable);
        let ask = Self::route(Method::Get, hosted_fields::SURCHARGEABLE, ask);
        self.0.push(Route { auth: Auth::PublicKey, ..ask });
    }
}

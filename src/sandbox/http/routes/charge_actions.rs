//! Routes for actions on an existing charge, for credits, and for the end of an authorization.

use http::StatusCode;

use super::{Route, RouteHandler, Routes};
use crate::api::deauthorise::Deauthorise;
use crate::api::payments::actions::{
    CaptureCharge, CreateCredit, GetSignature, ListHolds, RefundCharge, SignTransaction,
    VoidTransaction,
};
use crate::api::{Auth, Endpoint};
use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::merchants::deauthorise;
use crate::sandbox::openapi::RouteDoc;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::payments::{captures, credits, refunds, signatures, voids};

impl Routes {
    pub(super) fn charge_actions(&mut self) {
        // Before every path with a charge's id in the same place, because the first match counts.
        self.read::<ListHolds>(captures::list_holds);
        self.write::<CaptureCharge>(captures::capture);
        self.write::<RefundCharge>(refunds::create);
        self.write::<VoidTransaction>(voids::void);
        self.write::<CreateCredit>(credits::create);
        self.write::<SignTransaction>(signatures::sign);
        self.read::<GetSignature>(signatures::get).surface = ServiceSurface::Public;
        self.deauthorisation();
    }

    /// Adds deauthorisation, whose answer is an empty body and no JSON.
    fn deauthorisation(&mut self) {
        let end: RouteHandler = Box::new(|cx, asked| {
            deauthorise::end(cx, asked)?;
            Ok(SandboxAnswer::of(StatusCode::OK, "text/plain", Vec::new()))
        });
        let route = Self::route(Deauthorise::METHOD, Deauthorise::PATH, end);
        let spoken = Some(RouteDoc::of::<Deauthorise>());
        self.0.push(Route { auth: Auth::Tenant, doc: spoken, ..route });
    }
}

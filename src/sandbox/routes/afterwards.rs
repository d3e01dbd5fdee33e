//! Routes for actions on an existing charge, for credits, and for the end of an authorization.

use http::StatusCode;

use crate::api::deauthorise::Deauthorise;
use crate::api::transaction::actions::{
    CaptureCharge, CreateCredit, GetSignature, ListHolds, RefundCharge, SignTransaction,
    VoidTransaction,
};
use crate::api::{Auth, Endpoint};
use crate::sandbox::answer::Answer;
use crate::sandbox::openapi::Spoken;
use crate::sandbox::options::Surface;
use crate::sandbox::routes::{Handler, Route, Routes};
use crate::sandbox::{captures, credits, deauthorise, refunds, signatures, voids};

impl Routes {
    pub(super) fn afterwards(&mut self) {
        // Before every path with a charge's id in the same place, because the first match counts.
        self.read::<ListHolds>(captures::holds);
        self.write::<CaptureCharge>(captures::capture);
        self.write::<RefundCharge>(refunds::create);
        self.write::<VoidTransaction>(voids::void);
        self.write::<CreateCredit>(credits::create);
        self.write::<SignTransaction>(signatures::sign);
        self.read::<GetSignature>(signatures::get).surface = Surface::Public;
        self.deauthorisation();
    }

    /// Adds deauthorisation, whose answer is an empty body and no JSON.
    fn deauthorisation(&mut self) {
        let end: Handler = Box::new(|cx, asked| {
            deauthorise::end(cx, asked)?;
            Ok(Answer::of(StatusCode::OK, "text/plain", Vec::new()))
        });
        let route = Self::route(Deauthorise::METHOD, Deauthorise::PATH, end);
        let spoken = Some(Spoken::of::<Deauthorise>());
        self.0.push(Route { auth: Auth::Tenant, spoken, ..route });
    }
}

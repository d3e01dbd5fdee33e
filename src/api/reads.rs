//! Every read of the service, by name: a person may run each of them without a document. The health
//! of the gateway is read and nothing else (service-facts, 16; not in the two documents).

use crate::api::call::{Auth, Call, Endpoint, Host, Method, Parameter, endpoints, objects};
use crate::api::credentials::GetCredentials;
use crate::api::event::{GetEvent, ListEvents};
use crate::api::invoice::GetFile;
use crate::api::merchant::{GetMerchant, ListBankAccounts};
use crate::api::method_token::GetToken;
use crate::api::recurring::{GetOccurrence, GetRecurring, ListOccurrences, ListRecurring};
use crate::api::saved_method::{GetBank, GetCard, ListBanks, ListCards};
use crate::api::schedule::PreviewSchedule;
use crate::api::transaction::{GetSurcharge, GetTransaction, SearchTransactions};
use crate::api::transaction_action::{GetSignature, ListHolds};

/// One read.
#[derive(Debug, Clone, Copy)]
pub struct ReadEndpoint {
    /// The endpoint's name, such as `card.list`.
    pub name: &'static str,
    pub host: Host,
    /// The path, parameters in braces.
    pub path: &'static str,
    pub auth: Auth,
    pub query: &'static [Parameter],
    /// True for the one read that has a body.
    pub body: bool,
    /// The secret field of the answer, at any depth.
    pub secret: Option<&'static str>,
}

impl ReadEndpoint {
    const fn of<E: Endpoint>() -> Self {
        Self {
            name: E::NAME,
            host: E::HOST,
            path: E::PATH,
            auth: E::AUTH,
            query: E::QUERY,
            body: false,
            secret: None,
        }
    }

    /// Returns the read of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        READS.iter().find(|read| read.name == name)
    }

    /// Returns the names of the path's parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        let braced = |part: &'static str| part.strip_prefix('{')?.strip_suffix('}');
        self.path.split('/').filter_map(braced)
    }

    /// Makes the call; `parameters` fill the path in order.
    pub fn call(&self, parameters: &[&str], query: &[(String, String)]) -> Call {
        let call = Call::of(self.name, Method::Get, self.host, self.path, self.auth, parameters);
        Call { query: query.to_vec(), ..call }
    }
}

/// All reads.
pub static READS: [ReadEndpoint; 22] = [
    ReadEndpoint::of::<GetBank>(),
    ReadEndpoint::of::<ListBanks>(),
    ReadEndpoint::of::<ListBankAccounts>(),
    ReadEndpoint::of::<GetCard>(),
    ReadEndpoint::of::<ListCards>(),
    ReadEndpoint::of::<ListHolds>(),
    ReadEndpoint { secret: Some("secret_key"), ..ReadEndpoint::of::<GetCredentials>() },
    ReadEndpoint::of::<GetEvent>(),
    ReadEndpoint::of::<ListEvents>(),
    ReadEndpoint::of::<GetFile>(),
    ReadEndpoint::of::<GetMerchant>(),
    ReadEndpoint::of::<GetOccurrence>(),
    ReadEndpoint::of::<ListOccurrences>(),
    ReadEndpoint::of::<GetRecurring>(),
    ReadEndpoint::of::<ListRecurring>(),
    ReadEndpoint { body: true, ..ReadEndpoint::of::<PreviewSchedule>() },
    ReadEndpoint { secret: Some("data"), ..ReadEndpoint::of::<GetSignature>() },
    ReadEndpoint::of::<GetStatus>(),
    ReadEndpoint::of::<GetSurcharge>(),
    ReadEndpoint::of::<GetToken>(),
    ReadEndpoint::of::<GetTransaction>(),
    ReadEndpoint::of::<SearchTransactions>(),
];

objects! {
    /// The state of the gateway.
    #[schemars(rename = "Status")]
    pub struct GatewayStatus {
        /// `NORMAL`.
        pub status: String,
    }
}

endpoints! {
    /// Reports whether the gateway works.
    GetStatus "status.get": Get Base "/status" by None, () => GatewayStatus;
}

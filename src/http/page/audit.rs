//! The audit trail with its search.

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use serde::Deserialize;

use crate::base::id::{IntentId, Key};
use crate::control::protocol::LocalQuery;
use crate::http::page::resources::written_text;
use crate::http::page::respond::{ITEMS_SHOWN, PageResult, ask_local};
use crate::http::page::visit::{PageVisit, refuse, show};
use crate::render::page::audit::{self, WrittenSearch};
use crate::render::page::frame::PageSection;
use crate::store::audit::{AuditRequest, AuditTrail};

const TITLE: &str = "Audit trail";

/// Parameters of the search as a form sends them: an empty text is no condition.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SearchForm {
    resource: String,
    intent: String,
    actor: String,
    before: Option<u64>,
}

impl SearchForm {
    fn written(&self) -> WrittenSearch {
        WrittenSearch {
            resource: written_text(&self.resource),
            intent: written_text(&self.intent),
            actor: written_text(&self.actor),
        }
    }

    /// Returns the request, or the reason why it is not valid.
    fn request(&self) -> Result<AuditRequest, String> {
        let WrittenSearch { resource, intent, actor } = self.written();
        let resource = resource.map(|name| name.parse::<Key>()).transpose();
        let intent = intent.map(|id| id.parse::<IntentId>()).transpose();
        Ok(AuditRequest {
            resource: resource.map_err(|why| why.to_string())?,
            intent: intent.map_err(|_| "an intent is written as `i-000012`".to_owned())?,
            actor,
            before: self.before,
            limit: ITEMS_SHOWN,
        })
    }
}

pub(super) async fn trail(
    visit: PageVisit,
    asked: Result<Query<SearchForm>, QueryRejection>,
) -> PageResult {
    let refused = |written: &WrittenSearch, why: &str| {
        refuse(&visit, TITLE, PageSection::Audit, audit::refusal(written, why))
    };
    let asked = match asked {
        Ok(Query(asked)) => asked,
        Err(why) => return Ok(refused(&WrittenSearch::default(), &why.body_text())),
    };
    let written = asked.written();
    let request = match asked.request() {
        Ok(request) => request,
        Err(why) => return Ok(refused(&written, &why)),
    };
    let trail: AuditTrail = ask_local(&visit.control, LocalQuery::Audit(request)).await?;
    Ok(show(&visit, TITLE, PageSection::Audit, audit::page(&written, &trail)))
}

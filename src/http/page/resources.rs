//! The list of resources with its filters, and one resource.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::base::id::{Key, Name};
use crate::control::protocol::LocalQuery;
use crate::engine::protocol::query::{ResourceContextQuery, ResourcesQuery};
use crate::engine::protocol::resources::{FilterText, ListPart, ResourceFilter};
use crate::http::page::respond::{ITEMS_SHOWN, PageResult, ask, ask_local};
use crate::http::page::visit::{PageVisit, not_found, refuse, show};
use crate::http::parameters::{merchant_name, non_empty};
use crate::render::page::frame::PageSection;
use crate::render::page::resource;
use crate::render::page::resources::{self, WrittenFilter, unknown_text};
use crate::store::audit::{AuditRequest, AuditTrail};

const TITLE: &str = "Resources";
/// Records of a resource on its page.
const RECORDS_SHOWN: usize = 25;

/// Parameters of the list as a form sends them: an empty text is no filter.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FilterForm {
    kind: String,
    namespace: String,
    merchant: String,
    labels: String,
    search: String,
    not_ready: bool,
    attention: bool,
    offset: usize,
}

/// Returns a text without the spaces around it; `None` if nothing is left.
pub(super) fn written_text(text: &str) -> Option<String> {
    non_empty(text).map(str::to_owned)
}

impl FilterForm {
    fn written(&self) -> WrittenFilter {
        WrittenFilter {
            kind: written_text(&self.kind),
            namespace: written_text(&self.namespace),
            merchant: written_text(&self.merchant),
            labels: written_text(&self.labels),
            search: written_text(&self.search),
            not_ready: self.not_ready,
            attention: self.attention,
        }
    }

    fn part(&self) -> ListPart {
        ListPart { offset: self.offset, limit: Some(ITEMS_SHOWN) }
    }
}

/// Returns the filter, or the reason why it is not valid.
fn filter(written: &WrittenFilter, part: ListPart) -> Result<ResourceFilter, String> {
    let WrittenFilter { kind, namespace, merchant, labels, search, not_ready, attention } = written;
    let merchant = merchant.as_deref().map(merchant_name);
    let namespace = namespace.as_ref().map(|name| name.parse::<Name>()).transpose();
    let text = FilterText { kind: kind.as_deref(), merchant, labels: labels.as_deref() };
    let parsed = text.parse()?;
    Ok(ResourceFilter {
        namespace: namespace.map_err(|why| why.to_string())?,
        not_ready: *not_ready,
        attention: *attention,
        search: search.clone(),
        part,
        ..parsed
    })
}

pub(super) async fn list(
    visit: PageVisit,
    asked: Result<Query<FilterForm>, QueryRejection>,
) -> PageResult {
    let refused = |written: &WrittenFilter, why: &str| {
        refuse(&visit, TITLE, PageSection::Resources, resources::refusal(written, why))
    };
    let asked = match asked {
        Ok(Query(asked)) => asked,
        Err(why) => return Ok(refused(&WrittenFilter::default(), &why.body_text())),
    };
    let (written, part) = (asked.written(), asked.part());
    let filter = match filter(&written, part) {
        Ok(filter) => filter,
        Err(why) => return Ok(refused(&written, &why)),
    };
    Ok(match ask(&visit.control, ResourcesQuery(filter)).await? {
        Ok(found) => {
            show(&visit, TITLE, PageSection::Resources, resources::list(&written, part, &found))
        }
        Err(unknown) => refused(&written, &unknown_text(&unknown)),
    })
}

pub(super) async fn one(
    visit: PageVisit,
    path: Result<Path<(String, String, String)>, PathRejection>,
) -> Response {
    let key = path.ok().and_then(|Path((kind, namespace, name))| {
        format!("{kind}/{namespace}/{name}").parse::<Key>().ok()
    });
    match key {
        Some(key) => show_one(&visit, key).await.into_response(),
        None => not_found(&visit, PageSection::Resources, "This is no name of a resource."),
    }
}

async fn show_one(visit: &PageVisit, key: Key) -> PageResult {
    let Some(context) = ask(&visit.control, ResourceContextQuery(key.clone())).await? else {
        let text = format!("There is no resource {}.", key.short());
        return Ok(not_found(visit, PageSection::Resources, &text));
    };
    let request = AuditRequest {
        resource: Some(key.clone()),
        limit: RECORDS_SHOWN,
        ..AuditRequest::default()
    };
    let trail: AuditTrail = ask_local(&visit.control, LocalQuery::Audit(request)).await?;
    Ok(show(
        visit,
        &key.short(),
        PageSection::Resources,
        resource::page(&context, &trail, visit.is_in_session()),
    ))
}

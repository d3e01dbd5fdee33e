//! The resources over HTTP: a list that parameters select, and one with all its properties.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;

use crate::base::id::{Key, Name};
use crate::engine::protocol::query::{ResourceQuery, ResourcesQuery};
use crate::engine::protocol::resources::{FilterText, ListPart, ResourceFilter, ResourceList};
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::protocol::views::ResourceView;
use crate::http::private::answer::{self, AppState, ok};

const HELP: &str = "send kind, namespace, merchant, labels (KEY=VALUE, KEY!=VALUE or KEY, with commas), \
    not_ready=true, attention=true, search, offset or limit";

/// Parameters of the list of resources, as the options of `get`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResourcesParameters {
    kind: Option<String>,
    namespace: Option<Name>,
    merchant: Option<String>,
    /// Conditions with commas between them.
    labels: Option<String>,
    #[serde(default)]
    not_ready: bool,
    #[serde(default)]
    attention: bool,
    search: Option<String>,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

impl ResourcesParameters {
    fn filter(self) -> Result<ResourceFilter, String> {
        let Self { kind, namespace, merchant, labels, not_ready, attention, search, offset, limit } =
            self;
        let (kind, merchant, labels) = (kind.as_deref(), merchant.as_deref(), labels.as_deref());
        let written = FilterText { kind, merchant, labels }.parse()?;
        let part = ListPart { offset, limit };
        Ok(ResourceFilter { namespace, not_ready, attention, search, part, ..written })
    }
}

/// Answers the resources that the parameters select.
pub(super) async fn list(
    State(door): State<AppState>,
    asked: Result<Query<ResourcesParameters>, QueryRejection>,
) -> Response {
    let asked = asked.map_err(|why| why.body_text());
    let filter = match asked.and_then(|Query(asked)| asked.filter()) {
        Ok(filter) => filter,
        Err(why) => return answer::bad_request(why, HELP),
    };
    let made = |found: Result<ResourceList, Vec<UnknownName>>| match found {
        Ok(list) => ok(&list),
        Err(unknown) => answer::no_such_resources(&unknown),
    };
    door.respond(ResourcesQuery(filter), made).await
}

/// Answers one resource with all its properties.
pub(super) async fn one(
    State(door): State<AppState>,
    path: Result<Path<(String, String, String)>, PathRejection>,
) -> Response {
    let Ok(Path((kind, namespace, name))) = path else {
        return answer::bad_key("the path is not valid UTF-8");
    };
    let key = match format!("{kind}/{namespace}/{name}").parse::<Key>() {
        Ok(key) => key,
        Err(why) => return answer::bad_key(&why.to_string()),
    };
    let made = |found: Option<ResourceView>| {
        found.map_or_else(|| answer::no_such_resource(&key), |view| ok(&view))
    };
    door.respond(ResourceQuery(key.clone()), made).await
}

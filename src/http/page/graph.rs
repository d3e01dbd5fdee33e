//! The graph of needs: of a resource, of a merchant, or of all.

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use serde::Deserialize;

use crate::base::id::Key;
use crate::engine::protocol::graph::GraphSubject;
use crate::engine::protocol::query::GraphQuery;
use crate::http::page::respond::{PageResult, ask};
use crate::http::page::visit::{PageVisit, not_found, refuse, show};
use crate::http::parameters::{merchant_key, non_empty};
use crate::render::page::frame::PageSection;
use crate::render::page::graph;

const TITLE: &str = "What waits for what";

/// Parameters of the graph: a resource as `KIND/NAME`, or a merchant's name.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GraphForm {
    resource: String,
    merchant: String,
}

impl GraphForm {
    /// Returns the subject, or the reason why it is not valid.
    fn subject(&self) -> Result<GraphSubject, String> {
        match (non_empty(&self.resource), non_empty(&self.merchant)) {
            (None, None) => Ok(GraphSubject::All),
            (Some(name), None) => {
                name.parse::<Key>().map(GraphSubject::Resource).map_err(|why| why.to_string())
            }
            (None, Some(name)) => {
                merchant_key(name).map(GraphSubject::Merchant).map_err(|why| why.to_string())
            }
            (Some(_), Some(_)) => Err("name a resource or a merchant, not both".to_owned()),
        }
    }
}

pub(super) async fn show_graph(
    visit: PageVisit,
    asked: Result<Query<GraphForm>, QueryRejection>,
) -> PageResult {
    let subject = asked.map_err(|why| why.body_text()).and_then(|Query(asked)| asked.subject());
    let subject = match subject {
        Ok(subject) => subject,
        Err(why) => return Ok(refuse(&visit, TITLE, PageSection::Resources, graph::refusal(&why))),
    };
    Ok(match ask(&visit.control, GraphQuery(subject.clone())).await? {
        Some(view) => show(&visit, TITLE, PageSection::Resources, graph::page(&subject, &view)),
        None => not_found(&visit, PageSection::Resources, "There is no resource of this name."),
    })
}

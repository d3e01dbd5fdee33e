//! The gateway's events with their filters, and one event with its history.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query};

use crate::control::protocol::LocalQuery;
use crate::engine::protocol::event_detail::EventDetail;
use crate::engine::protocol::query::{EventsQuery, HooksQuery};
use crate::http::page::respond::{ITEMS_SHOWN, PageResult, ask, ask_local};
use crate::http::page::visit::{PageVisit, not_found, refuse, show};
use crate::http::parameters::EventsParameters;
use crate::render::page::event;
use crate::render::page::events::{self, WrittenEventFilter};
use crate::render::page::frame::PageSection;

/// Events on a page, at most.
const EVENTS_MAX: usize = 1000;
const TITLE: &str = "Events";

fn written(asked: EventsParameters) -> WrittenEventFilter {
    let EventsParameters { limit: _, merchant, r#type, status, resource, since, until } = asked;
    WrittenEventFilter { kind: r#type, status, resource, merchant, since, until }
}

pub(super) async fn list(
    visit: PageVisit,
    asked: Result<Query<EventsParameters>, QueryRejection>,
) -> PageResult {
    let refused = |filter: &WrittenEventFilter, why: &str| {
        refuse(&visit, TITLE, PageSection::Events, events::refusal(filter, why))
    };
    let asked = match asked {
        Ok(Query(asked)) => asked,
        Err(why) => return Ok(refused(&WrittenEventFilter::default(), &why.body_text())),
    };
    let most = asked.limit.unwrap_or(ITEMS_SHOWN).clamp(1, EVENTS_MAX);
    let wanted = asked.wanted(most);
    let filter = written(asked);
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(why) => return Ok(refused(&filter, &format!("{}; {}", why.message, why.help))),
    };
    let view = ask(&visit.control, EventsQuery(wanted)).await?;
    let hooks = ask(&visit.control, HooksQuery).await?;
    let effects =
        visit.control.feed().map(|feed| feed.newest_effects(ITEMS_SHOWN)).unwrap_or_default();
    let more = most.saturating_mul(4).min(EVENTS_MAX);
    let more = (view.items.len() >= most && more > most).then_some(more);
    let inner = events::page(&filter, &effects, (&view, more), &hooks);
    Ok(show(&visit, TITLE, PageSection::Events, inner))
}

pub(super) async fn one(visit: PageVisit, path: Result<Path<String>, PathRejection>) -> PageResult {
    let unknown = || not_found(&visit, PageSection::Events, "There is no such event.");
    let Ok(Path(id)) = path else { return Ok(unknown()) };
    let found: Option<EventDetail> = ask_local(&visit.control, LocalQuery::Event(id)).await?;
    let Some(detail) = found else { return Ok(unknown()) };
    Ok(show(
        &visit,
        &format!("Event {}", detail.event.id),
        PageSection::Events,
        event::page(&detail),
    ))
}

//! The limit of an emulator: it parses each post and keeps it in a map under a new id, and does nothing else.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::connection::Failed;

/// Every object, by its id.
type Kept = Arc<Mutex<HashMap<String, Value>>>;

/// Listens on any port of this machine, prints the address, and answers until it is killed.
pub(crate) async fn serve() -> Result<(), Failed> {
    let router = Router::new()
        .route("/v1/{kind}", post(create))
        .route("/v1/{kind}/{id}", get(read))
        .with_state(Kept::default());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("listening http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}

async fn create(State(kept): State<Kept>, Json(mut object): Json<Value>) -> Json<Value> {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    // The id is as long as an id of the service.
    let id = format!("{:022x}", kept.len());
    if let Value::Object(fields) = &mut object {
        fields.insert("id".to_owned(), Value::from(id.clone()));
    }
    kept.insert(id, object.clone());
    Json(object)
}

async fn read(
    State(kept): State<Kept>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Json<Value>, StatusCode> {
    let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.get(&id).cloned().map(Json).ok_or(StatusCode::NOT_FOUND)
}

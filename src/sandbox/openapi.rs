//! The service's contract as an `OpenAPI` 3.1 document, generated from the types that serve
//! requests.
//!
//! Each route brings its own [`RouteDoc`], so the document and the served routes are the same. Shapes
//! come from the types' JSON Schemas, texts from their doc comments.

mod example;
mod operation;
mod page;
mod schemas;
mod shapes;
mod spoken;

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::http::answer::SandboxAnswer;
use super::http::routes::{Route, RouteHandler};
use crate::api::Method;
use crate::sandbox::options::ServiceSurface;
use operation::operation;
use schemas::Schemas;

pub(crate) use spoken::RouteDoc;

/// Path of the document as JSON.
pub(crate) const DOCUMENT: &str = "/openapi.json";
/// Path of the document as a page.
pub(crate) const PAGE: &str = "/openapi";

/// An operation: a route that programs use.
#[derive(Debug, Clone)]
struct Operation {
    method: &'static str,
    path: String,
    surface: ServiceSurface,
    doc: RouteDoc,
}

/// The document of each surface, generated at the first request.
#[derive(Debug)]
struct OpenApiDocuments {
    operations: Vec<Operation>,
    documented: OnceLock<Value>,
    public: OnceLock<Value>,
}

impl OpenApiDocuments {
    fn of(&self, surface: ServiceSurface) -> &Value {
        let made = match surface {
            ServiceSurface::Documented => &self.documented,
            ServiceSurface::Public => &self.public,
        };
        made.get_or_init(|| document(&self.operations, surface))
    }
}

/// Returns the routes that serve the document of these routes.
pub(crate) fn document_routes(all: &[Route]) -> [(Method, &'static str, RouteHandler); 2] {
    let operations = all.iter().filter_map(|route| {
        let (method, path) = (route.method, format!("/{}", route.pattern.join("/")));
        Some(Operation { method, path, surface: route.surface, doc: route.doc? })
    });
    let documents = Arc::new(OpenApiDocuments {
        operations: operations.collect(),
        documented: OnceLock::new(),
        public: OnceLock::new(),
    });
    let same = documents.clone();
    let json: RouteHandler =
        Box::new(move |cx, _| SandboxAnswer::json(same.of(cx.environment.options.surface)));
    let page: RouteHandler = Box::new(move |cx, _| {
        let document = documents.of(cx.environment.options.surface);
        Ok(page::show(&cx.environment.options.brand, document))
    });
    [(Method::Get, DOCUMENT, json), (Method::Get, PAGE, page)]
}

fn document(all: &[Operation], surface: ServiceSurface) -> Value {
    let shown: Vec<&Operation> = all.iter().filter(|one| one.surface.is_part_of(surface)).collect();
    let mut schemas = Schemas::new();
    let mut paths: Map<String, Value> = Map::new();
    for one in &shown {
        let path = paths.entry(one.path.clone()).or_insert_with(|| json!({}));
        if let Value::Object(path) = path {
            path.insert(
                one.method.to_ascii_lowercase(),
                operation(one, &shown, surface, &mut schemas),
            );
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Payment service (sandbox)",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The payment service that this sandbox emulates: its partner API and its payment gateway. \
                Empty fields are left out. A null in a request counts as a missing field. Whole numbers may be \
                strings.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "securitySchemes": operation::security_schemes(),
            "responses": operation::responses(&mut schemas),
            "schemas": schemas.into_components(),
        },
    })
}

//! The service's contract as an `OpenAPI` 3.1 document.
//!
//! Each route brings its own [`RouteDoc`], so the document and the served routes are the same. Shapes
//! come from the types' JSON Schemas, texts from their doc comments.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use crate::api::call::{Auth, Parameter, ParameterType};
use crate::api::rules::Problem;
use crate::sandbox::answer::SandboxAnswer;
use crate::sandbox::openapi::page::{self, DOCUMENT};
use crate::sandbox::openapi::route::{Route, RouteDoc, RouteHandler, Schemas, schema};
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::pages::API_REFERENCE;

#[derive(Debug, Clone)]
struct Operation {
    method: &'static str,
    path: String,
    doc: RouteDoc,
}

/// Returns the routes that serve the document of these routes, generated at the first request.
pub(crate) fn document_routes(
    all: &[Route],
    surface: ServiceSurface,
) -> [(&'static str, RouteHandler); 2] {
    let shown = all.iter().filter(|route| route.surface.is_part_of(surface));
    let operations = shown.filter_map(|route| {
        let path = format!("/{}", route.pattern.join("/"));
        Some(Operation { method: route.method, path, doc: route.doc? })
    });
    let operations: Vec<Operation> = operations.collect();
    let made = Arc::new(LazyLock::new(move || document(&operations, surface)));
    let same = made.clone();
    let json: RouteHandler = Box::new(move |_, _| SandboxAnswer::json(&**same));
    let page: RouteHandler =
        Box::new(move |cx, _| Ok(page::show(&cx.environment.options.brand, &made)));
    [(DOCUMENT, json), (API_REFERENCE, page)]
}

fn document(all: &[Operation], surface: ServiceSurface) -> Value {
    let mut schemas = Schemas::new();
    let mut paths: Map<String, Value> = Map::new();
    for one in all {
        let path = paths.entry(one.path.clone()).or_insert_with(|| json!({}));
        if let Value::Object(path) = path {
            let operation = operation(one, all, surface, &mut schemas);
            path.insert(one.method.to_ascii_lowercase(), operation);
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
            "securitySchemes": security_schemes(),
            "responses": responses(&mut schemas),
            "schemas": schemas.into_components(),
        },
    })
}

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// Refusals: the name of the response, its status and its text.
const REFUSALS: [(&str, u16, &str); 8] = [
    ("BadRequest", 400, "The body cannot be read, or is not valid here."),
    ("NotAuthorized", 401, "The credential is missing, or does not allow this request."),
    ("NotFound", 404, "This owner has no such object."),
    ("Conflict", 409, "Another request changed the object meanwhile."),
    ("TooLarge", 413, "The body is too long."),
    ("Refused", 422, "Fields or rules are violated; each has a message."),
    ("TooMany", 429, "Too many requests; `Retry-After` gives the time to wait."),
    ("Broken", 500, "The service failed."),
];

/// Paths at which an object made at another path is found.
const LOOKUP_PATHS: [(&str, &str); 2] =
    [("/v1/charges", "/v1/transactions/{id}"), ("/v1/credits", "/v1/transactions/{id}")];

fn operation(
    one: &Operation,
    all: &[Operation],
    surface: ServiceSurface,
    schemas: &mut Schemas,
) -> Value {
    let RouteDoc { name, description: about, auth, query, request, reply, status, forms } = one.doc;
    let tag = name.split('.').next().unwrap_or(name);
    let summary = schemas.text(about);
    let parameters = Some(parameters(&one.path, query)).filter(|all| !all.is_empty());
    let body = request.map(|request| {
        let forms = forms.is_some_and(|of| of.is_part_of(surface));
        request_body(&schemas.request(request), forms)
    });
    let success = object([
        ("description", Some("Done.".into())),
        ("content", reply.map(|reply| json!({ JSON: {"schema": schemas.reply(reply)} }))),
        ("links", reply.map(|_| links(one, all).into())),
    ]);
    let answers = std::iter::once((status.as_str().to_owned(), success)).chain(refusals(one));
    object([
        ("operationId", Some(name.into())),
        ("tags", Some(json!([tag]))),
        ("summary", Some(summary.into())),
        ("security", Some(security(auth))),
        ("parameters", parameters.map(Value::from)),
        ("requestBody", body),
        ("responses", Some(answers.collect())),
    ])
}

fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn security_schemes() -> Value {
    let bearer = |text: &str| json!({"type": "http", "scheme": "bearer", "description": text});
    let basic = |text: &str| json!({"type": "http", "scheme": "basic", "description": text});
    json!({
        "tenant": bearer("The partner's own token, scope `tenant`."),
        "payments": bearer("A token for one merchant, scope `payments`."),
        "public_key": basic("A public key as user name, without a password; a secret key works as well."),
        "secret_key": basic("A secret key as user name, without a password."),
    })
}

fn responses(schemas: &mut Schemas) -> Value {
    let schema = schemas.reply(schema::<Problem>);
    let answer = |(name, _, text): (&str, u16, &str)| {
        (name.to_owned(), json!({"description": text, "content": { JSON: {"schema": schema} }}))
    };
    Value::Object(REFUSALS.into_iter().map(answer).collect())
}

fn security(auth: Auth) -> Value {
    match auth {
        Auth::None => json!([]),
        Auth::Tenant => json!([{"tenant": []}]),
        Auth::Payments => json!([{"payments": []}]),
        Auth::PublicKey => json!([{"public_key": []}]),
        Auth::SecretKey => json!([{"secret_key": []}]),
    }
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn parameters(path: &str, query: &[Parameter]) -> Vec<Value> {
    let text = json!({"type": "string", "minLength": 1});
    let of_path = names(path)
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": text}));
    let of_query = query.iter().map(|one| {
        let schema = holds(one.value_type);
        json!({"name": one.name, "in": "query", "description": one.meaning, "schema": schema})
    });
    of_path.chain(of_query).collect()
}

fn holds(holds: ParameterType) -> Value {
    match holds {
        ParameterType::Text => json!({"type": "string"}),
        ParameterType::Texts(pattern) => {
            json!({"type": "array", "items": {"type": "string", "pattern": pattern}})
        }
        ParameterType::Integer(min, max) => {
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
        ParameterType::Date => json!({"type": "string", "format": "date"}),
        ParameterType::Moment => json!({"type": "string", "format": "date-time"}),
        ParameterType::Flag => json!({"type": "string", "enum": ["true", "false"]}),
    }
}

fn request_body(schema: &Value, forms: bool) -> Value {
    let required = schema.get("required").is_some() || schema.get("anyOf").is_some();
    let mut content = Map::new();
    if forms {
        content.insert(FORM.to_owned(), json!({ "schema": schema }));
    }
    content.insert(JSON.to_owned(), json!({ "schema": schema }));
    json!({"required": required, "content": content})
}

fn refusals(one: &Operation) -> impl Iterator<Item = (String, Value)> {
    let Operation { method, path, doc: spoken } = one;
    let (acts, takes) = (*method != "GET", spoken.request.is_some());
    let named = names(path).next().is_some();
    let open = spoken.auth == Auth::None && !takes;
    let can = move |status: u16| match status {
        401 => !open,
        404 => named || takes,
        409 => acts,
        413 => takes,
        422 => acts || takes || !spoken.query.is_empty(),
        _ => true,
    };
    let refusals = REFUSALS.into_iter().filter(move |(_, status, _)| can(*status));
    refusals.map(|(name, status, _)| {
        let answer = json!({"$ref": format!("#/components/responses/{name}")});
        (status.to_string(), answer)
    })
}

/// Renders links to the operations that accept the id of the object just made.
fn links(one: &Operation, all: &[Operation]) -> Map<String, Value> {
    if one.method != "POST" || names(&one.path).next().is_some() {
        return Map::new();
    }
    let below = format!("{}/{{", one.path);
    let other = LOOKUP_PATHS.into_iter().find(|(from, _)| *from == one.path).map(|(_, to)| to);
    let next = all.iter().filter(|next| {
        let fits = next.path.starts_with(&below)
            || other.is_some_and(|other| next.path.starts_with(other));
        fits && names(&next.path).count() == 1
    });
    let link = |next: &Operation| {
        let name = names(&next.path).next().unwrap_or_default();
        let parameters = json!({ name: "$response.body#/id" });
        let link = json!({"operationId": next.doc.name, "parameters": parameters});
        (next.doc.name.replace('.', "_"), link)
    };
    next.map(link).collect()
}

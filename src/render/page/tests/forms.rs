//! Forms of a session: they keep the rules of pages, and hold the value of the session alone.

use std::sync::Arc;

use super::*;
use crate::base::clock::SystemClock;
use crate::base::secret::Secret;
use crate::control::page_sessions::{PageSessions, SessionUse};
use crate::render::page::{entry, orders, resource_orders};

#[test]
fn the_forms_of_a_session_keep_the_rules_and_show_their_value_alone() {
    let page = PageSessions::new(Arc::new(SystemClock));
    page.serve_at("127.0.0.1:8780".parse().unwrap());
    let link = page.make_link(HOSTILE.to_owned()).unwrap();
    let token = link.path.0.expose().strip_prefix("/enter/").unwrap();
    let asked = entry::question(HOSTILE, &Secret::from(token));
    assert!(check("entrance", asked).contains(&format!("value=\"{token}\"")));
    let cookie = page.enter(token).unwrap();
    page.leave_notice(cookie.expose(), HOSTILE.to_owned());
    let session = page.find(cookie.expose(), SessionUse::Person).unwrap();
    let key = "Invoice/jane".parse().unwrap();
    let item = of(
        json!({"id": "i-000012", "key": "Invoice/default/jane", "effect": HOSTILE, "state": "held", "attempts": 2,
        "reason": HOSTILE, "source_id": HOSTILE, "mark": HOSTILE, "at": HOSTILE}),
    );
    let live = of(
        json!({"merchant": "Merchant/default/acme", "application": "MerchantApplication/default/acme",
        "generation": 1, "mode": "live", "name": HOSTILE, "public_keys": ["m_1"]}),
    );
    let hostile = Some(HOSTILE);
    for (action, inner) in [
        ("/do/freeze", orders::freeze(&session, hostile)),
        ("/do/suspend/Invoice/default/jane", resource_orders::suspend(&session, &key, hostile)),
        ("/do/confirm/Merchant/default/acme", resource_orders::confirm(&session, &live, hostile)),
        ("/do/settle/i-000012", resource_orders::settle(&session, &item, hostile)),
    ] {
        let html = check(action, inner);
        let form = format!(
            "<form method=\"post\" action=\"{action}\"><input type=\"hidden\" name=\"form_token\" value=\"{}\">",
            session.form_token.expose()
        );
        assert!(html.contains(&form) && !html.contains(cookie.expose()), "{html}");
    }
    let (title, section) = ("Overview", Some(PageSection::Overview));
    let whole = OperatorPage {
        title,
        section,
        holds: Vec::new(),
        session: Some(&session),
        inner: Markup::default(),
    };
    let whole = whole.html().into_string();
    assert_eq!(faults(&whole), Vec::<String>::new());
    assert!(!whole.contains("<script>") && whole.matches("&lt;script&gt;").count() == 2, "{whole}");
}

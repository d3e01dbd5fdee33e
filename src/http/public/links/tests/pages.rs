//! The daemon's pages: their allowed sources and link targets, and that no link on them is dead
//! (E16).

use tower::ServiceExt;

use crate::base::page_style;
use crate::engine::protocol::payers::Intake;
use crate::http::public::links::tests::{asking, door, get_of, looked, outside, read};

/// Closes E16: browsers let the button lead to the service's page, whose host the daemon does not
/// know beforehand.
#[tokio::test]
async fn the_button_of_an_applicant_s_link_may_lead_to_the_service() {
    let link = outside().apply_url("", &"MerchantApplication/default/jane".parse().unwrap());
    let (answer, _) = read(door().0.oneshot(get_of(&link)).await.unwrap()).await;
    let policy = answer.headers()["content-security-policy"].to_str().unwrap();
    let (_, forms) = policy.split_once("form-action ").unwrap();
    let forms = forms.split(';').next().unwrap();
    assert_eq!(forms, "'self' https: http://127.0.0.1:* http://localhost:*");
}

/// Closes E16: no page has a reference to an absent element, a field without a label, or a form
/// that may lead elsewhere. An unknown address is a page, too.
#[tokio::test]
async fn every_page_is_whole_and_guarded() {
    let (card, bank) = (asking("card"), asking("bank"));
    let mut pages = Vec::new();
    for state in [card, bank, Intake::Received, Intake::Stored, Intake::Expired, Intake::NotYet] {
        pages.push(looked(state).await);
    }
    let apply = outside().apply_url("", &"MerchantApplication/default/jane".parse().unwrap());
    for path in [apply.as_str(), "/apply/forged", "/intake/forged", "/", "/nothing/here"] {
        pages.push(read(door().0.oneshot(get_of(path)).await.unwrap()).await);
    }
    for (answer, text) in pages {
        assert_eq!(page_style::tests::outline::faults(&text), Vec::<String>::new(), "{text}");
        assert_eq!(
            page_style::tests::outline::broken_header_rules(answer.headers()),
            Vec::<String>::new(),
            "{text}"
        );
    }
}

/// Closes E16: a page that needs a script shows nothing that does not work without it.
#[tokio::test]
async fn without_scripts_a_payer_s_page_shows_no_dead_form() {
    let (_, text) = looked(asking("card")).await;
    let (_, form) = text.split_once("<form id=\"intake\"").unwrap();
    assert!(form.split('>').next().unwrap().contains(" novalidate hidden"), "{form}");
    assert!(text.contains("<noscript><p class=\"notice\">"), "{text}");
}

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::base::clock::VirtualClock;

const MINUTE: Duration = Duration::from_mins(1);

fn page() -> PageSessions {
    let page = PageSessions::new(Arc::new(VirtualClock::new(DateTime::UNIX_EPOCH)));
    page.serve_at("127.0.0.1:8780".parse().unwrap());
    page
}

fn link(page: &PageSessions, actor: &str) -> String {
    let link = page.make_link(actor.to_owned()).unwrap();
    assert_eq!(link.address, "http://127.0.0.1:8780");
    link.path.0.expose().strip_prefix("/enter/").unwrap().to_owned()
}

fn actor(page: &PageSessions, cookie: &Secret, by: SessionUse) -> Option<String> {
    page.find(cookie.expose(), by).map(|session| session.actor)
}

#[tokio::test(start_paused = true)]
async fn a_link_enters_once_and_looking_at_it_uses_nothing_up() {
    let page = page();
    let token = link(&page, "uid 1");
    for _ in 0..3 {
        assert_eq!(page.link_actor(&token).as_deref(), Some("uid 1"));
    }
    let cookie = page.enter(&token).unwrap();
    assert_eq!((page.enter(&token), page.link_actor(&token)), (None, None));
    assert_eq!(actor(&page, &cookie, SessionUse::Person).as_deref(), Some("uid 1"));
    // A link is no cookie, a cookie is no link, and neither is a text that is no token.
    assert_eq!(page.find(&token, SessionUse::Person), None);
    assert_eq!(page.enter(cookie.expose()), None);
    for wrong in ["", "a", &token[1..], &format!("{token}A"), &"A".repeat(43)] {
        assert_eq!((page.link_actor(wrong), page.enter(wrong)), (None, None), "{wrong}");
        assert_eq!(page.find(wrong, SessionUse::Person), None, "{wrong}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_link_ends_after_five_minutes() {
    let page = page();
    let token = link(&page, "uid 1");
    tokio::time::advance(Duration::from_secs(299)).await;
    assert_eq!(page.link_actor(&token).as_deref(), Some("uid 1"));
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!((page.link_actor(&token), page.enter(&token)), (None, None));
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_unused_and_a_script_that_renews_a_page_does_not_use_it() {
    let page = page();
    let cookie = page.enter(&link(&page, "uid 1")).unwrap();
    tokio::time::advance(MINUTE * 29).await;
    assert!(actor(&page, &cookie, SessionUse::Person).is_some());
    tokio::time::advance(MINUTE * 29).await;
    assert!(actor(&page, &cookie, SessionUse::Script).is_some());
    tokio::time::advance(MINUTE).await;
    assert_eq!(actor(&page, &cookie, SessionUse::Person), None);
}

#[tokio::test(start_paused = true)]
async fn a_session_in_use_ends_after_eight_hours() {
    let page = page();
    let cookie = page.enter(&link(&page, "uid 1")).unwrap();
    for _ in 0..23 {
        tokio::time::advance(MINUTE * 20).await;
        assert!(actor(&page, &cookie, SessionUse::Person).is_some());
    }
    tokio::time::advance(MINUTE * 20).await;
    assert_eq!(actor(&page, &cookie, SessionUse::Person), None);
}

#[tokio::test(start_paused = true)]
async fn the_oldest_link_and_the_oldest_session_make_room() {
    let page = page();
    let cookies: Vec<Secret> =
        (0..=SESSIONS_MAX).map(|_| page.enter(&link(&page, "uid 1")).unwrap()).collect();
    let open = |cookie: &Secret| actor(&page, cookie, SessionUse::Person).is_some();
    let open: Vec<bool> = cookies.iter().map(open).collect();
    assert_eq!(open, [vec![false], vec![true; SESSIONS_MAX]].concat());
    let tokens: Vec<String> = (0..=LINKS_MAX).map(|_| link(&page, "uid 1")).collect();
    let valid: Vec<bool> = tokens.iter().map(|one| page.link_actor(one).is_some()).collect();
    assert_eq!(valid, [vec![false], vec![true; LINKS_MAX]].concat());
}

#[tokio::test(start_paused = true)]
async fn the_value_of_forms_is_the_session_s_own_and_its_notice_is_shown_once() {
    let page = page();
    let cookies = [page.enter(&link(&page, "a")).unwrap(), page.enter(&link(&page, "b")).unwrap()];
    let find = |cookie: &Secret, by| page.find(cookie.expose(), by).unwrap();
    let [one, other] = cookies.each_ref().map(|cookie| find(cookie, SessionUse::Person));
    assert_ne!(one.form_token, other.form_token);
    assert_eq!(find(&cookies[0], SessionUse::Person).form_token, one.form_token);
    assert!(!cookies.contains(&one.form_token));
    page.leave_notice(cookies[0].expose(), "done".to_owned());
    assert_eq!(find(&cookies[1], SessionUse::Person).notice, None);
    assert_eq!(find(&cookies[0], SessionUse::Script).notice, None);
    assert_eq!(find(&cookies[0], SessionUse::Person).notice.as_deref(), Some("done"));
    assert_eq!(find(&cookies[0], SessionUse::Person).notice, None);
    page.end(cookies[0].expose());
    assert_eq!(page.find(cookies[0].expose(), SessionUse::Person), None);
    assert!(page.find(cookies[1].expose(), SessionUse::Person).is_some());
}

#[tokio::test(start_paused = true)]
async fn nothing_shows_a_token() {
    let page = page();
    let made = page.make_link("uid 1".to_owned()).unwrap();
    let token = made.path.0.expose().strip_prefix("/enter/").unwrap();
    let cookie = page.enter(token).unwrap();
    let view = page.find(cookie.expose(), SessionUse::Person).unwrap();
    let shown = format!("{page:?} {made:?} {view:?}");
    for secret in [token, cookie.expose(), view.form_token.expose()] {
        assert!(secret.len() == 43 && !shown.contains(secret), "{shown}");
    }
    assert!(shown.contains("PageSessions(0 links, 1 sessions)"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn only_a_listener_on_this_machine_has_links() {
    for (listener, address) in [
        ("0.0.0.0:80", Some("http://127.0.0.1:80")),
        ("[::]:80", Some("http://[::1]:80")),
        ("[::1]:80", Some("http://[::1]:80")),
        ("192.0.2.7:80", None),
    ] {
        let page = PageSessions::new(Arc::new(VirtualClock::new(DateTime::UNIX_EPOCH)));
        assert_eq!(page.make_link("uid 1".to_owned()), None, "no listener");
        page.serve_at(listener.parse().unwrap());
        assert_eq!(page.address().as_deref(), address);
        assert_eq!(page.make_link("uid 1".to_owned()).is_some(), address.is_some());
    }
}

//! A card replaces a stored one while answers are lost and processes end. It is used once, and a late token does no
//! harm.

use std::collections::BTreeSet;
use std::time::Duration;

use reckon::sandbox::options::ServiceSurface;
use serde_json::{Value, json};

use crate::support::payments::requests;
use crate::support::renewals::{
    LAGS, NEW, OLD, SECOND, browse, cut_off, form, given, link, shown, stored, strike,
};

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_settled_and_a_token_is_used_once() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        for fault in ["drop_after", "error_after", "error_before", "throttle"] {
            let world = stored(surface).await;
            strike(&world, "/v1/cards", fault);
            let after = given(&world, &[SECOND, SECOND], true).await;
            assert_eq!(after, Vec::<String>::new(), "{surface:?} {fault}");
            assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()), "{surface:?} {fault}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_of_a_charge_is_settled_where_the_service_shows_it() {
    for fault in ["drop_after", "error_before"] {
        let world = stored(ServiceSurface::Public).await;
        strike(&world, "/v1/recurring", fault);
        assert_eq!(given(&world, &[SECOND, SECOND], true).await, Vec::<String>::new(), "{fault}");
        assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn where_nothing_shows_what_became_of_a_charge_its_payer_is_asked_once_more() {
    let world = stored(ServiceSurface::Documented).await;
    strike(&world, "/v1/recurring", "drop_after");
    let after = given(&world, &[SECOND, SECOND], true).await;
    assert!(after.len() == 1 && after[0].starts_with(LAGS), "{after:?}");
    assert_eq!(given(&world, &[SECOND, SECOND], true).await, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn tokens_that_were_brought_outlive_the_process() {
    let world = stored(ServiceSurface::Public).await;
    cut_off(&world, &[SECOND, SECOND]).await;
    assert_eq!(shown(&world), (OLD.to_owned(), OLD.to_owned()));
    let plan = world.plan();
    assert!(
        plan[0].starts_with("Update SavedMethod/jane: Given (a payer entered other"),
        "{plan:?}"
    );
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_in_doubt_leaves_the_proof_to_the_next_one() {
    for fault in ["drop_after", "error_before"] {
        let world = stored(ServiceSurface::Public).await;
        cut_off(&world, &[SECOND, SECOND]).await;
        strike(&world, "/v1/cards", fault);
        let blind = json!({"method": "GET", "path": "/v1/tokens", "fault": "error_before",
            "times": 99, "status": 500});
        world.control("POST", "faults", &blind);
        let cut = tokio::time::timeout(Duration::from_secs(9), world.settle()).await;
        assert!(cut.is_err(), "nothing can be proved yet");
        assert_eq!(requests(&world, "PATCH", "/v1/cards").len(), 1, "{fault}");
        world.control("DELETE", "faults", &Value::Null);
        assert_eq!(world.settle().await, Vec::<String>::new(), "{fault}");
        assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()), "{fault}");
        let sent = requests(&world, "PATCH", "/v1/cards").len();
        assert_eq!(sent, if fault == "drop_after" { 1 } else { 2 });
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_too_late_changes_nothing_and_the_same_link_asks_once_more() {
    let world = stored(ServiceSurface::Public).await;
    cut_off(&world, &[SECOND, SECOND]).await;
    tokio::time::sleep(Duration::from_secs(301)).await;
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(shown(&world), (OLD.to_owned(), OLD.to_owned()));
    let after = world
        .while_running(async |daemon| {
            let path = link(&daemon.control).await;
            let (status, page) = browse(daemon, "GET", &path, "").await;
            assert!(status == 200 && page.contains("It could not be saved"), "{page}");
            assert_eq!(
                browse(daemon, "POST", &path, &form(&world, &[SECOND, SECOND])).await.0,
                303
            );
        })
        .await;
    assert_eq!(after, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn wherever_the_process_ends_there_is_one_card_and_its_charge_gets_it() {
    let mut sent = BTreeSet::new();
    for turns in 0..24 {
        let world = stored(ServiceSurface::Public).await;
        cut_off(&world, &[SECOND, SECOND]).await;
        let killed = async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = killed => {}
            left = world.settle() => assert_eq!(left, Vec::<String>::new()),
        }
        sent.insert(requests(&world, "PATCH", "/v1/").len());
        assert_eq!(world.settle().await, Vec::<String>::new(), "ended after {turns} turns");
        assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()), "ended after {turns} turns");
        assert_eq!(requests(&world, "POST", "/v1/cards").len(), 1);
    }
    assert_eq!(
        sent,
        BTreeSet::from([0, 1, 2]),
        "before both changes, between them, and after both"
    );
}

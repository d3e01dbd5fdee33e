//! Waits of calls: throttled merchants, hosts that do not serve, changes ahead of polls.

use std::sync::atomic::AtomicU16;

use axum::http::StatusCode;
use axum::routing::any;
use tokio::task::JoinSet;
use tokio::time::{advance, sleep};

use super::*;

/// A service whose every path counts, takes `takes` and then answers with the current status, with
/// `retry-after` where it throttles. `/status` answers the same.
#[derive(Clone)]
struct House {
    count: Count,
    status: Arc<AtomicU16>,
    retry_after: &'static str,
    takes: Duration,
}

impl House {
    fn new(status: u16, retry_after: &'static str, takes: Duration) -> Self {
        let status = Arc::new(AtomicU16::new(status));
        Self { count: Count::default(), status, retry_after, takes }
    }

    fn client(&self) -> Client {
        let house = self.clone();
        let handler = async move || {
            house.count.next();
            sleep(house.takes).await;
            let status = house.status.load(Ordering::SeqCst);
            let wait = if status == 429 { house.retry_after } else { "" };
            (StatusCode::from_u16(status).unwrap(), [("retry-after", wait)], "7")
        };
        client(Router::new().fallback(any(handler)))
    }

    fn says(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }
}

fn gate() -> Arc<Limiter> {
    Arc::new(Limiter::new(16))
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

async fn send(client: &Client) -> Outcome {
    client.send(&post("/x"), &Access::None).await
}

#[tokio::test(start_paused = true)]
async fn a_throttled_merchant_waits_and_no_other_one_does() {
    let house = House::new(429, "5", ms(10));
    let (gate, client) = (gate(), house.client());
    let slow = client.limited_by(&gate, "Merchant/slow", Urgency::Change);
    let other = client.limited_by(&gate, "Merchant/other", Urgency::Change);
    assert!(is_not_sent(&send(&slow).await));
    assert!(gate.is_slowed("Merchant/slow") && !gate.is_slowed("Merchant/other"));
    assert_eq!((gate.traffic().slowed, gate.traffic().throttled), (1, 1));
    house.says(200);
    let started = Instant::now();
    assert!(matches!(send(&other).await, Outcome::Done { .. }));
    assert_eq!(started.elapsed(), ms(10));
    assert!(matches!(send(&slow).await, Outcome::Done { .. }));
    assert!(started.elapsed() >= Duration::from_secs(5), "{:?}", started.elapsed());
    advance(Duration::from_mins(10)).await;
    assert!(matches!(send(&slow).await, Outcome::Done { .. }));
    assert_eq!(gate.traffic().slowed, 0, "it has recovered");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_too_long_sends_away_and_a_stop_does_too() {
    let house = House::new(429, "600", ms(10));
    let (gate, client) = (gate(), house.client());
    let slow = client.limited_by(&gate, "Merchant/slow", Urgency::Change);
    send(&slow).await;
    let before = house.count.get();
    let Outcome::NotSent { reason, retry_after_s: Some(wait) } = send(&slow).await else {
        panic!("it was sent");
    };
    assert_eq!((reason.as_str(), wait), ("the service asked to come again in 600 s", 600));
    assert_eq!(house.count.get(), before);
    let house = House::new(429, "30", ms(10));
    let slow = house.client().limited_by(&gate, "Merchant/other", Urgency::Change);
    send(&slow).await;
    let started = Instant::now();
    let (sent, ()) = tokio::join!(send(&slow), async {
        sleep(ms(100)).await;
        gate.close();
    });
    assert!(is_not_sent(&sent) && started.elapsed() < Duration::from_secs(1), "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_rate_is_learnt_that_the_service_takes() {
    let house = House::new(200, "", ms(50));
    let (gate, client) = (gate(), house.client());
    let merchant = client.limited_by(&gate, "Merchant/a", Urgency::Change);
    let mut calls = JoinSet::new();
    for _ in 0..160 {
        let (merchant, house) = (merchant.clone(), house.clone());
        calls.spawn(async move {
            // The hundredth call and those with it are too many.
            if house.count.get() >= 100 && house.count.get() < 110 {
                house.says(429);
            } else {
                house.says(200);
            }
            send(&merchant).await
        });
    }
    let started = Instant::now();
    let outcomes = calls.join_all().await;
    let well = outcomes.iter().filter(|one| matches!(one, Outcome::Done { .. })).count();
    assert!(well > 100, "{well}");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

/// Calls a host until the breaker opens.
async fn silenced(house: &House, merchant: &Client) {
    for _ in 0..crate::client::limits::FAILURES_MAX {
        assert!(is_in_doubt(&send(merchant).await));
    }
    assert_eq!(house.count.get(), usize::try_from(crate::client::limits::FAILURES_MAX).unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_serve_is_left_alone_and_probed_by_a_question() {
    let house = House::new(503, "", ms(10));
    let (gate, client) = (gate(), house.client());
    let merchant = client.limited_by(&gate, "Merchant/a", Urgency::Change);
    silenced(&house, &merchant).await;
    let before = house.count.get();
    for _ in 0..100 {
        assert!(is_not_sent(&send(&merchant).await));
        let read = merchant.read(&get("/x"), &Access::None).await;
        assert!(matches!(read, Err(ReadError::Unreachable { .. })));
    }
    assert_eq!(house.count.get(), before, "nothing goes out, and nothing waits");
    let silent = gate.traffic().down_hosts;
    assert_eq!((silent.len(), silent[0].host.as_str()), (1, "base.test:443"));
    advance(gate.time_until_probe() + ms(1)).await;
    assert!(is_not_sent(&send(&merchant).await), "the probe fails, and the effect is kept back");
    assert_eq!(house.count.get(), before + 1);
    assert!(!gate.take_reopened());
    house.says(404);
    advance(Duration::from_secs(30)).await;
    assert!(matches!(send(&merchant).await, Outcome::Refused { status: 404, .. }));
    assert_eq!(house.count.get(), before + 3, "the probe and the call");
    assert!(gate.take_reopened() && !gate.take_reopened() && gate.traffic().down_hosts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_back_is_told_before_it_is_promised() {
    let house = House::new(503, "", ms(10));
    let (gate, client) = (gate(), house.client());
    let merchant = client.limited_by(&gate, "Merchant/a", Urgency::Change);
    assert_eq!(merchant.reserve(Host::Base).await, Ok(()));
    assert!(is_in_doubt(&send(&merchant).await));
    for _ in 1..crate::client::limits::FAILURES_MAX {
        send(&merchant).await;
    }
    let shut = merchant.reserve(Host::Base).await.unwrap_err();
    assert!(shut.reason.contains("base.test:443") && !shut.wait.is_zero(), "{shut:?}");
    assert_eq!(merchant.reserve(Host::Web).await, Ok(()), "another host serves");
}

#[tokio::test(start_paused = true)]
async fn a_token_that_was_paid_before_is_not_paid_again() {
    let house = House::new(429, "", ms(10));
    let (gate, client) = (gate(), house.client());
    let merchant = client.limited_by(&gate, "Merchant/a", Urgency::Change);
    send(&merchant).await;
    house.says(200);
    merchant.reserve(Host::Base).await.unwrap();
    let started = Instant::now();
    assert!(matches!(send(&merchant).await, Outcome::Done { .. }));
    assert_eq!(started.elapsed(), ms(10), "it was ready");
    assert!(matches!(send(&merchant).await, Outcome::Done { .. }));
    assert!(started.elapsed() > ms(200), "the next one waits for its token");
}

#[tokio::test(start_paused = true)]
async fn a_thousand_polls_do_not_delay_a_change() {
    for merchants in [1, 1000] {
        let house = House::new(200, "", Duration::from_secs(1));
        let (gate, client) = (gate(), house.client());
        let mut polls = JoinSet::new();
        for number in 0..1000 {
            let lane = format!("Merchant/{}", number % merchants);
            let poll = client.limited_by(&gate, &lane, Urgency::Poll);
            polls.spawn(async move { poll.read(&get("/x"), &Access::None).await });
        }
        sleep(ms(500)).await;
        assert_eq!(house.count.get(), 4, "a quarter of what may be under way");
        let started = Instant::now();
        let change = client.limited_by(&gate, "Merchant/0", Urgency::Change);
        assert!(matches!(send(&change).await, Outcome::Done { .. }));
        assert_eq!(started.elapsed(), Duration::from_secs(1), "no wait, only the call itself");
        assert_eq!(polls.join_all().await.iter().filter(|read| read.is_ok()).count(), 1000);
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_of_a_throttled_merchant_waits_for_one_poll_at_most() {
    let house = House::new(429, "", ms(1));
    let (gate, client) = (gate(), house.client());
    let change = client.limited_by(&gate, "Merchant/a", Urgency::Change);
    let poll = client.limited_by(&gate, "Merchant/a", Urgency::Poll);
    send(&change).await;
    house.says(200);
    let mut polls = JoinSet::new();
    for _ in 0..1000 {
        let poll = poll.clone();
        polls.spawn(async move { poll.read(&get("/x"), &Access::None).await });
    }
    sleep(ms(10)).await;
    let started = Instant::now();
    assert!(matches!(send(&change).await, Outcome::Done { .. }));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

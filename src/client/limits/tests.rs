use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::*;

/// Takes all tokens available at one moment, up to `most`; returns their count.
fn drain(bucket: &mut Bucket, now: Instant, most: u64) -> u64 {
    (0..most).take_while(|_| bucket.take(now).is_ok()).count().try_into().unwrap()
}

/// Takes all tokens available within this many milliseconds from `from` on.
fn over(bucket: &mut Bucket, from: Instant, millis: u64) -> u64 {
    let at = |ms| from.checked_add(Duration::from_millis(ms)).unwrap();
    (0..millis).map(|ms| drain(bucket, at(ms), 10_000)).sum()
}

#[tokio::test(start_paused = true)]
async fn without_a_429_there_is_no_limit() {
    let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
    assert_eq!(drain(&mut bucket, now, 100_000), 100_000);
    assert!(!bucket.is_slowed(now));
}

#[tokio::test(start_paused = true)]
async fn a_429_halves_what_was_given_before() {
    let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
    drain(&mut bucket, now, 100);
    bucket.record_throttle(now, Duration::ZERO, now);
    let given = over(&mut bucket, now, 1_000);
    assert!((45..=51).contains(&given), "{given}");
    let later = now + Duration::from_secs(1);
    bucket.record_throttle(later, Duration::ZERO, later);
    let given = over(&mut bucket, later, 1_000);
    assert!((20..=26).contains(&given), "{given}");
}

#[tokio::test(start_paused = true)]
async fn calls_that_were_under_way_together_halve_once() {
    let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
    drain(&mut bucket, now, 64);
    let answered = now + Duration::from_millis(50);
    for _ in 0..16 {
        bucket.record_throttle(now, Duration::ZERO, answered);
    }
    let given = over(&mut bucket, answered, 1_000);
    assert!((28..=33).contains(&given), "{given}");
}

#[tokio::test(start_paused = true)]
async fn the_rate_has_a_floor_and_grows_until_there_is_no_limit() {
    let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
    for _ in 0..40 {
        bucket.record_throttle(now, Duration::ZERO, now);
    }
    assert_eq!(over(&mut bucket, now, 1_900), 1, "one call in two seconds, then one more");
    let later = now + Duration::from_secs(20);
    let given = over(&mut bucket, later, 1_000);
    assert!((20..=26).contains(&given), "{given}");
    assert!(bucket.is_slowed(later));
    let end = now + Duration::from_secs(401);
    assert_eq!(drain(&mut bucket, end, 100_000), 100_000);
    assert!(!bucket.is_slowed(end));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_the_service_asks_for_stops_every_call() {
    let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
    drain(&mut bucket, now, 1_000);
    bucket.record_throttle(now, Duration::from_secs(30), now);
    bucket.record_throttle(now, Duration::from_secs(2), now);
    assert_eq!(bucket.take(now), Err(Duration::from_secs(30)), "the longer wait counts");
    assert_eq!(over(&mut bucket, now, 30_000), 0);
    assert!(drain(&mut bucket, now + Duration::from_secs(30), 1_000) >= 1);
    let far = now + Duration::from_secs(31);
    bucket.pause(Duration::MAX, far);
    assert_eq!(bucket.pause_remaining(far), Some(PAUSE_MAX), "a mistake does not stop us for ever");
}

#[tokio::test(start_paused = true)]
async fn the_wait_that_is_told_is_enough() {
    let (mut bucket, now) = (Bucket::new(Instant::now()), Instant::now());
    drain(&mut bucket, now, 7);
    bucket.record_throttle(now, Duration::ZERO, now);
    let mut at = now;
    for _ in 0..20 {
        let Err(wait) = bucket.take(at) else { continue };
        at += wait;
        assert_eq!(bucket.take(at), Ok(()), "after {wait:?}");
    }
}

fn dice() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(7)
}

fn opened(now: Instant) -> Breaker {
    let mut breaker = Breaker::default();
    let opened: Vec<bool> =
        (0..FAILURES_MAX).map(|_| breaker.record_failure(now, &mut dice())).collect();
    assert_eq!(opened.iter().filter(|opened| **opened).count(), 1);
    assert_eq!(opened.last(), Some(&true));
    breaker
}

fn shut(breaker: &mut Breaker, now: Instant) -> Duration {
    let Admission::Unavailable(wait) = breaker.admit(now) else { panic!("not shut") };
    wait
}

#[tokio::test(start_paused = true)]
async fn a_success_in_between_keeps_it_closed() {
    let (mut breaker, now) = (Breaker::default(), Instant::now());
    for _ in 0..100 {
        for _ in 1..FAILURES_MAX {
            assert!(!breaker.record_failure(now, &mut dice()));
        }
        assert!(!breaker.record_success(now));
    }
    assert_eq!((breaker.admit(now), breaker.silence()), (Admission::Free, None));
}

#[tokio::test(start_paused = true)]
async fn it_opens_and_one_alone_probes_when_its_wait_is_over() {
    let now = Instant::now();
    let mut breaker = opened(now);
    let wait = shut(&mut breaker, now);
    assert!((Duration::from_secs(1)..=WAIT_FIRST).contains(&wait), "{wait:?}");
    assert_eq!(breaker.silence(), Some((now, now + wait)));
    assert_eq!(breaker.admit(now + wait), Admission::ProbeFirst);
    assert_eq!(breaker.admit(now + wait), Admission::Unavailable(WAIT_FIRST), "one probe");
    let late = now + wait + PROBE_MAX;
    assert_eq!(breaker.admit(late), Admission::ProbeFirst, "the first was abandoned");
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_fails_makes_the_wait_grow_up_to_its_limit() {
    let mut now = Instant::now();
    let mut breaker = opened(now);
    let mut waits = Vec::new();
    for _ in 0..12 {
        now += shut(&mut breaker, now);
        assert_eq!(breaker.admit(now), Admission::ProbeFirst);
        breaker.record_probe(false, now, &mut dice());
        waits.push(shut(&mut breaker, now));
    }
    assert!(waits.windows(2).take(5).all(|pair| pair[0] < pair[1]), "{waits:?}");
    assert!(waits.iter().all(|wait| *wait <= WAIT_MAX), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_good_probe_one_failure_opens_it_again_and_one_success_clears_it() {
    let now = Instant::now();
    let mut breaker = opened(now);
    breaker.record_probe(true, now, &mut dice());
    assert_eq!(breaker.admit(now), Admission::Free);
    assert!(breaker.record_failure(now, &mut dice()));
    let later = now + AWAY_MIN;
    breaker.record_probe(true, later, &mut dice());
    assert!(
        breaker.record_success(later) && !breaker.record_success(later),
        "it was away, and is back"
    );
    assert!(!breaker.record_failure(now, &mut dice()));
    assert_eq!(breaker.admit(now), Admission::Free);
}

#[tokio::test(start_paused = true)]
async fn answers_to_older_calls_do_not_close_it() {
    let now = Instant::now();
    let mut breaker = opened(now);
    assert!(!breaker.record_success(now));
    assert!(breaker.silence().is_some());
    assert!(!breaker.record_failure(now, &mut dice()), "nor does a failure open it twice");
}

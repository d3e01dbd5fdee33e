//! Age of the last poll of a merchant's list of events.

use reckon::sandbox::options::ServiceSurface;

use super::connected;

/// Closes M12: a poll that found nothing new counts, even if it is not recorded.
#[tokio::test(start_paused = true)]
async fn m12_the_last_look_counts_and_not_the_last_news() {
    let world = connected(ServiceSurface::Public).await;
    world
        .hearing(async |ears| {
            ears.wait(120).await;
            let mut oldest = 0;
            for _ in 0..20 {
                ears.wait(60).await;
                let receiver = ears.events().await.receivers.remove(0);
                let lag = receiver.lag_seconds.unwrap();
                assert!((0..=120).contains(&lag), "{lag} s");
                let noted = world.now() - receiver.ledger.polled_at.unwrap();
                oldest = oldest.max(noted.num_seconds());
            }
            assert!(
                oldest > 400,
                "a poll without news is recorded only every ten minutes: {oldest} s"
            );
        })
        .await;
}

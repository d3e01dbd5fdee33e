//! How old the last look at a merchant's list of events is.

use reckon::sandbox::ServiceSurface;

use super::connected;

/// Closes M12: a look that found nothing new counts, though nothing is written down about it.
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
            assert!(oldest > 400, "a quiet look is noted each ten minutes alone: {oldest} s");
        })
        .await;
}

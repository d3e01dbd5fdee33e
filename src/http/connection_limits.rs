//! Limits of connections: their number in all and for each network, and the time of a write without
//! progress.
//!
//! One network has a share of the seats. The last seats are reserved for networks that have few,
//! and some more answer health checks only. A connection without a seat is closed.

use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Seats for connections of every sort.
const SEATS: usize = 256;
/// The last of them are for networks that have fewer than [`FEW`].
const NEWCOMERS: usize = 64;
const FEW: usize = 4;
/// Seats that one network may have.
const SEATS_EACH: usize = 128;
/// Seats beside those, for health checks only, and the number of them that one network may have.
const HEALTH_SEATS: usize = 16;
const HEALTH_SEATS_EACH: usize = 2;
/// The bits of an IPv6 address that name a network; one host may use all other bits.
const NETWORK_BITS: u128 = 0xffff_ffff_ffff_ffff_0000_0000_0000_0000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeatUse {
    /// Every request.
    Any,
    /// Health checks only.
    Health,
}

/// All seats of a listener. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seats {
    any: Arc<Mutex<TakenSeats>>,
    health: Arc<Mutex<TakenSeats>>,
}

#[derive(Debug, Default)]
struct TakenSeats {
    all: usize,
    each: BTreeMap<IpAddr, usize>,
}

/// The seat of one connection; dropping it frees the seat.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) permits: SeatUse,
    network: IpAddr,
    taken: Arc<Mutex<TakenSeats>>,
}

impl Seats {
    /// Takes a seat for this address; `None` if there is none for it.
    pub(crate) fn take(&self, address: IpAddr) -> Option<Seat> {
        let network = network(address);
        let any = |all, own| {
            own < SEATS_EACH && (all < SEATS.saturating_sub(NEWCOMERS) || own < FEW && all < SEATS)
        };
        let health = |all, own| all < HEALTH_SEATS && own < HEALTH_SEATS_EACH;
        let seat = |permits, taken| Seat { permits, network, taken };
        if self.any.lock().take(network, any) {
            return Some(seat(SeatUse::Any, self.any.clone()));
        }
        self.health.lock().take(network, health).then(|| seat(SeatUse::Health, self.health.clone()))
    }
}

impl TakenSeats {
    /// Counts one more seat for a network, if `may` permits it for the counts of all and its own.
    fn take(&mut self, network: IpAddr, may: impl FnOnce(usize, usize) -> bool) -> bool {
        let own = self.each.get(&network).copied().unwrap_or_default();
        let may = may(self.all, own);
        if may {
            self.all = self.all.saturating_add(1);
            self.each.insert(network, own.saturating_add(1));
        }
        may
    }

    fn free(&mut self, network: IpAddr) {
        self.all = self.all.saturating_sub(1);
        let left = self.each.get(&network).map_or(0, |count| count.saturating_sub(1));
        if left == 0 {
            self.each.remove(&network);
        } else {
            self.each.insert(network, left);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.taken.lock().free(self.network);
    }
}

/// Returns the network of an address: an IPv4 address itself, the first 64 bits of an IPv6 address.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK_BITS)),
        address @ IpAddr::V4(_) => address,
    }
}

/// Longest time without progress of a write.
pub(crate) const WRITE_MAX: Duration = Duration::from_secs(10);

/// A stream that fails once a write made no progress for [`WRITE_MAX`].
#[derive(Debug)]
pub(crate) struct WriteTimeoutStream<S> {
    inner: S,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeoutStream<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner, stalled: None }
    }

    /// Returns the outcome of a write step; a pending step starts a timer, which progress resets.
    fn with_timeout<T>(
        &mut self,
        cx: &mut Context<'_>,
        step: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if step.is_ready() {
            self.stalled = None;
            return step;
        }
        let timer = self.stalled.get_or_insert_with(|| Box::pin(sleep(WRITE_MAX)));
        timer.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeoutStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let step = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.with_timeout(cx, step)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let step = Pin::new(&mut self.inner).poll_write_vectored(cx, parts);
        self.with_timeout(cx, step)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let step = Pin::new(&mut self.inner).poll_flush(cx);
        self.with_timeout(cx, step)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let step = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.with_timeout(cx, step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the seats that an address gets in these tries, and the number of those for every
    /// request.
    fn takes(seats: &Seats, address: &str, tries: usize) -> (Vec<Seat>, usize) {
        let address = address.parse().unwrap();
        let all: Vec<Seat> = (0..tries).filter_map(|_| seats.take(address)).collect();
        let any = all.iter().filter(|seat| seat.permits == SeatUse::Any).count();
        (all, any)
    }

    /// Closes S5: two addresses that take all they get leave seats for every other address, and for
    /// health.
    #[test]
    fn whoever_takes_all_seats_leaves_some_for_newcomers_and_for_health() {
        let seats = Seats::default();
        let (one, any) = takes(&seats, "192.0.2.1", 300);
        assert_eq!((any, one.len()), (128, 130), "its share, and two of health");
        let (_other, any) = takes(&seats, "192.0.2.2", 300);
        assert_eq!(any, 64, "what is not kept for newcomers");
        let newcomers: Vec<_> =
            (1..=16).map(|host| takes(&seats, &format!("198.51.100.{host}"), 6)).collect();
        assert!(newcomers.iter().all(|(_, any)| *any == 4));
        let (late, any) = takes(&seats, "203.0.113.1", 3);
        assert_eq!((any, late.len()), (0, 0), "all seats are taken, also those of health");
        drop(one);
        let (late, any) = takes(&seats, "203.0.113.1", 3);
        assert_eq!((any, late.len()), (3, 3));
    }

    /// Closes S5: a host with a network of IPv6 addresses has the share of one address.
    #[test]
    fn an_ipv6_address_counts_for_its_network() {
        let seats = Seats::default();
        let hosts = (0..300)
            .filter_map(|host| seats.take(format!("2001:db8:0:1:{host:x}::1").parse().unwrap()));
        let hosts: Vec<Seat> = hosts.collect();
        assert_eq!(hosts.iter().filter(|seat| seat.permits == SeatUse::Any).count(), 128);
        assert_eq!(takes(&seats, "2001:db8:0:2::1", 1).1, 1, "another network");
        assert_eq!(
            network("::ffff:192.0.2.1".parse().unwrap()),
            network("192.0.2.1".parse().unwrap())
        );
    }
}

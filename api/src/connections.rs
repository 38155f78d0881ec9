//! Who may connect: so many at one time, and of one address only some of them; whoever takes nothing of an answer for
//! too long is cut off. Where all places are taken, one that does nothing makes room for whoever has fewer.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio_io_timeout::TimeoutStream;

use crate::address::{Proxy, network};
use crate::limits::Limits;

/// Files that a server needs beside its connections: the database's, its own, and some to spare.
const OTHER_FILES: usize = 64;

/// How long a connection must have done nothing to make room for another: what was answered last is on its way by then.
const AT_REST: Duration = Duration::from_secs(1);

/// Lets connections in, and counts them.
pub(crate) struct Door {
    most: usize,
    most_of_address: usize,
    write_timeout: Duration,
    /// Those of whom many people come.
    proxies: Option<Arc<[Proxy]>>,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    all: usize,
    by_address: HashMap<IpAddr, Vec<Arc<ConnectionState>>>,
}

/// What a connection is doing.
pub(crate) struct ConnectionState {
    doing: Mutex<Doing>,
    given_up: Notify,
}

struct Doing {
    requests: usize,
    /// When it last began or ended something.
    since: Instant,
    is_given_up: bool,
}

impl ConnectionState {
    fn new() -> Arc<Self> {
        let doing = Doing { requests: 0, since: Instant::now(), is_given_up: false };
        Arc::new(Self { doing: Mutex::new(doing), given_up: Notify::new() })
    }

    fn doing(&self) -> std::sync::MutexGuard<'_, Doing> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request of the connection; it lasts until its answer was taken.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        let mut doing = self.doing();
        doing.requests += 1;
        doing.since = Instant::now();
        Busy(Arc::clone(self))
    }

    /// Resolves once somebody else has its place.
    pub(crate) async fn given_up(&self) {
        self.given_up.notified().await;
    }

    /// Since when it does nothing; `None` while it has a request, or too shortly after.
    fn at_rest_since(&self) -> Option<Instant> {
        let doing = self.doing();
        let is_at_rest = doing.requests == 0 && !doing.is_given_up && doing.since.elapsed() >= AT_REST;
        is_at_rest.then_some(doing.since)
    }
}

/// A request of a connection, while it lasts.
pub(crate) struct Busy(Arc<ConnectionState>);

impl Drop for Busy {
    fn drop(&mut self) {
        let mut doing = self.0.doing();
        doing.requests -= 1;
        doing.since = Instant::now();
    }
}

impl Held {
    fn count(&self, address: IpAddr) -> usize {
        self.by_address.get(&address).map_or(0, Vec::len)
    }

    /// Takes the place of a connection that does nothing, the longest of the address that has most; none of an address that
    /// has no more than whoever wants it would have. True if there was one.
    fn make_room(&mut self, wanted_by: IpAddr) -> bool {
        let own = self.count(wanted_by) + 1;
        let mut others: Vec<_> = self.by_address.iter().filter(|(_, seats)| seats.len() > own).collect();
        others.sort_unstable_by_key(|(_, seats)| std::cmp::Reverse(seats.len()));
        let found = others.into_iter().find_map(|(address, seats)| {
            let at_rest = seats.iter().filter_map(|seat| Some((seat.at_rest_since()?, seat)));
            at_rest.min_by_key(|(since, _)| *since).map(|(_, seat)| (address, seat))
        });
        let Some((address, seat)) = found else { return false };
        let (address, seat) = (*address, Arc::clone(seat));
        seat.doing().is_given_up = true;
        seat.given_up.notify_one();
        self.leave(Some(address), &seat);
        true
    }

    fn leave(&mut self, address: Option<IpAddr>, seat: &Arc<ConnectionState>) {
        self.all -= 1;
        if let Some(address) = address
            && let Some(seats) = self.by_address.get_mut(&address)
        {
            seats.retain(|one| !Arc::ptr_eq(one, seat));
            if seats.is_empty() {
                self.by_address.remove(&address);
            }
        }
    }
}

/// One connection among those that are held.
struct OpenConnection {
    held: Arc<Mutex<Held>>,
    address: Option<IpAddr>,
    seat: Arc<ConnectionState>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever was given up left when somebody else came.
        let is_given_up = self.seat.doing().is_given_up;
        if !is_given_up {
            held.leave(self.address, &self.seat);
        }
    }
}

/// Files that the process may have open: as many as are wanted, where the system allows it to ask for them.
fn files(wanted: usize) -> usize {
    let limits = getrlimit(Resource::Nofile);
    let all = |files: Option<u64>| files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
    let (now, most) = (all(limits.current), all(limits.maximum));
    if now >= wanted || most <= now {
        return now;
    }
    let more = wanted.min(most);
    let asked = Rlimit { current: Some(more as u64), maximum: limits.maximum };
    if setrlimit(Resource::Nofile, asked).is_ok() { more } else { now }
}

impl Door {
    /// A door for as many as the limits allow, and the system has files for.
    pub(crate) fn new(limits: &Limits) -> Self {
        let files = files(limits.connections.saturating_add(OTHER_FILES));
        let most = limits.connections.min(files.saturating_sub(OTHER_FILES)).max(2);
        if most < limits.connections {
            tracing::info!(connections = most, "the limit of open files allows fewer connections than asked for");
        }
        Self {
            most,
            most_of_address: limits.address_connections.min(most / 2).max(1),
            write_timeout: limits.write_timeout,
            // Behind a proxy that was not named, every connection may be one.
            proxies: (!limits.behind_proxy || !limits.proxies.is_empty()).then(|| limits.proxies.as_slice().into()),
            held: Arc::default(),
        }
    }

    /// The connection, where there is room for it.
    pub(crate) fn let_in(&self, stream: TcpStream, peer: SocketAddr) -> Option<Connection> {
        let Some(held) = self.admit(peer.ip()) else {
            metrics::counter!("tessera_connections_refused_total").increment(1);
            return None;
        };
        // It is gone already.
        stream.set_nodelay(true).ok()?;
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(self.write_timeout));
        Some(Connection { stream: Box::pin(stream), held })
    }

    fn admit(&self, peer: IpAddr) -> Option<OpenConnection> {
        let peer = peer.to_canonical();
        let is_counted = self.proxies.as_ref().is_some_and(|proxies| !Proxy::is_among(peer, proxies));
        let address = is_counted.then(|| network(peer));
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if address.is_some_and(|address| held.count(address) >= self.most_of_address) {
            return None;
        }
        if held.all >= self.most && !address.is_some_and(|address| held.make_room(address)) {
            return None;
        }
        let seat = ConnectionState::new();
        if let Some(address) = address {
            held.by_address.entry(address).or_default().push(Arc::clone(&seat));
        }
        held.all += 1;
        Some(OpenConnection { held: Arc::clone(&self.held), address, seat })
    }
}

/// A connection that is counted, and ends when its reader takes nothing.
pub(crate) struct Connection {
    stream: Pin<Box<TimeoutStream<TcpStream>>>,
    held: OpenConnection,
}

impl Connection {
    /// What it is doing.
    pub(crate) fn seat(&self) -> Arc<ConnectionState> {
        Arc::clone(&self.held.seat)
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_read(context, to)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_does_not_take_all_places_and_a_proxy_may() {
        let proxies = vec!["10.0.0.0/8".parse().unwrap()];
        let door = Door::new(&Limits { connections: 8, address_connections: 3, proxies, ..Limits::default() });
        let from = |address: &str| door.admit(address.parse().unwrap());
        let held: Vec<_> = (0..5).filter_map(|_| from("192.0.2.1")).collect();
        assert_eq!(held.len(), 3);
        let proxied: Vec<_> = (0..9).filter_map(|_| from("10.0.0.1")).collect();
        assert_eq!((proxied.len(), from("192.0.2.2").is_none()), (5, true));
        drop(held);
        assert!(from("192.0.2.2").is_some());
        drop(proxied);
        let held = door.held.lock().unwrap();
        assert_eq!((held.all, held.by_address.len()), (0, 0));
    }

    #[test]
    fn where_all_places_are_taken_who_does_nothing_makes_room_for_whoever_has_fewer() {
        let door = Door::new(&Limits { connections: 8, address_connections: 4, ..Limits::default() });
        let from = |address: &str| door.admit(address.parse().unwrap());
        let rest = |one: &OpenConnection| one.seat.doing().since = Instant::now().checked_sub(2 * AT_REST).unwrap();
        let mut held: Vec<_> = (0..8).map(|n| from(&format!("192.0.2.{}", n / 4)).unwrap()).collect();
        assert!(from("192.0.2.9").is_none(), "all of them may be about to be answered");
        held.iter().skip(1).for_each(rest);
        let busy = held[5].seat.busy();
        rest(&held[5]);
        let mut came = Vec::new();
        for _ in 0..2 {
            came.push(from("192.0.2.9").unwrap());
        }
        assert_eq!(door.held.lock().unwrap().all, 8);
        let given_up: Vec<usize> = (0..8).filter(|n| held[*n].seat.doing().is_given_up).collect();
        assert_eq!(given_up.len(), 2, "{given_up:?}");
        assert!(
            !given_up.contains(&0) && !given_up.contains(&5),
            "neither who just came nor who is busy: {given_up:?}"
        );
        // Whoever has as many takes nothing from others, nor does one that has most from itself.
        assert!(from("192.0.2.9").is_none() && from("192.0.2.0").is_none());
        drop(busy);
        held.clear();
        came.clear();
        let held = door.held.lock().unwrap();
        assert_eq!((held.all, held.by_address.len()), (0, 0));
    }
}

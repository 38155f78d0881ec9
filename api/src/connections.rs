//! Admission of connections: a total limit, a limit per address, and a time limit for slow readers. If the maximum is
//! reached, the server closes an idle connection of the address with the most connections.

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

/// Open files that a server needs in addition to its connections: for the database, for itself, and a reserve.
const OTHER_FILES: usize = 64;

/// How long a connection must be idle before it may be closed to make room. After this time without a request, the last
/// answer has certainly been sent.
const AT_REST: Duration = Duration::from_secs(1);

/// Admits and counts connections.
pub(crate) struct Door {
    most: usize,
    most_of_address: usize,
    write_timeout: Duration,
    /// The trusted proxies. Many people share a trusted proxy, so the limit per address does not apply to it.
    proxies: Option<Arc<[Proxy]>>,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    all: usize,
    by_address: HashMap<IpAddr, Vec<Arc<ConnectionState>>>,
}

/// The state of a connection.
pub(crate) struct ConnectionState {
    doing: Mutex<Doing>,
    given_up: Notify,
}

struct Doing {
    requests: usize,
    /// When the connection last began or ended a request.
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

    /// A request of the connection. A request lasts until the client has read its answer.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        let mut doing = self.doing();
        doing.requests += 1;
        doing.since = Instant::now();
        Busy(Arc::clone(self))
    }

    /// Resolves when this connection must make room for another one.
    pub(crate) async fn given_up(&self) {
        self.given_up.notified().await;
    }

    /// The time since which the connection has been idle; `None` during a request and shortly after it.
    fn at_rest_since(&self) -> Option<Instant> {
        let doing = self.doing();
        let is_at_rest = doing.requests == 0 && !doing.is_given_up && doing.since.elapsed() >= AT_REST;
        is_at_rest.then_some(doing.since)
    }
}

/// A request in progress on a connection.
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

    /// Closes a connection of an address that has more connections than the new connection's address would have. Of
    /// these addresses, takes the one with the most connections among those with an idle connection. Closes its longest
    /// idle connection. Returns true if it closed one.
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

/// One admitted connection.
struct OpenConnection {
    held: Arc<Mutex<Held>>,
    address: Option<IpAddr>,
    seat: Arc<ConnectionState>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // A connection that was closed for another one.
        let is_given_up = self.seat.doing().is_given_up;
        if !is_given_up {
            held.leave(self.address, &self.seat);
        }
    }
}

/// The number of files that the process may open: as many as needed, if the system allows it.
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
    /// Creates the limiter. If the system allows too few open files, the limit is lower than configured.
    pub(crate) fn new(limits: &Limits) -> Self {
        let files = files(limits.connections.saturating_add(OTHER_FILES));
        let most = limits.connections.min(files.saturating_sub(OTHER_FILES)).max(2);
        if most < limits.connections {
            tracing::info!(
                connections = most,
                "the system's limit on open files allows fewer connections than `--connections`"
            );
        }
        Self {
            most,
            most_of_address: limits.address_connections.min(most / 2).max(1),
            write_timeout: limits.write_timeout,
            // Behind a proxy that is not listed, every connection may belong to the proxy.
            proxies: (!limits.behind_proxy || !limits.proxies.is_empty()).then(|| limits.proxies.as_slice().into()),
            held: Arc::default(),
        }
    }

    /// Returns the admitted connection, or `None` if a limit is reached.
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

/// An admitted connection. The connection is closed if its client stops reading.
pub(crate) struct Connection {
    stream: Pin<Box<TimeoutStream<TcpStream>>>,
    held: OpenConnection,
}

impl Connection {
    /// Its state.
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
        assert!(from("192.0.2.9").is_none(), "no connection is closed if every connection may still receive an answer");
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
            "the newest and the busy connection must stay open: {given_up:?}"
        );
        // An address with equally many connections takes no place from others, and the busiest address none from
        // itself.
        assert!(from("192.0.2.9").is_none() && from("192.0.2.0").is_none());
        drop(busy);
        held.clear();
        came.clear();
        let held = door.held.lock().unwrap();
        assert_eq!((held.all, held.by_address.len()), (0, 0));
    }
}

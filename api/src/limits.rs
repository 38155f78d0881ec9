//! Limits for callers: request rates per address and per key, and simultaneous requests per key and in total.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::address::{self, Proxy};
use crate::error::{Problem, Retry};
use crate::keys::presented;
use crate::reply_body::ReplyBody;

/// The maximum size in bytes of a request's body, and of an import's body.
pub(crate) const MOST_BYTES: usize = 4 * 1024 * 1024;
pub(crate) const MOST_IMPORT_BYTES: usize = 16 * 1024 * 1024;

/// The limits for callers.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum sustained requests per second per key.
    pub key_per_second: u64,
    /// Maximum sustained requests per second per address.
    pub address_per_second: u64,
    /// The size of a burst: the number of seconds for which the sustained rate may be saved up.
    pub burst_seconds: u32,
    /// The maximum number of simultaneous requests; further ones are rejected.
    pub at_once: usize,
    /// The maximum number of simultaneous requests per key; further ones wait.
    pub key_at_once: usize,
    /// The maximum number of waiting requests per key; further ones are rejected.
    pub key_waiting: usize,
    /// The maximum total size of all bodies that are being transferred, in bytes. Further bodies are rejected.
    pub body_bytes: usize,
    /// The maximum total size of the bodies that one key transfers at the same time; further requests wait.
    pub key_body_bytes: usize,
    /// The maximum duration of a request, including its wait.
    pub timeout: Duration,
    /// The maximum time between two parts of a body.
    pub body_pause: Duration,
    /// The maximum time from the end of a request until the head of the next one is complete. It is also the maximum
    /// idle time.
    pub header_timeout: Duration,
    /// The maximum time without progress while a client reads an answer.
    pub write_timeout: Duration,
    /// The maximum number of simultaneous connections. Further connections are closed immediately.
    pub connections: usize,
    /// The maximum number of simultaneous connections per address, except for proxies.
    pub address_connections: usize,
    /// True if a proxy is in front of the server. If the proxies are not known, the limit per address does not apply.
    pub behind_proxy: bool,
    /// Trusted proxies for the source address of a request.
    pub proxies: Vec<Proxy>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            key_per_second: 50,
            address_per_second: 200,
            burst_seconds: 10,
            at_once: 256,
            key_at_once: 8,
            key_waiting: 64,
            body_bytes: 64 << 20,
            key_body_bytes: 24 << 20,
            timeout: Duration::from_secs(30),
            body_pause: Duration::from_secs(10),
            header_timeout: Duration::from_secs(20),
            write_timeout: Duration::from_secs(20),
            connections: 4096,
            address_connections: 256,
            behind_proxy: false,
            proxies: Vec::new(),
        }
    }
}

/// The hash of the key or address whose rate limit applies to a request. The key itself is not stored.
type Caller = u64;

/// Applies the limits before every route except the health routes.
pub(crate) struct Gate {
    limits: Limits,
    hashes: RandomState,
    by_address: DefaultKeyedRateLimiter<IpAddr>,
    by_key: DefaultKeyedRateLimiter<Caller>,
    at_once: Arc<Semaphore>,
    body_kib: Arc<Semaphore>,
    callers: Arc<Mutex<HashMap<Caller, Share>>>,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// The present use of one caller.
#[derive(Clone)]
struct Share {
    places: Arc<Semaphore>,
    body_kib: Arc<Semaphore>,
    requests: usize,
}

/// One counted request; when a caller's last request ends, the caller is forgotten.
struct Counted {
    callers: Arc<Mutex<HashMap<Caller, Share>>>,
    caller: Caller,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = callers.get_mut(&self.caller) {
            share.requests -= 1;
            if share.requests == 0 {
                callers.remove(&self.caller);
            }
        }
    }
}

/// The permission to run one request; dropping it makes room for the next one.
pub(crate) struct Place {
    _permits: [Option<OwnedSemaphorePermit>; 4],
    _counted: Counted,
}

fn limiter<K: Hash + Eq + Clone>(per_second: u64, burst_seconds: u32) -> DefaultKeyedRateLimiter<K> {
    let burst = u32::try_from(per_second).unwrap_or(u32::MAX).saturating_mul(burst_seconds);
    let period = Duration::from_nanos((1_000_000_000 / per_second.max(1)).max(1));
    let quota = Quota::with_period(period).unwrap_or(Quota::per_second(NonZeroU32::MIN));
    RateLimiter::keyed(quota.allow_burst(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN)))
}

fn checked<K: Hash + Eq + Clone>(limiter: &DefaultKeyedRateLimiter<K>, key: &K) -> Result<(), Retry> {
    limiter.check_key(key).map_err(|early| {
        let wait = early.wait_time_from(DefaultClock::default().now()).as_secs().max(1);
        too_many(&format!("too many requests; try again in {wait} s"), wait)
    })
}

fn too_many(detail: &str, wait: u64) -> Retry {
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many", detail).retry_after(wait)
}

fn busy() -> Retry {
    let detail = "the server is busy; try again";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail).retry_after(1)
}

/// The size in KiB that a request's body may reach.
fn body_kib(request: &Request) -> usize {
    let most = if request.uri().path() == "/api/memories/import" { MOST_IMPORT_BYTES } else { MOST_BYTES };
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let bytes = match length {
        Some(length) => most.min(length),
        None if request.headers().contains_key(header::TRANSFER_ENCODING) => most,
        None => 0,
    };
    bytes.div_ceil(1024)
}

/// Acquires permits for a number of KiB, or all permits if the number is larger.
async fn kib_of(store: &Arc<Semaphore>, kib: usize, all: usize) -> Option<OwnedSemaphorePermit> {
    let kib = u32::try_from(kib.min(all / 1024)).unwrap_or(u32::MAX);
    Arc::clone(store).acquire_many_owned(kib).await.ok()
}

impl Gate {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            hashes: RandomState::new(),
            by_address: limiter(limits.address_per_second, limits.burst_seconds),
            by_key: limiter(limits.key_per_second, limits.burst_seconds),
            at_once: Arc::new(Semaphore::new(limits.at_once)),
            body_kib: Arc::new(Semaphore::new(limits.body_bytes / 1024)),
            callers: Arc::default(),
            limits,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Removes the state of callers who have not used their limits recently.
    pub(crate) fn prune(&self) {
        self.by_address.retain_recent();
        self.by_key.retain_recent();
        self.by_address.shrink_to_fit();
        self.by_key.shrink_to_fit();
        metrics::gauge!("tessera_limited_callers").set((self.by_address.len() + self.by_key.len()) as f64);
    }

    /// Counts a request first against its address and then against its key, so requests with invented keys are limited
    /// too. The key is parsed, but not verified yet.
    fn count(&self, request: &Request) -> Result<Caller, Retry> {
        let address = address::of(request, &self.limits.proxies);
        if let Some(address) = address {
            checked(&self.by_address, &address::network(address))?;
        }
        let Some(key) = presented(request.headers()) else { return Ok(self.hashes.hash_one(address)) };
        let caller = self.hashes.hash_one((key.id(), key.hash()));
        checked(&self.by_key, &caller)?;
        Ok(caller)
    }

    fn share(&self, caller: Caller) -> Result<(Share, Counted), Retry> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let share = callers.entry(caller).or_insert_with(|| Share {
            places: Arc::new(Semaphore::new(self.limits.key_at_once.max(1))),
            body_kib: Arc::new(Semaphore::new(self.limits.key_body_bytes / 1024)),
            requests: 0,
        });
        if share.requests >= self.limits.key_at_once + self.limits.key_waiting {
            return Err(too_many("too many simultaneous requests; wait for some to finish", 1));
        }
        share.requests += 1;
        let counted = Counted { callers: Arc::clone(&self.callers), caller };
        Ok((share.clone(), counted))
    }

    /// Waits for the caller's turn, then takes a place if one is free.
    async fn place(&self, caller: Caller, kib: usize) -> Result<Place, Retry> {
        let (share, counted) = self.share(caller)?;
        let own = Arc::clone(&share.places).acquire_owned().await.ok();
        let own_kib = kib_of(&share.body_kib, kib, self.limits.key_body_bytes).await;
        let place = Arc::clone(&self.at_once).try_acquire_owned().map_err(|_| busy())?;
        let most = kib.min(self.limits.body_bytes / 1024);
        let bytes = Arc::clone(&self.body_kib).try_acquire_many_owned(u32::try_from(most).unwrap_or(u32::MAX));
        let bytes = bytes.map_err(|_| busy())?;
        Ok(Place { _permits: [own, own_kib, Some(place), Some(bytes)], _counted: counted })
    }

    async fn answer(&self, request: Request, next: Next) -> Response {
        let caller = match self.count(&request) {
            Ok(caller) => caller,
            Err(problem) => return problem.into_response(),
        };
        let answered = tokio::time::timeout(self.limits.timeout, async {
            let place = self.place(caller, body_kib(&request)).await?;
            let response = next.run(request).await;
            Ok::<_, Retry>(response.map(|body| ReplyBody::new(body, place).into()))
        });
        match answered.await {
            Ok(Ok(response)) => response,
            Ok(Err(problem)) => problem.into_response(),
            Err(_) => {
                let detail = "the request timed out; try again, or ask for less";
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "timeout", detail).into_response()
            }
        }
    }
}

/// Applies the limits to a request.
pub(crate) async fn admitted(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    gate.answer(request, next).await
}

/// The method name for metrics. All unknown methods are reported under one name, so clients cannot create many time
/// series.
pub(crate) fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_who_have_their_whole_allowance_again_are_forgotten() {
        let gate = Gate::new(Limits { key_per_second: 1_000_000_000, burst_seconds: 1, ..Limits::default() });
        for number in 0..50_000_u64 {
            assert!(checked(&gate.by_key, &number).is_ok());
        }
        assert_eq!(gate.by_key.len(), 50_000);
        gate.prune();
        assert_eq!(gate.by_key.len(), 0);
        let slow = Gate::new(Limits { key_per_second: 1, burst_seconds: 1, ..Limits::default() });
        assert!(checked(&slow.by_key, &7).is_ok() && checked(&slow.by_key, &7).is_err());
        slow.prune();
        assert!(checked(&slow.by_key, &7).is_err(), "who is over it is not");
    }

    #[test]
    fn a_caller_is_forgotten_with_their_last_request() {
        let gate = Gate::new(Limits { key_at_once: 2, key_waiting: 1, ..Limits::default() });
        let mut held: Vec<_> = (0..3).map(|_| gate.share(1).map(|(_, counted)| counted)).collect();
        assert!(held.iter().all(Result::is_ok) && gate.share(1).is_err() && gate.share(2).is_ok());
        held.pop();
        assert!(gate.share(1).is_ok());
        held.clear();
        assert!(gate.callers.lock().unwrap().is_empty());
    }
}

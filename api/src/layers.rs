//! What stands around every route: request ids, logs, metrics, limits of time, size and number.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::Router;
use axum::error_handling::HandleErrorLayer;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tower::limit::GlobalConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::{BoxError, ServiceBuilder};
use tower_governor::governor::GovernorConfigBuilder;
use tower_governor::key_extractor::{KeyExtractor, PeerIpKeyExtractor, SmartIpKeyExtractor};
use tower_governor::{GovernorError, GovernorLayer};
use tower_http::LatencyUnit;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::{DefaultOnResponse, TraceLayer};
use tracing::Level;

use crate::error::Problem;

/// What callers may ask of a server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Requests of one key in a second, over time.
    pub key_per_second: u64,
    /// Requests of one address in a second, over time.
    pub address_per_second: u64,
    /// Seconds of requests that may come at once.
    pub burst_seconds: u32,
    /// Requests at one time; more are turned away.
    pub at_once: usize,
    /// How long one may take.
    pub timeout: Duration,
    /// A proxy in front says for whom it asks.
    pub behind_proxy: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            key_per_second: 50,
            address_per_second: 200,
            burst_seconds: 10,
            at_once: 256,
            timeout: Duration::from_secs(30),
            behind_proxy: false,
        }
    }
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

static METRICS: LazyLock<Option<PrometheusHandle>> = LazyLock::new(|| {
    let seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &seconds)
        .ok()?
        .install_recorder()
        .ok()
});

/// The metrics so far, as Prometheus reads them.
pub fn metrics_text() -> String {
    METRICS.as_ref().map(PrometheusHandle::render).unwrap_or_default()
}

/// Keys are told apart by their hash: the key itself is kept nowhere.
#[derive(Debug, Clone)]
struct ByKey;

impl KeyExtractor for ByKey {
    type Key = u64;

    fn extract<T>(&self, request: &axum::http::Request<T>) -> Result<u64, GovernorError> {
        let mut hasher = DefaultHasher::new();
        // Requests without a key share one allowance; each address has its own besides.
        request.headers().get(header::AUTHORIZATION).map(axum::http::HeaderValue::as_bytes).hash(&mut hasher);
        Ok(hasher.finish())
    }
}

/// The address that asks: the connection's, or the one that the proxy names.
#[derive(Debug, Clone)]
struct ByAddress {
    behind_proxy: bool,
}

impl KeyExtractor for ByAddress {
    type Key = IpAddr;

    fn extract<T>(&self, request: &axum::http::Request<T>) -> Result<IpAddr, GovernorError> {
        if self.behind_proxy { SmartIpKeyExtractor.extract(request) } else { PeerIpKeyExtractor.extract(request) }
    }
}

/// Puts the layers around the routes.
pub(crate) fn around(router: Router, limits: &Limits) -> Router {
    LazyLock::force(&METRICS);
    let by_key = limited(ByKey, limits.key_per_second, limits.burst_seconds);
    let by_address =
        limited(ByAddress { behind_proxy: limits.behind_proxy }, limits.address_per_second, limits.burst_seconds);
    let shed = ServiceBuilder::new()
        .layer(HandleErrorLayer::new(too_busy))
        .layer(LoadShedLayer::new())
        .layer(GlobalConcurrencyLimitLayer::new(limits.at_once));
    let router = router
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "no_route", "there is no such route") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this route has other methods")
        });
    router
        .layer(by_key)
        .layer(by_address)
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, limits.timeout))
        .layer(shed)
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the server failed; this is not your fault")
                .into_response()
        }))
        .layer(middleware::from_fn(measured))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(|request: &Request| {
                    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
                    // The path alone: what is asked in it, or in the body, is nobody's business.
                    tracing::info_span!("request", method = %request.method(), path = request.uri().path(), id)
                })
                .on_response(DefaultOnResponse::new().level(Level::INFO).latency_unit(LatencyUnit::Micros)),
        )
        .layer(SetRequestIdLayer::new(REQUEST_ID, MakeRequestUuid))
        .layer(SetSensitiveRequestHeadersLayer::new([header::AUTHORIZATION]))
}

type Limited<K> = GovernorLayer<K, ::governor::middleware::NoOpMiddleware, axum::body::Body>;

fn limited<K: KeyExtractor>(key: K, per_second: u64, burst_seconds: u32) -> Limited<K> {
    let burst = u32::try_from(per_second).unwrap_or(u32::MAX).saturating_mul(burst_seconds).max(1);
    let period = Duration::from_nanos(1_000_000_000 / per_second.max(1));
    let mut builder = GovernorConfigBuilder::const_default();
    let config = builder.period(period).burst_size(burst).key_extractor(key).finish();
    #[expect(clippy::unwrap_used, reason = "only a period or burst of nothing is refused")]
    let config = Arc::new(config.unwrap());
    GovernorLayer::new(config).error_handler(|error| match error {
        GovernorError::TooManyRequests { wait_time, .. } => {
            let detail = format!("too many requests; wait {} s", wait_time.max(1));
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many", detail);
            problem.retry_after(wait_time.max(1)).into_response()
        }
        _ => Problem::new(StatusCode::BAD_REQUEST, "no_address", "the proxy does not say for whom it asks")
            .into_response(),
    })
}

async fn too_busy(_: BoxError) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "the server has too much to do; try again")
}

async fn measured(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = request.method().to_string();
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    metrics::counter!("http_requests_total", "route" => route.clone(), "method" => method, "status" => status)
        .increment(1);
    metrics::histogram!("http_request_seconds", "route" => route).record(started.elapsed().as_secs_f64());
    response
}

//! Layers around all routes: request IDs, logs, metrics, and limits.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tower_http::LatencyUnit;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tower_http::timeout::RequestBodyTimeoutLayer;
use tower_http::trace::{DefaultOnResponse, TraceLayer};
use tracing::Level;

use crate::error::Problem;
use crate::limits::{Gate, admitted, method_name};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

static METRICS: LazyLock<Option<PrometheusHandle>> = LazyLock::new(|| {
    let seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &seconds)
        .ok()?
        .install_recorder()
        .ok()
});

/// The metrics in Prometheus format.
pub fn metrics_text() -> String {
    METRICS.as_ref().map(PrometheusHandle::render).unwrap_or_default()
}

/// Adds the layers to the routes. Health routes are outside the limits, so monitoring always gets an answer.
pub(crate) fn around(routes: Router, probes: Router, gate: &Arc<Gate>) -> Router {
    LazyLock::force(&METRICS);
    routes
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "no_route", "this route does not exist") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this route does not support the method")
        })
        .layer(RequestBodyTimeoutLayer::new(gate.limits().body_pause))
        .layer(middleware::from_fn_with_state(Arc::clone(gate), admitted))
        .merge(probes)
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "internal server error").into_response()
        }))
        .layer(middleware::from_fn(measured))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(|request: &Request| {
                    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
                    // The pattern of the route, because a path may contain a credential.
                    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str);
                    tracing::info_span!("request", method = method_name(request.method()), route, id)
                })
                .on_response(DefaultOnResponse::new().level(Level::INFO).latency_unit(LatencyUnit::Micros)),
        )
        .layer(SetRequestIdLayer::new(REQUEST_ID, MakeRequestUuid))
        .layer(SetSensitiveRequestHeadersLayer::new([header::AUTHORIZATION]))
}

async fn measured(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = method_name(request.method());
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    metrics::counter!("http_requests_total", "route" => route.clone(), "method" => method, "status" => status)
        .increment(1);
    metrics::histogram!("http_request_seconds", "route" => route).record(started.elapsed().as_secs_f64());
    response
}

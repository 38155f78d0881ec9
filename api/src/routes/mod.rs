//! The HTTP handlers. The handlers contain little logic, and each checks that the key has the necessary scope.

mod creation;
mod links;
mod memories;
mod pages;
mod secrets;
mod shares;
mod sync;
mod system;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::limits::{MOST_BYTES, MOST_IMPORT_BYTES};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tessera",
        description = "A team's memory for coding agents. Routes under /api accept the caller's short ID of a \
            memory or its UUID, and lists of words as text; they ignore unknown fields and do not need If-Match. \
            Routes under /v1 are for sync clients.",
        license(name = "MIT")
    ),
    modifiers(&Bearer),
    security(("key" = []))
)]
struct Contract;

/// The health routes, which are not limited.
#[derive(OpenApi)]
#[openapi(paths(system::health, system::ready))]
struct ProbeContract;

/// Every route except the public ones needs a key.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_with(Default::default);
        components.add_security_scheme("key", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    }
}

/// All routes, and the OpenAPI contract.
pub(crate) fn router(app: App) -> (Router, utoipa::openapi::OpenApi) {
    // Literal paths come beside parameters; the router prefers them in any order.
    let (router, contract) = OpenApiRouter::with_openapi(Contract::openapi())
        .routes(routes!(system::auth_check))
        .routes(routes!(memories::list, memories::create))
        .routes(routes!(memories::recall))
        .routes(routes!(memories::since))
        .routes(routes!(system::export))
        .routes(routes!(memories::get_one, memories::update, memories::delete))
        .routes(routes!(memories::restore))
        .routes(routes!(secrets::show))
        .routes(routes!(secrets::forget))
        .routes(routes!(secrets::migrate))
        .routes(routes!(links::link))
        .routes(routes!(links::unlink))
        .routes(routes!(memories::tags))
        .routes(routes!(memories::categories))
        .routes(routes!(memories::stats))
        .routes(routes!(shares::share))
        .routes(routes!(shares::unshare))
        .routes(routes!(shares::share_tag, shares::unshare_tag))
        .routes(routes!(shares::unshare_tag_by_post))
        .routes(routes!(shares::shared_with_me))
        .routes(routes!(shares::my_shares))
        .routes(routes!(shares::invitations, shares::answer_invitation))
        .routes(routes!(shares::users))
        .routes(routes!(shares::mute, shares::unmute))
        .routes(routes!(shares::mute_owner, shares::unmute_owner))
        .routes(routes!(sync::push))
        .routes(routes!(sync::changes))
        .routes(routes!(sync::snapshot))
        .routes(routes!(secrets::take))
        .routes(routes!(secrets::purged))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .merge(OpenApiRouter::new().routes(routes!(system::import)).layer(DefaultBodyLimit::max(MOST_IMPORT_BYTES)))
        .with_state(app)
        .split_for_parts();
    (router, contract.merge_from(ProbeContract::openapi()))
}

/// The health routes.
pub(crate) fn probes(app: App) -> Router {
    Router::new().route("/health", get(system::health)).route("/ready", get(system::ready)).with_state(app)
}

//! The login of a pod, with the reviewer of its token on the loopback interface.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tessera_vault::{Auth, Vault, VaultError};

use crate::bao::{Bao, path};
use crate::canned::{Canned, Listener};

/// A service account's token; its signature is the reviewer's business.
fn account(name: &str) -> String {
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = json!({
        "iss": "kubernetes/serviceaccount",
        "kubernetes.io/serviceaccount/namespace": "tools",
        "kubernetes.io/serviceaccount/service-account.name": name,
        "kubernetes.io/serviceaccount/service-account.uid": "0f0e-1",
        "sub": format!("system:serviceaccount:tools:{name}"),
    });
    format!("{}.{}.{}", part(json!({ "alg": "RS256", "typ": "JWT" })), part(claims), URL_SAFE_NO_PAD.encode("signed"))
}

/// Says of a token whose it is, unless it is not one to believe.
fn review(body: &str) -> Canned {
    let asked: Value = serde_json::from_str(body).unwrap();
    let token = asked["spec"]["token"].as_str().unwrap();
    let status = match ["tessera", "stranger"].into_iter().find(|name| token == account(name)) {
        Some(name) => json!({
            "authenticated": true,
            "user": { "username": format!("system:serviceaccount:tools:{name}"), "uid": "0f0e-1", "groups": [] },
        }),
        None => json!({ "authenticated": false, "error": "the token has expired" }),
    };
    let answer = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status });
    Canned::Answer(201, "content-type: application/json\r\n", answer.to_string())
}

struct Cluster {
    bao: Bao,
    reviewer: Listener,
}

impl Cluster {
    async fn start(life: &str) -> Option<Self> {
        let bao = Bao::with_tls().await?;
        let reviewer = Listener::start(|_, asked| review(&asked.body)).await;
        bao.does("POST", "sys/auth/pods", json!({ "type": "kubernetes" })).await;
        let settings = json!({
            "kubernetes_host": reviewer.address,
            "kubernetes_ca_cert": fs::read_to_string(bao.certificate()).unwrap(),
            "disable_local_ca_jwt": true,
        });
        bao.does("POST", "auth/pods/config", settings).await;
        bao.does("PUT", "sys/policies/acl/pods", json!({ "policy": r#"path "secret/*" { capabilities = ["read"] }"# }))
            .await;
        let role = json!({
            "bound_service_account_names": "tessera",
            "bound_service_account_namespaces": "tools",
            "policies": "pods",
            "ttl": life,
        });
        bao.does("POST", "auth/pods/role/memory", role).await;
        fs::write(bao.file("jwt"), account("tessera")).unwrap();
        Some(Self { bao, reviewer })
    }

    fn vault(&self, role: &str) -> Vault {
        let mut config = self.bao.config("");
        config.auth = Auth::Kubernetes { role: role.into(), mount: "pods".into(), token_path: self.bao.file("jwt") };
        Vault::new(config).unwrap()
    }

    fn logins(&self) -> usize {
        self.reviewer.asked().len()
    }
}

#[tokio::test]
async fn a_pod_logs_in_once_for_all_who_wait_and_again_when_its_token_is_revoked() {
    let Some(cluster) = Cluster::start("1h").await else { return };
    let vault = cluster.vault("memory");
    let done = Arc::new(AtomicUsize::new(0));
    let reads: Vec<_> = (0..20)
        .map(|_| {
            let (vault, done) = (vault.clone(), done.clone());
            tokio::spawn(async move {
                assert_eq!(vault.read(&path("a")).await.unwrap(), None);
                done.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    for read in reads {
        read.await.unwrap();
    }
    assert_eq!((done.load(Ordering::Relaxed), cluster.logins()), (20, 1));

    cluster.bao.does("PUT", "sys/leases/revoke-prefix/auth/pods", Value::Null).await;
    assert_eq!(vault.read(&path("a")).await.unwrap(), None);
    assert_eq!(cluster.logins(), 2);
    // What a good token may not is no reason to log in again.
    assert!(matches!(vault.delete(&path("a")).await.unwrap_err(), VaultError::Denied { verb: "delete", .. }));
    assert_eq!(cluster.logins(), 2);
    let state = vault.token().await.unwrap();
    assert!(state.is_renewable && state.remaining.is_some_and(|rest| rest > Duration::from_mins(50)), "{state:?}");
}

#[tokio::test]
async fn a_pod_reads_its_own_token_at_every_login() {
    let Some(cluster) = Cluster::start("1s").await else { return };
    let (vault, jwt) = (cluster.vault("memory"), cluster.bao.file("jwt"));
    assert_eq!(vault.read(&path("a")).await.unwrap(), None);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    // What the claims say is right; who signed them does not know them any more.
    fs::write(&jwt, format!("{}xxxx", account("tessera"))).unwrap();
    let before = cluster.logins();
    let reads = [(); 10].map(|()| {
        let vault = vault.clone();
        tokio::spawn(async move { vault.read(&path("a")).await.unwrap_err() })
    });
    let mut errors = Vec::new();
    for read in reads {
        errors.push(read.await.unwrap());
    }
    assert_eq!(cluster.logins() - before, 1, "who waits for a login that fails does not try it again");
    let error = errors.pop().unwrap();
    assert_eq!(errors, vec![error.clone(); 9]);
    assert!(matches!(&error, VaultError::LoginRefused { role, mount, .. } if role == "memory" && mount == "pods"));
    fs::write(&jwt, account("tessera")).unwrap();
    assert_eq!(vault.read(&path("a")).await.unwrap(), None);

    fs::write(&jwt, account("stranger")).unwrap();
    let stranger = cluster.vault("memory").read(&path("a")).await.unwrap_err();
    fs::write(&jwt, account("tessera")).unwrap();
    let no_role = cluster.vault("nothing").read(&path("a")).await.unwrap_err();
    assert!(stranger.to_string().contains("service account name not authorized"), "{stranger}");
    assert!(no_role.to_string().contains("invalid role name"), "{no_role}");
    fs::remove_file(&jwt).unwrap();
    let no_file = cluster.vault("memory").read(&path("a")).await.unwrap_err();
    assert!(matches!(&no_file, VaultError::TokenFile { path, .. } if *path == jwt));
    for error in [error, stranger, no_role, no_file] {
        let told = format!("{error} {error:?}");
        for name in ["tessera", "stranger"] {
            for part in account(name).split('.') {
                assert!(!told.contains(part), "{told}");
            }
        }
    }
}

//! Many who send next to nothing: they keep nobody else from being answered, and are not waited for long.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use reqwest::{Client, StatusCode};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tessera_api::Limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::site::{Site, with_limits};

/// Connections of the slow, and the addresses that they come from.
const SLOW: usize = 5_000;
const ADDRESSES: usize = 39;

/// How many of the slow there can be: this process holds both ends of each. It asks for as many files as it may have.
fn slow_ones() -> usize {
    let wanted = 2 * SLOW + 500;
    let limits = getrlimit(Resource::Nofile);
    let most = limits.maximum.unwrap_or(u64::MAX).min(wanted as u64);
    if limits.current.is_some_and(|current| current < most) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limits.maximum });
    }
    let files = getrlimit(Resource::Nofile).current.map_or(wanted, |files| usize::try_from(files).unwrap());
    let some = SLOW.min(files.saturating_sub(500) / 2);
    if some < SLOW {
        eprintln!("the system allows {files} open files: {some} connections instead of {SLOW}");
    }
    some
}

async fn connect(to: SocketAddr, number: usize) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(format!("127.0.0.{}:0", 2 + number % ADDRESSES).parse().unwrap())?;
    socket.connect(to).await
}

/// Sends a byte of a head each second, until it is closed: after how long that was.
async fn trickle(stream: TcpStream) -> Duration {
    let began = Instant::now();
    let (mut reader, mut writer) = stream.into_split();
    let sent = async move {
        for byte in b"GET /api/stats HTTP/1.1\r\nHost: x\r\nX-Slow: and so on".iter().cycle() {
            if writer.write_all(&[*byte]).await.is_err() {
                break;
            }
            sleep(Duration::from_secs(1)).await;
        }
    };
    let mut answer = Vec::new();
    tokio::select! { () = sent => {}, _ = reader.read_to_end(&mut answer) => {} }
    assert!(!answer.starts_with(b"HTTP/1.1 2"), "nobody asked for anything");
    began.elapsed()
}

/// Asks as somebody who has just come does, on a connection of its own: the status.
async fn ask(site: &Site, key: &str) -> Result<StatusCode, String> {
    let client = Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    let asked = client.get(format!("http://{}/api/auth-check", site.address)).bearer_auth(key);
    asked.send().await.map(|answer| answer.status()).map_err(|error| format!("{error:?}"))
}

fn many(connections: usize, header_timeout: Duration) -> Limits {
    Limits { key_per_second: 100_000, address_per_second: 100_000, connections, header_timeout, ..Limits::default() }
}

#[test]
fn five_thousand_slow_connections_keep_nobody_from_being_answered_and_are_closed() {
    let patience = Duration::from_secs(7);
    let slow = slow_ones();
    with_limits(many(slow + 100, patience), |site| async move {
        let key = site.user("ada").await;
        let began = Instant::now();
        let mut trickles = JoinSet::new();
        for number in 0..slow {
            trickles.spawn(trickle(connect(site.address, number).await.unwrap()));
        }
        assert!(began.elapsed() < patience, "all of them are there at one time");
        let mut answered = 0;
        while trickles.try_join_next().is_none() {
            assert_eq!(ask(&site, &key).await, Ok(StatusCode::OK), "after {answered}");
            answered += 1;
        }
        assert!(answered > 20, "{answered} answers among {slow} connections");
        let ended = timeout(Duration::from_secs(30), trickles.join_all()).await.expect("they are closed");
        // Not because there was no place for them, but because their heads did not end.
        let first = ended.iter().min().unwrap();
        assert!(*first + Duration::from_millis(500) >= patience, "{first:?}");
        assert_eq!(ask(&site, &key).await, Ok(StatusCode::OK));
    });
}

#[test]
fn who_comes_while_all_places_are_taken_gets_that_of_one_who_does_nothing() {
    with_limits(many(1_000, Duration::from_mins(1)), |site| async move {
        let key = site.user("ada").await;
        let mut trickles = JoinSet::new();
        let some = slow_ones().min(2_000);
        for number in 0..some {
            trickles.spawn(trickle(connect(site.address, number).await.unwrap()));
        }
        // Those for whom there was no place were closed; the others stay, and a newcomer is not told from them at first.
        let mut refused = 0;
        while refused < some - 1_000 {
            refused += usize::from(timeout(Duration::from_secs(20), trickles.join_next()).await.unwrap().is_some());
        }
        sleep(Duration::from_millis(1_200)).await;
        let mut others = JoinSet::new();
        for round in 0..50 {
            assert_eq!(ask(&site, &key).await, Ok(StatusCode::OK), "in round {round}");
            // Those who were there come again.
            for number in 0..3 {
                let stream = connect(site.address, number).await.unwrap();
                others.spawn(trickle(stream));
            }
        }
    });
}

//! The address that a request comes from. Anybody can send a header with an address (`X-Forwarded-For`), so the server
//! reads this header only from trusted proxies. A proxy only reports the address that connected to it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use axum::extract::{ConnectInfo, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// A trusted proxy, or a network of proxies: `10.1.2.3` or `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proxy(IpNet);

/// A text that is not an address or a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an address or a network; use one such as 10.1.2.3 or 10.0.0.0/8")]
pub struct NoProxy(String);

impl FromStr for Proxy {
    type Err = NoProxy;

    fn from_str(text: &str) -> Result<Self, NoProxy> {
        let network = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map(Self).map_err(|_| NoProxy(text.to_owned()))
    }
}

impl Proxy {
    /// True if the address belongs to a trusted proxy.
    pub(crate) fn is_among(address: IpAddr, proxies: &[Self]) -> bool {
        proxies.iter().any(|proxy| proxy.0.contains(&address))
    }
}

/// The client's address: the address of the connection or, behind trusted proxies, the nearest address that is not a
/// trusted proxy.
pub(crate) fn of(request: &Request, proxies: &[Proxy]) -> Option<IpAddr> {
    let ConnectInfo(peer) = request.extensions().get::<ConnectInfo<SocketAddr>>()?;
    Some(nearest(peer.ip().to_canonical(), request.headers(), proxies))
}

/// Does the same for the head of a request without its body.
pub(crate) fn of_parts(parts: &Parts, proxies: &[Proxy]) -> Option<IpAddr> {
    let ConnectInfo(peer) = parts.extensions.get::<ConnectInfo<SocketAddr>>()?;
    Some(nearest(peer.ip().to_canonical(), &parts.headers, proxies))
}

fn nearest(peer: IpAddr, headers: &HeaderMap, proxies: &[Proxy]) -> IpAddr {
    let mut nearest = peer;
    // Proxies append: the last header, and in it the last address, was added last.
    for value in headers.get_all(FORWARDED_FOR).iter().collect::<Vec<_>>().into_iter().rev() {
        for hop in value.to_str().unwrap_or_default().rsplit(',') {
            if !Proxy::is_among(nearest, proxies) {
                return nearest;
            }
            let hop = hop.trim();
            let address = hop.parse::<IpAddr>().or_else(|_| hop.parse::<SocketAddr>().map(|socket| socket.ip()));
            let Ok(address) = address else { return nearest };
            nearest = address.to_canonical();
        }
    }
    nearest
}

/// What counts as one address. An IPv6 client owns 2^64 addresses, so all addresses of a network count as one.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_proxies_say_where_a_request_comes_from() {
        let proxies = ["10.0.0.0/8", "192.0.2.1", "fd00::/8"].map(|text| text.parse::<Proxy>().unwrap());
        for (peer, said, expected) in [
            // Only a proxy's header counts.
            ("198.51.100.9", &["203.0.113.7"][..], "198.51.100.9"),
            ("10.0.0.2", &[], "10.0.0.2"),
            ("10.0.0.2", &["203.0.113.7"], "203.0.113.7"),
            // A client's own claims come before the proxy's addition.
            ("10.0.0.2", &["1.2.3.4, 203.0.113.7"], "203.0.113.7"),
            ("10.0.0.2", &["1.2.3.4", "203.0.113.7"], "203.0.113.7"),
            ("10.0.0.2", &["1.2.3.4, 203.0.113.7, 192.0.2.1"], "203.0.113.7"),
            ("10.0.0.2", &["203.0.113.7, nonsense"], "10.0.0.2"),
            ("10.0.0.2", &["203.0.113.7:4711"], "203.0.113.7"),
            ("fd00::1", &["[2001:db8::7]:80"], "2001:db8::7"),
            ("10.0.0.2", &["10.0.0.3, 10.0.0.4"], "10.0.0.3"),
        ] {
            let mut headers = HeaderMap::new();
            for value in said {
                headers.append(FORWARDED_FOR, value.parse().unwrap());
            }
            assert_eq!(nearest(peer.parse().unwrap(), &headers, &proxies).to_string(), expected, "{peer} {said:?}");
        }
        assert!("somewhere".parse::<Proxy>().is_err());
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let one = |text: &str| network(text.parse().unwrap());
        assert_eq!(one("2001:db8:1:2::1"), one("2001:db8:1:2:ffff::9"));
        assert_ne!(one("2001:db8:1:2::1"), one("2001:db8:1:3::1"));
        assert_ne!(one("192.0.2.1"), one("192.0.2.2"));
    }
}

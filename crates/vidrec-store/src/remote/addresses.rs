//! Addresses of hosts, and which of them belong to networks that strangers cannot reach.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::redirect_policy::Refused;
use vidrec_format::random::Random;

/// Whether an address belongs to the public Internet, rather than to this machine, its network or its provider's
/// services.
///
/// The registries of special addresses are <https://www.iana.org/assignments/iana-ipv4-special-registry> and
/// <https://www.iana.org/assignments/iana-ipv6-special-registry>.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_4(address),
        IpAddr::V6(address) => inner(address).map_or_else(|| is_public_6(address), is_public_4),
    }
}

fn is_public_4(address: Ipv4Addr) -> bool {
    let is_special = match address.octets() {
        [0 | 10 | 127, ..] | [169, 254, ..] | [192, 168, ..] | [192, 0, 0, _] => true,
        [100, second, ..] => second & 0xc0 == 64,
        [172, second, ..] => second & 0xf0 == 16,
        [198, 18 | 19, ..] => true,
        [first, ..] => first >= 224,
    };
    !is_special
}

fn is_public_6(address: Ipv6Addr) -> bool {
    // Public addresses begin with the bits 001.
    address.segments()[0] & 0xe000 == 0x2000
}

/// The IPv4 address that an IPv6 address leads to: mapped, compatible, behind NAT64, or by 6to4.
fn inner(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

/// The address that a URL has as its host, if the host is not a name.
pub(super) fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether a host is on the public Internet. A name that does not resolve counts as public.
pub(super) async fn is_public_host(host: &str) -> bool {
    if let Some(address) = literal(host) {
        return is_public(address);
    }
    let found = lookup(host.to_owned()).await.unwrap_or_default();
    found.is_empty() || found.into_iter().any(is_public)
}

async fn lookup(host: String) -> std::io::Result<Vec<IpAddr>> {
    let found = tokio::task::spawn_blocking(move || {
        (host.as_str(), 0).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect())
    });
    found.await.map_err(std::io::Error::other)?
}

/// The names that must not lead to addresses of a private network.
pub(super) type Guarded = Arc<Mutex<HashSet<String>>>;

/// Asks the system for addresses, as object_store does by default: in any order, to spread the load over servers.
pub(super) struct Names {
    pub guarded: Guarded,
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let (host, guarded) = (name.as_str().to_owned(), self.guarded.clone());
        Box::pin(async move {
            let mut found = lookup(host.clone()).await?;
            // A guarded name resolves to all of its addresses or to none, because chance decides which of them is
            // tried.
            if guarded.lock().unwrap_or_else(PoisonError::into_inner).contains(&host) {
                found.iter().all(|&address| is_public(address)).then_some(()).ok_or(Refused::Private)?;
            }
            shuffle(&mut found);
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

fn shuffle(addresses: &mut [IpAddr]) {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.subsec_nanos());
    let mut random = Random::new(u64::from(clock), &[u64::from(std::process::id())]);
    for i in (1..addresses.len()).rev() {
        addresses.swap(i, random.below(i as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_private_networks_are_told_from_those_of_the_internet() {
        let private = [
            "127.0.0.1",
            "127.8.9.1",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "240.0.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "2002:a00:1::",
            "::127.0.0.1",
            "fec0::1",
        ];
        for text in private {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        let public = [
            "8.8.8.8",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "192.169.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::",
        ];
        for text in public {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        assert_eq!(literal("[::1]"), Some("::1".parse().unwrap()));
        assert_eq!((literal("127.0.0.1").is_some(), literal("host.example")), (true, None));
    }

    #[test]
    fn a_guarded_name_does_not_lead_to_this_machine() {
        crate::remote::runtime::handle().unwrap().block_on(async {
            let guarded = Guarded::default();
            let names = Names { guarded: guarded.clone() };
            let localhost = || "localhost".parse::<Name>().unwrap();
            assert!(names.resolve(localhost()).await.unwrap().count() > 0);
            assert!(!is_public_host("localhost").await && is_public_host("8.8.8.8").await);
            guarded.lock().unwrap().insert("localhost".to_owned());
            let e = names.resolve(localhost()).await.map(drop).unwrap_err();
            assert_eq!(e.downcast_ref::<Refused>(), Some(&Refused::Private));
        });
    }
}

//! Addresses of hosts, and which of them belong to networks that strangers cannot reach.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::redirect_policy::Refused;

/// Whether an address belongs to the public Internet, rather than to this machine, its network or its provider's
/// services.
///
/// The registries of special addresses are <https://www.iana.org/assignments/iana-ipv4-special-registry> and
/// <https://www.iana.org/assignments/iana-ipv6-special-registry>.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let octets = address.octets();
            let is_local = matches!(octets, [0 | 10 | 127 | 224.., ..] | [100, 64..128, ..] | [172, 16..32, ..]);
            !is_local && !matches!(octets, [169, 254, ..] | [192, 168, ..] | [192, 0, 0, _] | [198, 18 | 19, ..])
        }
        IpAddr::V6(address) => match address.segments() {
            // IPv4 addresses: mapped, compatible, behind NAT64, or by 6to4.
            [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
            | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
            | [0x2002, high, low, ..] => is_public(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)).into()),
            // Public addresses begin with the bits 001.
            [first, ..] => first & 0xe000 == 0x2000,
        },
    }
}

/// Whether the host of a URL is on the public Internet. A name that does not resolve counts as public.
pub(super) async fn is_public_host(url: &Url) -> bool {
    let found = tokio::net::lookup_host((host(url), 0)).await;
    found.map_or(true, |mut found| found.any(|address| is_public(address.ip())))
}

fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_matches(['[', ']'])
}

/// The most other hosts to which one server may redirect its clients.
const MOST_HOSTS: usize = 1000;

/// Asks the system for addresses, and keeps the names that must not lead to private ones. Those of proxies may.
#[derive(Debug, Default, Clone)]
pub(super) struct Names(Arc<Mutex<HashSet<String>>>);

impl Names {
    /// Refuses a private address, and guards a name against resolving to one.
    pub fn guard(&self, url: &Url) -> Result<(), Refused> {
        if host(url).parse().is_ok_and(|address| !is_public(address)) {
            return Err(Refused::PRIVATE);
        }
        let mut guarded = self.guarded();
        if guarded.len() >= MOST_HOSTS && !guarded.contains(host(url)) {
            return Err(Refused::TOO_MANY);
        }
        guarded.insert(host(url).to_owned());
        Ok(())
    }

    fn guarded(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let is_guarded = self.guarded().contains(name.as_str());
        Box::pin(async move {
            let mut found: Vec<_> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            // All addresses of a name are used or none, because chance decides which of them is tried.
            if is_guarded && !found.iter().all(|address| is_public(address.ip())) {
                return Err(Refused::PRIVATE.into());
            }
            // In any order, as object_store does by default, to spread the load over servers.
            let chance = RandomState::new();
            found.sort_by_cached_key(|address| chance.hash_one(address));
            Ok(Box::new(found.into_iter()) as Addrs)
        })
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
    }

    #[test]
    fn a_guarded_name_does_not_lead_to_this_machine() {
        crate::store::remote::pending::runtime().unwrap().block_on(async {
            let url = |host: &str| Url::parse(&format!("https://{host}/x")).unwrap();
            let names = Names::default();
            let localhost = || names.resolve("localhost".parse().unwrap());
            names.guard(&url("cdn.example")).unwrap();
            assert!(localhost().await.unwrap().count() > 0, "such as a proxy");
            names.guard(&url("localhost")).unwrap();
            let e = localhost().await.map(drop).unwrap_err();
            assert_eq!(e.downcast_ref::<Refused>(), Some(&Refused::PRIVATE));
            for (host, public) in [("localhost", false), ("8.8.8.8", true), ("[::1]", false), ("0x7f.1", false)] {
                assert_eq!(is_public_host(&url(host)).await, public, "{host}");
            }
            (2..MOST_HOSTS).for_each(|i| names.guard(&url(&format!("{i}.example"))).unwrap());
            assert_eq!(names.guard(&url("more.example")), Err(Refused::TOO_MANY));
            assert_eq!(names.guard(&url("cdn.example")), Ok(()), "one that is known");
        });
    }
}

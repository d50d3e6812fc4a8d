//! Which addresses may be connected to.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use super::Error;

/// Where connections may go, and how names become addresses.
#[derive(Clone, Debug)]
pub struct Network {
    /// Networks beside public addresses; none when every address is allowed.
    allowed: Option<Arc<[IpNet]>>,
    names: Arc<BTreeMap<String, IpAddr>>,
}

impl Network {
    /// Anywhere: in the tenant's own Pod, whose network is the tenant's, and on the command line.
    #[must_use]
    pub fn any() -> Self {
        Self {
            allowed: None,
            names: Arc::default(),
        }
    }

    /// Only public addresses, and the listed networks: in the manager, which can reach what a tenant must not.
    #[must_use]
    pub fn public_and(allowed: impl IntoIterator<Item = IpNet>) -> Self {
        Self {
            allowed: Some(allowed.into_iter().collect()),
            names: Arc::default(),
        }
    }

    /// The same with a name that is answered here and not by a resolver, as hosts(5) does. Its address is judged like
    /// another.
    #[must_use]
    pub fn with_name(mut self, name: &str, address: IpAddr) -> Self {
        Arc::make_mut(&mut self.names).insert(name.to_ascii_lowercase(), address);
        self
    }

    /// Whether a connection to this address may be opened.
    #[must_use]
    pub fn allows(&self, address: IpAddr) -> bool {
        let address = canonical(address);
        match &self.allowed {
            None => true,
            Some(allowed) => is_public(address) || allowed.iter().any(|net| net.contains(&address)),
        }
    }

    /// The addresses of a host, a name or an address, that may be connected to.
    ///
    /// # Errors
    /// [`Error::NameNotResolved`], or [`Error::AddressNotAllowed`] when none of them may be connected to.
    pub async fn addresses(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, Error> {
        let given = self.names.get(&host.to_ascii_lowercase()).copied();
        let found: Vec<SocketAddr> = match given.or_else(|| host.parse().ok()) {
            Some(address) => vec![SocketAddr::new(address, port)],
            None => tokio::net::lookup_host((host, port))
                .await
                .map_err(|_| Error::NameNotResolved {
                    host: host.to_owned(),
                })?
                .collect(),
        };
        let first = found
            .first()
            .ok_or_else(|| Error::NameNotResolved {
                host: host.to_owned(),
            })?
            .ip();
        let allowed: Vec<SocketAddr> = found.into_iter().filter(|a| self.allows(a.ip())).collect();
        if allowed.is_empty() {
            return Err(Error::AddressNotAllowed {
                host: host.to_owned(),
                address: first,
            });
        }
        Ok(allowed)
    }
}

/// An IPv4 address that is written as an IPv6 one is judged as what it is.
fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Whether an address is of the public internet: globally reachable by the special-purpose registries of IANA
/// (RFC 6890 and its updates), and unicast.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match canonical(address) {
        IpAddr::V4(v4) => public_v4(v4),
        IpAddr::V6(v6) => public_v6(v6),
    }
}

const SPECIAL_V4: [(Ipv4Addr, u8); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 52, 193, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, the reserved block behind it, and broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

fn public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4
        .iter()
        .any(|(net, length)| Ipv4Net::new_assert(*net, *length).contains(&address))
}

/// Inside the global unicast block 2000::/3.
const SPECIAL_V6: [(Ipv6Addr, u8); 4] = [
    // Protocol assignments, with Teredo and ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4 carries an IPv4 address of anybody's choice.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn public_v6(address: Ipv6Addr) -> bool {
    let nat64 = Ipv6Net::new_assert(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);
    if nat64.contains(&address) {
        // A NAT64 gateway connects to the IPv4 address in the last four bytes.
        let [.., a, b, c, d] = address.octets();
        return public_v4(Ipv4Addr::new(a, b, c, d));
    }
    Ipv6Net::new_assert(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3).contains(&address)
        && !SPECIAL_V6
            .iter()
            .any(|(net, length)| Ipv6Net::new_assert(*net, *length).contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_of_the_table_is_judged_as_it_says() {
        for line in include_str!("../../testdata/net/addresses.txt")
            .lines()
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
        {
            let (verdict, address) = line.split_once(' ').unwrap();
            let address: IpAddr = address.trim().parse().unwrap();
            assert_eq!(is_public(address), verdict == "public", "{line}");
            assert!(Network::any().allows(address));
        }
    }

    #[tokio::test]
    async fn listed_networks_are_allowed_and_the_refusal_names_host_and_address() {
        let network = Network::public_and(["127.0.0.0/30".parse().unwrap()]);
        for (host, allowed) in [
            ("127.0.0.1", true),
            ("::ffff:127.0.0.1", true),
            ("127.0.0.4", false),
            ("::1", false),
            ("93.184.216.34", true),
        ] {
            assert_eq!(network.addresses(host, 443).await.is_ok(), allowed, "{host}");
        }
        let none = Network::public_and([])
            .addresses("localhost", 443)
            .await
            .unwrap_err();
        assert_eq!(none.code(), "address_not_allowed");
        assert!(
            none.to_string().starts_with("host localhost has the address "),
            "{none}"
        );
        let missing = Network::any()
            .addresses("no-such-host.invalid", 443)
            .await
            .unwrap_err();
        assert_eq!(missing.code(), "name_not_resolved");
    }
}

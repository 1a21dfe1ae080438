//! Which proxy, if any: kubeconfig first, then the environment, with Go's meaning of `NO_PROXY`. Pure; reads no environment itself.
//!
//! kube 5.0 compares `NO_PROXY` with the proxy's own address and uses a proxy for loopback clusters (stack.md 0.4), hence our own decision.

use std::collections::BTreeMap;
use std::net::IpAddr;

use http::Uri;

/// A proxy and where it was named.
#[derive(Clone)]
pub(super) struct Proxy {
    pub(super) uri: Uri,
    /// `proxy-url` or the variable's name.
    pub(super) from: &'static str,
}

impl Proxy {
    /// Host and port only: the address may hold a password.
    pub(super) fn place(&self) -> String {
        self.uri.port().map_or_else(|| self.uri.host().unwrap_or("?").to_string(), |p| format!("{}:{p}", self.uri.host().unwrap_or("?")))
    }
}

/// The proxy of an explicit `proxy-url`: used always, also for loopback and in spite of `NO_PROXY`, as client-go does.
///
/// # Errors
/// What is allowed, where the address can't be used. The address itself is not repeated: it may hold a password.
pub(super) fn explicit(url: &str) -> Result<Proxy, &'static str> {
    parse(url.trim(), false).map(|uri| Proxy { uri, from: "proxy-url" }).ok_or(ALLOWED)
}

const ALLOWED: &str = "http://HOST:PORT, https://HOST:PORT, socks5://HOST:PORT or socks5h://HOST:PORT";

/// The proxy that the environment names for this server, if any.
///
/// # Errors
/// The variable's name and what is allowed, where its address can't be used.
pub(super) fn from_env(env: &BTreeMap<String, String>, server: &Uri) -> Result<Option<Proxy>, (&'static str, &'static str)> {
    let names: &[&'static str] = match server.scheme_str() {
        Some("https") => &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        _ => &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
    };
    let value = |name: &str| env.get(name).map(|v| v.trim()).filter(|v| !v.is_empty());
    let Some((from, url)) = names.iter().find_map(|n| value(n).map(|v| (*n, v))) else { return Ok(None) };
    let host = server.host().unwrap_or("");
    let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("https") { 443 } else { 80 });
    let no_proxy = value("NO_PROXY").or_else(|| value("no_proxy")).unwrap_or("");
    if is_direct(no_proxy, host, port) {
        return Ok(None);
    }
    parse(url, true).map(|uri| Some(Proxy { uri, from })).ok_or((from, ALLOWED))
}

/// The address with a scheme that kube knows. Its SOCKS connector lets the proxy resolve names, which is what `socks5h` asks for.
fn parse(url: &str, bare_is_http: bool) -> Option<Uri> {
    let url = match url.split_once("://") {
        Some((s, rest)) if s.eq_ignore_ascii_case("socks5h") => format!("socks5://{rest}"),
        Some((s, rest)) => format!("{}://{rest}", s.to_ascii_lowercase()),
        None if bare_is_http => format!("http://{url}"),
        None => return None,
    };
    let uri: Uri = url.parse().ok()?;
    let known = matches!(uri.scheme_str(), Some("http" | "https" | "socks5"));
    (known && uri.host().is_some_and(|h| !h.is_empty())).then_some(uri)
}

/// Whether a server is reached directly: loopback always, else what the `NO_PROXY` list says (rules of Go's `httpproxy`).
pub(super) fn is_direct(no_proxy: &str, host: &str, port: u16) -> bool {
    let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
    let ip = host.parse::<IpAddr>().ok().map(|ip| ip.to_canonical());
    if host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
        return true;
    }
    no_proxy.split(',').map(|e| e.trim().to_ascii_lowercase()).filter(|e| !e.is_empty()).any(|e| entry_matches(&e, &host, ip, port))
}

fn entry_matches(entry: &str, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some(net) = cidr(entry) {
        return ip.is_some_and(|ip| in_net(ip, net));
    }
    let (name, wanted) = split_port(entry);
    let port_fits = wanted.is_none_or(|w| w.parse() == Ok(port));
    if let Ok(other) = name.parse::<IpAddr>() {
        return port_fits && ip == Some(other.to_canonical());
    }
    // `.a.b` and `*.a.b` are for names below a.b only; `a.b` is for a.b and below.
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    if name.trim_start_matches('.').is_empty() {
        return false;
    }
    let fits = match name.strip_prefix('.') {
        Some(_) => host.ends_with(name),
        None => host == name || host.strip_suffix(name).is_some_and(|front| front.ends_with('.')),
    };
    port_fits && fits
}

/// `host:port`, `[v6]:port`, `[v6]` and plain addresses. A bare IPv6 address has many colons and no port.
fn split_port(entry: &str) -> (&str, Option<&str>) {
    if let Some(rest) = entry.strip_prefix('[') {
        return match rest.split_once(']') {
            Some((host, tail)) => (host, tail.strip_prefix(':')),
            None => (entry, None),
        };
    }
    match entry.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port).filter(|p| !p.is_empty())),
        _ => (entry, None),
    }
}

fn cidr(entry: &str) -> Option<(IpAddr, u32)> {
    let (ip, bits) = entry.split_once('/')?;
    let (ip, bits) = (ip.parse::<IpAddr>().ok()?, bits.parse::<u32>().ok()?);
    (bits <= if ip.is_ipv4() { 32 } else { 128 }).then_some((ip, bits))
}

fn in_net(ip: IpAddr, (net, bits): (IpAddr, u32)) -> bool {
    match (ip, net) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).checked_shr(32 - bits).unwrap_or(0) == 0,
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).checked_shr(128 - bits).unwrap_or(0) == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_means_what_it_means_in_go() {
        let table = [
            ("", "api.a.b", 443, false),
            ("", "localhost", 6443, true),
            ("", "127.0.0.9", 6443, true),
            ("", "[::1]", 6443, true),
            ("*", "api.a.b", 443, true),
            ("x, *", "api.a.b", 443, true),
            ("a.b", "a.b", 443, true),
            ("a.b", "api.a.b", 443, true),
            ("a.b", "xa.b", 443, false),
            (".a.b", "api.a.b", 443, true),
            (".a.b", "a.b", 443, false),
            ("*.a.b", "api.a.b", 443, true),
            ("*.a.b", "a.b", 443, false),
            ("A.B,", "API.a.B", 443, true),
            (",, a.b ,", "a.b", 443, true),
            ("a.b:6443", "a.b", 6443, true),
            ("a.b:6443", "a.b", 443, false),
            ("10.0.0.0/8", "10.9.8.7", 6443, true),
            ("10.0.0.0/8", "11.9.8.7", 6443, false),
            ("0.0.0.0/0", "11.9.8.7", 6443, true),
            ("10.0.0.0/33", "10.0.0.1", 6443, false),
            ("10.1.2.3", "10.1.2.3", 6443, true),
            ("10.1.2.3:6443", "10.1.2.3", 6443, true),
            ("10.1.2.3:443", "10.1.2.3", 6443, false),
            ("fd00::/8", "[fd12::1]", 6443, true),
            ("fd12::1", "[fd12::1]", 6443, true),
            ("[fd12::1]:6443", "[fd12::1]", 6443, true),
            ("::ffff:10.1.2.3", "10.1.2.3", 6443, true),
            ("10.0.0.0/8", "ten.example", 6443, false),
            (".", "a.b", 443, false),
            ("a.b.", "a.b", 443, false),
            ("a.b", "a.b.", 443, true),
            (":443", "a.b", 443, false),
        ];
        for (list, host, port, direct) in table {
            assert_eq!(is_direct(list, host, port), direct, "NO_PROXY={list:?} {host}:{port}");
        }
    }

    type Row<'a> = (&'a [(&'a str, &'a str)], &'a Uri, Option<(&'a str, &'a str)>);

    #[test]
    fn the_environment_is_read_by_the_servers_scheme() {
        let env = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect::<BTreeMap<_, _>>();
        let https: Uri = "https://api.a.b:6443".parse().unwrap();
        let http: Uri = "http://api.a.b:8080".parse().unwrap();
        let table: [Row<'_>; 9] = [
            (&[("HTTPS_PROXY", "http://p:1")], &https, Some(("HTTPS_PROXY", "p:1"))),
            (&[("HTTPS_PROXY", "http://p:1")], &http, None),
            (&[("http_proxy", "p:1")], &http, Some(("http_proxy", "p:1"))),
            (&[("https_proxy", "p:1"), ("ALL_PROXY", "socks5://s:2")], &https, Some(("https_proxy", "p:1"))),
            (&[("ALL_PROXY", "socks5h://u:secret@s:2")], &https, Some(("ALL_PROXY", "s:2"))),
            (&[("HTTPS_PROXY", ""), ("https_proxy", "http://q:1")], &https, Some(("https_proxy", "q:1"))),
            (&[("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", "a.b,")], &https, None),
            (&[("HTTPS_PROXY", "http://p:1"), ("no_proxy", "api.a.b:6443")], &https, None),
            (&[], &https, None),
        ];
        for (vars, server, want) in table {
            let got = from_env(&env(vars), server).ok().unwrap();
            assert_eq!(got.as_ref().map(|p| (p.from, p.place())), want.map(|(f, p)| (f, p.to_string())), "{vars:?}");
        }
        assert_eq!(from_env(&env(&[("HTTPS_PROXY", "ftp://p:1")]), &https).err().unwrap().0, "HTTPS_PROXY");
        assert!(explicit("p:1").is_err());
        assert_eq!(explicit("SOCKS5H://p:1").ok().unwrap().uri.scheme_str(), Some("socks5"));
    }
}

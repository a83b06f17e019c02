//! Which redirects are followed, as far as their URLs tell: the host and the scheme.

use std::fmt;

use reqwest::Url;

/// Why a redirect is not followed, and what the user can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused(&'static str, &'static str);

impl Refused {
    pub const TOO_MANY: Self = Refused("too many times", "check the location");
    pub const NO_URL: Self = Refused("to something that is not a web address", "check the location");
    pub const PLAIN: Self = Refused("to a location without TLS", "to read it without TLS, give its http:// location");
    pub const PRIVATE: Self =
        Refused("from a public host into a private network", "give the location of the data itself");

    pub fn help(self) -> &'static str {
        self.1
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server redirects {}", self.0)
    }
}

impl std::error::Error for Refused {}

/// The URL of a redirect from `here` to `to`, if a request for `location` may go there.
pub(super) fn next(location: &Url, here: &Url, to: &str) -> Result<Url, Refused> {
    let mut next = here.join(to).map_err(|_| Refused::NO_URL)?;
    match next.scheme() {
        "https" => {}
        "http" if here.scheme() == "http" && next.host_str() == location.host_str() => {}
        "http" => return Err(Refused::PLAIN),
        _ => return Err(Refused::NO_URL),
    }
    next.set_fragment(None);
    // A server that redirects its client has no name and password for the other host.
    let cleared = next.set_username("").and_then(|()| next.set_password(None));
    cleared.map(|()| next).map_err(|()| Refused::NO_URL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn clear_text_is_only_for_the_host_of_a_location_that_says_so() {
        let goes = |location: &str, here: &str, to: &str| next(&url(location), &url(here), to).map(String::from);
        let (tls, plain) = ("https://hub.example/a/b", "http://hub.example/a/b");
        for (location, here, to, expected) in [
            (tls, tls, "https://cdn.example/x?sig=1#part", Ok("https://cdn.example/x?sig=1")),
            (tls, tls, "../c", Ok("https://hub.example/c")),
            (tls, tls, "//cdn.example/x", Ok("https://cdn.example/x")),
            (tls, tls, "https://me:hunter2@cdn.example/x", Ok("https://cdn.example/x")),
            (tls, tls, "http://hub.example/a/b", Err(Refused::PLAIN)),
            (tls, tls, "http://cdn.example/x", Err(Refused::PLAIN)),
            (tls, "https://cdn.example/x", "http://hub.example/", Err(Refused::PLAIN)),
            (plain, plain, "http://hub.example:8080/c", Ok("http://hub.example:8080/c")),
            (plain, plain, "/c", Ok("http://hub.example/c")),
            (plain, plain, "https://cdn.example/x", Ok("https://cdn.example/x")),
            (plain, plain, "http://cdn.example/x", Err(Refused::PLAIN)),
            (plain, "https://hub.example/a/b", "http://hub.example/c", Err(Refused::PLAIN)),
            (tls, tls, "file:///etc/passwd", Err(Refused::NO_URL)),
            (tls, tls, "http://", Err(Refused::NO_URL)),
            (tls, tls, "ftp://hub.example/x", Err(Refused::NO_URL)),
        ] {
            assert_eq!(goes(location, here, to), expected.map(str::to_owned), "{location} {here} {to}");
        }
    }
}

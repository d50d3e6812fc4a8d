//! `postgres://user:password@host:port/database?parameter=value`, parsed by hand so that each part is decoded
//! exactly once and no library can print it.

use percent_encoding::percent_decode_str;

use super::{RootCertificates, Secret, Target, malformed};
use crate::error::{Code, Error, Result};

pub(super) fn parse(text: &str) -> Result<Target> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(malformed(
            "the database URL is malformed: it has no scheme such as postgres://",
        ));
    };
    if scheme.is_empty()
        || !scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    {
        return Err(malformed("the database URL is malformed: its scheme is none"));
    }
    match scheme.to_ascii_lowercase().as_str() {
        "postgres" | "postgresql" => {}
        _ => {
            return Err(Error::new(
                Code::UnsupportedEngine,
                "this build plans PostgreSQL databases only",
            ));
        }
    }
    if rest.contains('#') {
        return Err(malformed(
            "the database URL is malformed: write # in a password as %23",
        ));
    }
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (userinfo, address) = match authority.split_once('@') {
        Some((_, address)) if address.contains('@') => {
            return Err(malformed(
                "the database URL is malformed: write @ in a password as %40",
            ));
        }
        Some((userinfo, address)) => (userinfo, address),
        None => ("", authority),
    };
    let (user, password) = match userinfo.split_once(':') {
        Some((user, password)) => (decode(user)?, Some(Secret::new(decode(password)?))),
        None => (decode(userinfo)?, None),
    };
    if address.contains(',') {
        return Err(malformed("the database URL names several hosts; name one"));
    }
    let (host, port_text) = split_port(address)?;
    let mut target = Target::bare(decode(host)?, 5432, user, password, decode(database)?);
    if let Some(text) = port_text {
        target.port = port(text)?;
    }
    parameters(&mut target, query)?;
    if target.database.is_empty() {
        target.database.clone_from(&target.user);
    }
    Ok(target)
}

fn split_port(address: &str) -> Result<(&str, Option<&str>)> {
    if let Some(rest) = address.strip_prefix('[') {
        let (host, after) = rest
            .split_once(']')
            .ok_or_else(|| malformed("the database URL is malformed: [ without ]"))?;
        return match after.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if after.is_empty() => Ok((host, None)),
            None => Err(malformed("the database URL is malformed after ]")),
        };
    }
    match address.split_once(':') {
        Some((_, port)) if port.contains(':') => Err(malformed(
            "the database URL is malformed: write an IPv6 address in brackets",
        )),
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((address, None)),
    }
}

pub(super) fn port(text: &str) -> Result<u16> {
    // The text is not repeated: with an unescaped password it may be a piece of it.
    match text.parse() {
        Ok(0) | Err(_) => Err(malformed("the port is not a number from 1 to 65535")),
        Ok(port) => Ok(port),
    }
}

fn parameters(target: &mut Target, query: &str) -> Result<()> {
    let mut seen: Vec<String> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| malformed("a parameter of the URL has no value"))?;
        let (name, value) = (decode(name)?, decode(value)?);
        if seen.contains(&name) {
            return Err(malformed(format!(
                "the database URL repeats a parameter ({})",
                known(&name)
            )));
        }
        match name.as_str() {
            "sslmode" => {
                target.ssl_mode = value.parse()?;
                target.ssl_mode_given = true;
            }
            "sslrootcert" if value == "system" => target.roots = RootCertificates::System,
            "sslrootcert" => target.roots = RootCertificates::File(value.into()),
            "search_path" if !value.is_empty() && !value.contains([',', '"']) => target.schema = Some(value),
            "search_path" => return Err(malformed("search_path of the URL must name one schema, unquoted")),
            "host" if target.host.is_empty() && value.starts_with('/') => target.host = value,
            "application_name" | "connect_timeout" => {}
            _ => {
                return Err(malformed(
                    "the database URL has a parameter other than sslmode, sslrootcert, search_path, host (a socket \
                     folder), application_name and connect_timeout",
                ));
            }
        }
        seen.push(name);
    }
    Ok(())
}

/// Only names that we know are repeated: an unescaped `?` in a password makes the rest of it a parameter.
fn known(name: &str) -> &str {
    match name {
        "sslmode" | "sslrootcert" | "search_path" | "host" | "application_name" | "connect_timeout" => name,
        _ => "unknown",
    }
}

fn decode(text: &str) -> Result<String> {
    let bytes = text.as_bytes();
    for (at, _) in bytes.iter().enumerate().filter(|(_, b)| **b == b'%') {
        if !bytes
            .get(at + 1..at + 3)
            .is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
        {
            return Err(malformed(
                "the database URL is malformed: write % in a password as %25",
            ));
        }
    }
    percent_decode_str(text)
        .decode_utf8()
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| malformed("the database URL is malformed: an escape is not UTF-8"))
}

//! What a registry asks for: the header `WWW-Authenticate` (RFC 9110, section 11.6.1), as far as registries use it.

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// How to prove who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// With user and password.
    Basic,
    /// With a token from a realm.
    Bearer {
        /// The realm's URL, as the registry wrote it.
        realm: String,
        /// For which service, where the registry says.
        service: Option<String>,
    },
}

/// The best challenge among those of an answer: a token, since that shows the password to fewer; else a password.
pub(super) fn of(headers: &HeaderMap) -> Option<Challenge> {
    let values = headers.get_all(WWW_AUTHENTICATE).iter();
    let mut basic = None;
    for challenge in values.filter_map(|value| value.to_str().ok()).flat_map(read) {
        match challenge {
            bearer @ Challenge::Bearer { .. } => return Some(bearer),
            Challenge::Basic => basic = Some(Challenge::Basic),
        }
    }
    basic
}

/// Every challenge of one header that is known here; a header may hold several, separated as its parameters are.
fn read(text: &str) -> Vec<Challenge> {
    let mut found = Vec::new();
    let mut scheme: Option<(String, Parameters)> = None;
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            break;
        }
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let value = after.trim_start_matches([' ', '\t']).strip_prefix('=');
        match (value, &mut scheme) {
            (Some(value), Some((_, parameters))) => {
                let Some((value, after)) = parameter(value.trim_start_matches([' ', '\t'])) else {
                    break;
                };
                parameters.take(word, value);
                rest = after;
            }
            // A parameter of no scheme.
            (Some(_), None) => break,
            (None, _) => {
                found.extend(scheme.take().and_then(challenge));
                scheme = Some((word.to_ascii_lowercase(), Parameters::default()));
                rest = after;
            }
        }
    }
    found.extend(scheme.and_then(challenge));
    found
}

#[derive(Default)]
struct Parameters {
    realm: Option<String>,
    service: Option<String>,
    /// A parameter twice: nobody can say which counts.
    twice: bool,
}

impl Parameters {
    fn take(&mut self, name: &str, value: String) {
        let place = match name.to_ascii_lowercase().as_str() {
            "realm" => &mut self.realm,
            "service" => &mut self.service,
            _ => return,
        };
        self.twice |= place.replace(value).is_some();
    }
}

fn challenge((scheme, parameters): (String, Parameters)) -> Option<Challenge> {
    match scheme.as_str() {
        "basic" => Some(Challenge::Basic),
        "bearer" if !parameters.twice => Some(Challenge::Bearer {
            realm: parameters.realm?,
            service: parameters.service.filter(|service| !service.is_empty()),
        }),
        _ => None,
    }
}

/// A token or a quoted string, and what follows it.
fn parameter(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        return Some((text[..end].to_owned(), &text[end..]));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            _ => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn every_challenge_of_the_table_is_read_as_the_table_says() {
        let mut count = 0;
        for line in include_str!("../../testdata/oci/challenges.txt").lines() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (headers, expected) = line.split_once(" => ").unwrap();
            let mut map = HeaderMap::new();
            for header in headers.split(" ;; ") {
                map.append(WWW_AUTHENTICATE, HeaderValue::from_str(header).unwrap());
            }
            let found = match of(&map) {
                None => "none".to_owned(),
                Some(Challenge::Basic) => "basic".to_owned(),
                Some(Challenge::Bearer { realm, service }) => {
                    format!("bearer {realm} {}", service.unwrap_or_else(|| "-".to_owned()))
                }
            };
            assert_eq!(found, expected, "{line}");
            count += 1;
        }
        assert!(count > 20, "{count}");
    }

    proptest! {
        #[test]
        fn no_header_makes_the_reader_panic(text in "[ -~]{0,120}") {
            let _ = read(&text);
        }

        #[test]
        fn a_written_challenge_is_read_back(realm in "[ -~&&[^\"\\\\]]{1,60}", service in "[ -~&&[^\"\\\\]]{1,40}") {
            let text = format!("Bearer realm=\"{realm}\",service=\"{service}\",scope=\"a,b\"");
            prop_assert_eq!(read(&text), vec![Challenge::Bearer { realm, service: Some(service) }]);
        }
    }
}

//! The header `Link` (RFC 8288), as far as it leads from one page of a list to the next.

use reqwest::header::{HeaderMap, LINK};
use url::Url;

/// The next page: the target of the link whose relation is `next`.
pub(super) fn next(url: &Url, headers: &HeaderMap) -> Option<Url> {
    let links = headers
        .get_all(LINK)
        .iter()
        .filter_map(|value| value.to_str().ok());
    links.flat_map(|value| value.split(',')).find_map(|link| {
        let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| {
            let parameter = parameter.trim().replace(['"', ' '], "");
            parameter.eq_ignore_ascii_case("rel=next")
        });
        is_next.then(|| url.join(target).ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::header::HeaderValue;

    use super::*;

    fn found(link: &str) -> Option<String> {
        let url: Url = "https://registry.example/v2/app/referrers/x".parse().unwrap();
        let mut headers = HeaderMap::new();
        headers.append(LINK, HeaderValue::from_str(link).ok()?);
        next(&url, &headers).map(|url| url.to_string())
    }

    #[test]
    fn the_next_page_is_the_link_that_says_so() {
        for (link, expected) in [
            (
                "</v2/app/referrers/x?n=2>; rel=\"next\"",
                Some("https://registry.example/v2/app/referrers/x?n=2"),
            ),
            (
                "<?n=2>; rel=next",
                Some("https://registry.example/v2/app/referrers/x?n=2"),
            ),
            (
                "<?n=2>;  title=x ; REL = \"NEXT\"",
                Some("https://registry.example/v2/app/referrers/x?n=2"),
            ),
            (
                "<?n=0>; rel=prev, <?n=2>; rel=next",
                Some("https://registry.example/v2/app/referrers/x?n=2"),
            ),
            (
                "<https://elsewhere.example/>; rel=next",
                Some("https://elsewhere.example/"),
            ),
            ("<?n=0>; rel=prev", None),
            ("<?n=2>", None),
            ("?n=2; rel=next", None),
            ("", None),
        ] {
            assert_eq!(found(link).as_deref(), expected, "{link}");
        }
    }

    proptest! {
        #[test]
        fn no_link_makes_the_reader_panic(link in "[ -~]{0,60}") {
            let _ = found(&link);
        }
    }
}

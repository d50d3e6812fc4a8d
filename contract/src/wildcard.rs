//! Patterns in which `*` stands for any run of characters.

/// Whether the whole text is what the pattern means. From left to right, each part at the first place where it fits: no
/// pattern costs more than its length times the text's.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    // `split` gives at least one part.
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As the definition says it.
    fn by_trying(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], text) => text.is_empty(),
            ([b'*', rest @ ..], text) => (0..=text.len()).any(|skipped| by_trying(rest, &text[skipped..])),
            ([first, rest @ ..], [begin, after @ ..]) => first == begin && by_trying(rest, after),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn a_star_is_any_run_of_characters(pattern in "[ab*]{0,8}", text in "[ab]{0,8}") {
            prop_assert_eq!(matches(&pattern, &text), by_trying(pattern.as_bytes(), text.as_bytes()));
        }
    }
}

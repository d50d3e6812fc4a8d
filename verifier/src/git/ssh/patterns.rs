//! Pattern lists (ssh_config(5), PATTERNS): `*`, `?`, commas, and `!` before what must not match.

/// A list of at least one pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patterns(String);

impl Patterns {
    /// An empty pattern would match the empty string alone, and is a slip.
    pub(super) fn read(text: &str) -> Option<Self> {
        let blank = |pattern: &str| pattern.strip_prefix('!').unwrap_or(pattern).is_empty();
        (!text.split(',').any(blank)).then(|| Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a pattern matches and none with a `!` does, by `match_pattern_list` of OpenSSH; case counts.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        let mut matched = false;
        for pattern in self.0.split(',') {
            match pattern.strip_prefix('!') {
                Some(pattern) if matches(pattern.as_bytes(), text) => return false,
                Some(_) => {}
                None => matched |= matches(pattern.as_bytes(), text),
            }
        }
        matched
    }
}

/// In time of the product of the lengths: after a mismatch only the last `*` is tried again.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, t) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_ssh_config_says() {
        for (list, text, expected) in [
            ("a@b", "a@b", true),
            ("a@b", "A@b", false),
            ("*@b", "a@b", true),
            ("*@b", "a@b.c", false),
            ("*", "", true),
            ("?", "", false),
            ("a*b*c", "aXbXbc", true),
            ("a*b*c", "aXbXb", false),
            ("??@b,c", "c", true),
            ("*@b,!a@b", "a@b", false),
            ("!a@b,*@b", "a@b", false),
            ("*@b,!a@b", "c@b", true),
            ("!a@b", "c@b", false),
            ("a***b", "ab", true),
        ] {
            let patterns = Patterns::read(list).unwrap();
            assert_eq!(patterns.matches(text.as_bytes()), expected, "{list} {text}");
        }
    }

    #[test]
    fn a_list_with_an_empty_pattern_is_none() {
        for list in ["", ",", "a,", ",a", "a,,b", "!", "a,!"] {
            assert_eq!(Patterns::read(list), None, "{list}");
        }
    }
}

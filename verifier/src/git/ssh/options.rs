//! The options of a line of `allowed_signers`, by `sshsigopt_parse` of OpenSSH.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::patterns::Patterns;

/// What restricts a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) namespaces: Option<Patterns>,
    /// Seconds since 1970, themselves included.
    pub(super) valid_after: Option<i64>,
    /// Seconds since 1970, themselves included.
    pub(super) valid_before: Option<i64>,
}

/// Why options are not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    Malformed(String),
    NotSupported(&'static str),
}

impl Options {
    /// Reads options with commas between them.
    pub(super) fn read(text: &str) -> Result<Self, Problem> {
        let malformed = |problem: String| Err(Problem::Malformed(problem));
        let (mut options, mut rest) = (Self::default(), text);
        loop {
            let end = rest.find(['=', ',']).unwrap_or(rest.len());
            let name = rest[..end].to_ascii_lowercase();
            rest = &rest[end..];
            if name == "cert-authority" {
                return Err(Problem::NotSupported("cert-authority"));
            }
            if !matches!(name.as_str(), "namespaces" | "valid-after" | "valid-before") {
                let name: String = name.chars().take(64).collect();
                return malformed(format!("the option {name:?} is unknown"));
            }
            let (value, after) = quoted(rest).ok_or_else(|| no_value(&name))?;
            rest = after;
            let again = match name.as_str() {
                "namespaces" => {
                    let list = Patterns::read(&value);
                    let list =
                        list.ok_or_else(|| Problem::Malformed("namespaces has an empty pattern".to_owned()))?;
                    options.namespaces.replace(list).is_some()
                }
                "valid-after" => options
                    .valid_after
                    .replace(time(&value).ok_or_else(|| no_time(&name))?)
                    .is_some(),
                _ => options
                    .valid_before
                    .replace(time(&value).ok_or_else(|| no_time(&name))?)
                    .is_some(),
            };
            if again {
                return malformed(format!("{name} is there twice"));
            }
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None if rest.is_empty() => break,
                None => return malformed("something follows an option's closing quote".to_owned()),
            }
        }
        match (options.valid_after, options.valid_before) {
            (Some(after), Some(before)) if before <= after => {
                malformed("valid-before is not after valid-after".to_owned())
            }
            _ => Ok(options),
        }
    }
}

fn no_value(name: &str) -> Problem {
    Problem::Malformed(format!("{name} has no value in double quotes"))
}

fn no_time(name: &str) -> Problem {
    Problem::Malformed(format!("{name} is no time of the form YYYYMMDD[HHMM[SS]][Z]"))
}

/// `="value"`, in which `\"` is a quote.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut rest) = (String::new(), text.strip_prefix("=\"")?);
    loop {
        let at = rest.find(['"', '\\'])?;
        value.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if rest[at..].starts_with('"') {
            return Some((value, after));
        }
        rest = match after.strip_prefix('"') {
            Some(after) => {
                value.push('"');
                after
            }
            None => {
                value.push('\\');
                after
            }
        };
    }
}

/// `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, with or without a `Z`.
///
/// Without it ssh-keygen takes the time zone of its machine; here it is UTC, which is that of every machine in a cluster.
fn time(text: &str) -> Option<i64> {
    let digits = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, to: usize| {
        digits
            .get(from..to)
            .map_or(Some(0), |part| part.parse::<i8>().ok())
    };
    let year = digits[..4].parse().ok()?;
    let time = DateTime::new(
        year,
        number(4, 6)?,
        number(6, 8)?,
        number(8, 10)?,
        number(10, 12)?,
        number(12, 14)?,
        0,
    );
    let zoned = time.ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_second()).filter(|seconds| *seconds > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_ssh_keygen_reads_them_in_utc() {
        for (text, expected) in [
            ("20200101", Some(1_577_836_800)),
            ("20200101Z", Some(1_577_836_800)),
            ("202001010001", Some(1_577_836_860)),
            ("20200101000001Z", Some(1_577_836_801)),
            ("2020010100", None),
            ("20201301", None),
            ("20200230", None),
            ("19700101", None),
            ("+0200101", None),
            ("Z", None),
            ("", None),
        ] {
            assert_eq!(time(text), expected, "{text}");
        }
    }
}

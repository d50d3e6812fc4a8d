//! `sha256:<64 lower-case hex digits>`, the one form of a digest in this project.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, written `sha256:<hex>` (OCI image specification, "Digests").
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Text that is not a digest.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a digest of the form sha256:<64 lower-case hex digits>")]
pub struct InvalidDigest;

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads to the end and returns the digest with the number of bytes read; holds one buffer, never the input.
    ///
    /// # Errors
    /// Whatever the reader returns.
    pub fn of_reader(mut reader: impl Read) -> io::Result<(Self, u64)> {
        let mut hasher = Sha256::new();
        let size = io::copy(&mut reader, &mut hasher)?;
        Ok((Self(hasher.finalize().into()), size))
    }

    /// The 32 bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; 32] {
        self.0
    }

    /// The 64 hex digits without the algorithm's name.
    #[must_use]
    pub fn hex(&self) -> String {
        hex::encode(self.0)
    }
}

impl From<[u8; 32]> for Digest {
    /// The digest that a hasher gave, for whoever hashes as the bytes pass.
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let digits = text.strip_prefix("sha256:").ok_or(InvalidDigest)?;
        if digits.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(InvalidDigest);
        }
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| InvalidDigest)?;
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_form_parses() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), empty);
        assert_eq!(empty.parse(), Ok(Digest::of(b"")));
        for wrong in [
            "",
            &empty[7..],
            &empty.to_uppercase(),
            &empty.replace("e3b0", "E3B0"),
            &format!("{empty}0"),
            &empty[..70],
            &empty.replace("sha256", "sha512"),
        ] {
            assert_eq!(wrong.parse::<Digest>(), Err(InvalidDigest), "{wrong}");
        }
    }

    #[test]
    fn a_reader_gives_the_same_digest_as_its_bytes() {
        let bytes = vec![7; 100_000];
        assert_eq!(
            Digest::of_reader(bytes.as_slice()).unwrap(),
            (Digest::of(&bytes), 100_000)
        );
    }
}

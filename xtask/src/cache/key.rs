//! The hash of what something was made from.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// Collects what goes into a thing; two keys are equal when everything that went in was.
#[derive(Debug, Clone)]
pub struct Key {
    hash: Sha256,
}

impl Key {
    /// A key that begins with `text`, usually the version of the way the thing is made.
    pub fn new(text: &str) -> Self {
        Self { hash: Sha256::new() }.text(text)
    }

    /// Adds a text.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.part(text.as_bytes());
        self
    }

    /// Adds a file's content.
    pub fn file(mut self, path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        self.part(&bytes);
        Ok(self)
    }

    /// The first 16 hexadecimal digits: enough to tell entries apart, short enough for a path.
    pub fn short(&self) -> String {
        let mut text = hex::encode(self.hash.clone().finalize());
        text.truncate(16);
        text
    }

    // The length stands before each part, so that moving a byte from one part to the next is a change.
    fn part(&mut self, bytes: &[u8]) {
        self.hash.update((bytes.len() as u64).to_be_bytes());
        self.hash.update(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_moves_between_parts_is_a_change() {
        assert_ne!(Key::new("ab").text("c").short(), Key::new("a").text("bc").short());
        assert_eq!(Key::new("ab").text("c").short(), Key::new("ab").text("c").short());
    }
}

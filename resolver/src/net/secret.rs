//! Text that must not be shown.

use std::fmt;

/// A secret: no `Display`, a `Debug` that shows nothing of it, and a name for the one place that may read it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T = String>(T);

impl<T> Secret<T> {
    /// Takes it.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The secret itself: for the wire, never for a message.
    pub fn reveal(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

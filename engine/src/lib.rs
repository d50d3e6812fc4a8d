//! See docs/development.md.

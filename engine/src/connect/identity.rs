//! The identity of a database as it is reached: what a plan binds, without anything secret.

use ptah_contract::canonical;
use ptah_contract::digest::Digest;
use serde_json::json;

use super::{RootCertificates, Target};

impl Target {
    /// SHA-256 over everything of the connection that decides which database is reached, as whom, and how safely.
    ///
    /// Passwords and time-outs are no part of it, so that they can be rotated; neither are the bytes of certificates.
    #[must_use]
    pub fn identity_digest(&self) -> Digest {
        let identity = json!({
            "engine": "postgresql",
            // DNS names have no case (RFC 4343); a trailing dot is significant.
            "host": self.host.to_ascii_lowercase(),
            "port": self.port,
            "user": self.user,
            "database": self.database,
            "schema": self.schema,
            "sslmode": format!("{:?}", self.ssl_mode),
            "ownRoots": self.roots != RootCertificates::Unset,
        });
        Digest::of(&canonical::to_bytes(&identity).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn a_rotated_password_is_the_same_database_and_anything_else_is_another() {
        let digest = |url: &str| Target::from_url(url).unwrap().identity_digest();
        let base = digest("postgres://app:one@db.example:5432/shop?sslmode=require");
        assert_eq!(base, digest("postgres://app:two@DB.example/shop?sslmode=require"));
        for other in [
            "postgres://app:one@db.example.:5432/shop?sslmode=require",
            "postgres://app:one@db.example:5433/shop?sslmode=require",
            "postgres://owner:one@db.example:5432/shop?sslmode=require",
            "postgres://app:one@db.example:5432/shop2?sslmode=require",
            "postgres://app:one@db.example:5432/shop?sslmode=disable",
        ] {
            assert_ne!(base, digest(other), "{other}");
        }
    }
}

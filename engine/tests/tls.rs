//! `sslmode` as libpq means it, against a server with a certificate of a private authority for another name.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::time::Duration;

use ptah_contract::policy::SchemaPolicy;
use ptah_engine::{Deadline, Scope, Target, observe};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use support::{PASSWORD, server};

/// Writes `ca.pem`, `server.pem` and `server.key`; the server's certificate is for `db.example` alone.
fn certificates(folder: &Path) {
    let mut authority = CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let root = authority.self_signed(&key).unwrap();
    let issuer = Issuer::new(authority, key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["db.example".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    std::fs::write(folder.join("ca.pem"), root.pem()).unwrap();
    std::fs::write(folder.join("server.pem"), leaf.pem()).unwrap();
    std::fs::write(folder.join("server.key"), key.serialize_pem()).unwrap();
    let other = CertificateParams::new(vec!["other".to_owned()]).unwrap();
    std::fs::write(
        folder.join("other.pem"),
        other.self_signed(&KeyPair::generate().unwrap()).unwrap().pem(),
    )
    .unwrap();
    std::fs::set_permissions(folder.join("server.key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    if rustix_is_root() {
        chown(folder.join("server.key"), Some(65_534), Some(65_534)).unwrap();
    }
}

fn rustix_is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0)
}

#[tokio::test]
async fn each_sslmode_trusts_exactly_whom_libpq_would() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let database = server().database().await;
    let root = server().client("root_of_tests", "postgres").await;
    let at = |name: &str| folder.path().join(name).display().to_string();
    for setting in [
        format!("ALTER SYSTEM SET ssl_cert_file = '{}'", at("server.pem")),
        format!("ALTER SYSTEM SET ssl_key_file = '{}'", at("server.key")),
        "ALTER SYSTEM SET ssl = on".to_owned(),
        "SELECT pg_reload_conf()".to_owned(),
    ] {
        root.batch_execute(&setting).await.unwrap();
    }
    let (ca, other) = (at("ca.pem"), at("other.pem"));
    let read = async |mode: &str, roots: Option<&str>| {
        let roots = roots
            .map(|file| format!("&sslrootcert={file}"))
            .unwrap_or_default();
        let url = database
            .url()
            .replace("sslmode=disable", &format!("sslmode={mode}{roots}"));
        let target = Target::from_url(&url).unwrap();
        let deadline = Deadline::after(Duration::from_secs(60));
        match observe(
            &target,
            &Scope::new(&target, []),
            &SchemaPolicy::default(),
            &deadline,
        )
        .await
        {
            Ok(_) => "ok",
            Err(error) => {
                assert!(!format!("{error:?}").contains(PASSWORD));
                error.code()
            }
        }
    };
    let mut patience = 100;
    while read("require", None).await != "ok" && patience > 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        patience -= 1;
    }
    for (mode, roots, expected) in [
        ("disable", None, "ok"),
        ("prefer", None, "ok"),
        ("require", None, "ok"),
        ("require", Some(ca.as_str()), "ok"),
        ("require", Some(other.as_str()), "certificate_not_trusted"),
        ("verify-ca", Some(ca.as_str()), "ok"),
        ("verify-ca", Some(other.as_str()), "certificate_not_trusted"),
        ("verify-ca", None, "certificate_not_trusted"),
        // The certificate is for another name than the address.
        ("verify-full", Some(ca.as_str()), "certificate_not_trusted"),
        ("verify-full", Some("/no/such/file"), "tls_failed"),
    ] {
        assert_eq!(read(mode, roots).await, expected, "{mode} {roots:?}");
    }
}

//! The node's certificates: one authority, made anew with every node, and what it signed.

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SanType,
};

use super::paths::{ADDRESS, API_SERVICE, NODE_NAME};

/// A client or server of the node: its file name, its user name, its group, and its other names.
struct Subject {
    file: &'static str,
    common_name: &'static str,
    organization: Option<&'static str>,
    names: &'static [&'static str],
}

const SUBJECTS: &[Subject] = &[
    Subject {
        file: "apiserver",
        common_name: "kube-apiserver",
        organization: None,
        names: &[
            "localhost",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "127.0.0.1",
            ADDRESS,
            API_SERVICE,
        ],
    },
    Subject {
        file: "admin",
        common_name: "admin",
        organization: Some("system:masters"),
        names: &[],
    },
    Subject {
        file: "controller-manager",
        common_name: "system:kube-controller-manager",
        organization: None,
        names: &[],
    },
    Subject {
        file: "scheduler",
        common_name: "system:kube-scheduler",
        organization: None,
        names: &[],
    },
    Subject {
        file: "kubelet",
        common_name: "system:node:node1",
        organization: Some("system:nodes"),
        names: &[NODE_NAME, ADDRESS],
    },
    Subject {
        file: "proxy",
        common_name: "system:kube-proxy",
        organization: None,
        names: &[],
    },
];

/// Makes `ca.crt`, a `.crt` and a `.key` for every client and server, and the key of service account tokens
/// (`sa.key`, `sa.pub`), in `folder`.
pub fn make(folder: &Path) -> Result<()> {
    let mut authority = CertificateParams::default();
    authority.distinguished_name.push(DnType::CommonName, "ptah-node");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::CrlSign,
    ];
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
    write(&folder.join("ca.crt"), &authority.pem())?;
    write(&folder.join("ca.key"), &authority.key().serialize_pem())?;
    for subject in SUBJECTS {
        let key = KeyPair::generate()?;
        let certificate = params(subject)?.signed_by(&key, &authority)?;
        write(&folder.join(format!("{}.crt", subject.file)), &certificate.pem())?;
        write(
            &folder.join(format!("{}.key", subject.file)),
            &key.serialize_pem(),
        )?;
    }
    let tokens = KeyPair::generate()?;
    write(&folder.join("sa.key"), &tokens.serialize_pem())?;
    write(&folder.join("sa.pub"), &tokens.public_key_pem())
}

fn params(subject: &Subject) -> Result<CertificateParams> {
    let mut params = CertificateParams::default();
    params
        .distinguished_name
        .push(DnType::CommonName, subject.common_name);
    if let Some(organization) = subject.organization {
        params
            .distinguished_name
            .push(DnType::OrganizationName, organization);
    }
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    for name in subject.names {
        params.subject_alt_names.push(match name.parse::<IpAddr>() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName((*name).try_into()?),
        });
    }
    Ok(params)
}

fn write(path: &Path, text: &str) -> Result<()> {
    use std::io::Write as _;
    fs::File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}

//! Archives, and what they unpack to.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use flate2::write::GzEncoder;
use ptah_contract::digest::Digest;
use ptah_contract::manifest::Manifest;
use tar::Header;

use crate::archive::{Compression, Error, unpack};
use crate::content::{Content, Limits};
use crate::paths::stays_below;
use crate::{bounded, folder};

const MAX_FILES: u64 = 64;
const MAX_BYTES: u64 = 64 << 10;
const BLOCK: usize = 512;

fn unpacked(bytes: &[u8], compression: Compression, digest: Option<Digest>) -> Result<Manifest, Error> {
    below(bytes, compression, digest, None)
}

fn below(
    bytes: &[u8],
    compression: Compression,
    digest: Option<Digest>,
    out: Option<&std::path::Path>,
) -> Result<Manifest, Error> {
    let limits = Limits::default()
        .max_files(Some(MAX_FILES), "the target")
        .max_bytes(Some(MAX_BYTES), "the target");
    let content = Content::new(limits, out)?;
    unpack(bytes, compression, None, digest, &content)?;
    Ok(content.finish(None)?)
}

fn within_limits(manifest: &Manifest) {
    assert!(manifest.files().len() as u64 <= MAX_FILES && manifest.total_bytes() <= MAX_BYTES);
    manifest.files().iter().for_each(|file| stays_below(&file.path));
}

/// A tar archive whose headers were given their checksums, unless its first byte is odd. What is taken keeps the
/// limits, is written below its folder and nowhere else, is the same however it is compressed, and is what another
/// program sees in the archive.
pub fn archive_tar(data: &[u8]) {
    let Some((first, archive)) = data.split_first() else {
        return;
    };
    let mut archive = archive.to_vec();
    if first % 2 == 0 {
        mend_checksums(&mut archive);
    }
    let manifest = match unpacked(&archive, Compression::None, None) {
        Ok(manifest) => manifest,
        Err(error) => return bounded(&error),
    };
    within_limits(&manifest);
    let digest = Some(Digest::of(&archive));
    assert!(matches!(unpacked(&archive, Compression::None, digest), Ok(same) if same == manifest));
    let other = Some(Digest::of(b"another archive"));
    assert!(matches!(
        unpacked(&archive, Compression::None, other),
        Err(Error::OtherDigest { .. })
    ));
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&archive).expect("into memory");
    let gzip = gzip.finish().expect("into memory");
    assert!(matches!(unpacked(&gzip, Compression::Gzip, digest), Ok(same) if same == manifest));
    let zstd = zstd::encode_all(archive.as_slice(), 1).expect("into memory");
    assert!(matches!(unpacked(&zstd, Compression::Zstd, digest), Ok(same) if same == manifest));
    as_another_program(&archive, &manifest);
    let parent = tempfile::tempdir().expect("a folder");
    let out = parent.path().join("out");
    assert!(matches!(below(&archive, Compression::None, None, Some(&out)), Ok(same) if same == manifest));
    assert_eq!(folder::resolve(&out).expect("what was written"), manifest);
    assert_eq!(parent.path().read_dir().expect("a folder").count(), 1);
}

/// The same files with the same bytes.
fn as_another_program(archive: &[u8], manifest: &Manifest) {
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(archive).entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        let kind = entry.header().entry_type();
        // Global headers come as entries here, and have a name that says nothing.
        if !kind.is_file() && !kind.is_contiguous() {
            continue;
        }
        let path = String::from_utf8(entry.path_bytes().into_owned()).expect("UTF-8");
        if path.ends_with('/') {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("its bytes");
        found.insert(
            path.strip_prefix("./").unwrap_or(&path).to_owned(),
            Digest::of(&bytes),
        );
    }
    let ours: BTreeMap<String, Digest> = manifest
        .files()
        .iter()
        .map(|file| (file.path.to_string(), file.sha256))
        .collect();
    assert_eq!(ours, found);
}

/// Few bytes changed at random keep a checksum, and everything behind it would never be reached.
fn mend_checksums(archive: &mut [u8]) {
    let mut at = 0_usize;
    while let Some(block) = archive.get_mut(at..at.saturating_add(BLOCK)) {
        let mut header = Header::new_old();
        header.as_mut_bytes().copy_from_slice(block);
        if block.iter().all(|byte| *byte == 0) {
            return;
        }
        header.set_cksum();
        block.copy_from_slice(header.as_bytes());
        let Ok(size) = header.entry_size() else { return };
        let Ok(size) = usize::try_from(size) else { return };
        at = at
            .saturating_add(BLOCK)
            .saturating_add(size.checked_next_multiple_of(BLOCK).unwrap_or(size));
    }
}

/// A compressed archive as it comes, Zstandard where its first byte is odd. Whatever it claims, what is taken keeps
/// the limits.
pub fn archive_compressed(data: &[u8]) {
    let Some((first, archive)) = data.split_first() else {
        return;
    };
    let compression = match first % 2 {
        0 => Compression::Gzip,
        _ => Compression::Zstd,
    };
    match unpacked(archive, compression, None) {
        Ok(manifest) => within_limits(&manifest),
        Err(error) => bounded(&error),
    }
}

use std::collections::BTreeMap;
use std::io::Write;

use proptest::prelude::*;
use ptah_contract::manifest::Manifest;
use tar::{EntryType, Header};

use super::*;
use crate::content::Limits;

/// Builds the archive that a block of the table describes, word by word; `"…"` is a JSON string.
#[derive(Default)]
struct Builder {
    bytes: Vec<u8>,
    /// What the next header says instead of the truth.
    size: Option<u64>,
    bad_sum: bool,
    unmarked: bool,
}

impl Builder {
    fn header(&mut self, kind: EntryType, path: &[u8], size: u64, ustar: bool) {
        let mut header = if ustar {
            Header::new_ustar()
        } else {
            Header::new_old()
        };
        header.set_entry_type(kind);
        // Not `set_path`: it would refuse what has to be refused here.
        header.as_old_mut().name[..path.len()].copy_from_slice(path);
        header.set_size(self.size.take().unwrap_or(size));
        header.set_mode(0o4777);
        header.set_cksum();
        if std::mem::take(&mut self.bad_sum) {
            header.set_mode(0o644);
        }
        self.bytes.extend_from_slice(header.as_bytes());
    }

    fn entry(&mut self, kind: EntryType, path: &[u8], data: &[u8]) {
        self.header(kind, path, data.len() as u64, true);
        self.data(data);
    }

    fn data(&mut self, data: &[u8]) {
        self.bytes.extend_from_slice(data);
        self.bytes
            .resize(self.bytes.len().next_multiple_of(bounded::BLOCK), 0);
    }

    fn line(&mut self, line: &str) {
        let words = words(line);
        let word = |n: usize| words.get(n).map(String::as_bytes).unwrap_or_default();
        let number = |n: usize| words[n].parse::<usize>().unwrap();
        match words[0].as_str() {
            "file" => self.entry(EntryType::Regular, word(1), word(2)),
            "raw" => self.entry(EntryType::Regular, &hex(&words[1]), b""),
            "v7" => {
                self.header(EntryType::Regular, word(1), word(2).len() as u64, false);
                self.data(word(2));
            }
            "big" => {
                let data = vec![0; number(2)];
                self.entry(EntryType::Regular, word(1), &data);
            }
            "many" => {
                for n in 0..number(1) {
                    self.entry(EntryType::Directory, format!("d{n}/").as_bytes(), b"");
                }
            }
            "dir" => self.entry(EntryType::Directory, word(1), word(2)),
            "contiguous" => self.entry(EntryType::Continuous, word(1), word(2)),
            "symlink" => self.entry(EntryType::Symlink, word(1), b""),
            "hardlink" => self.entry(EntryType::Link, word(1), b""),
            "char" => self.entry(EntryType::Char, word(1), b""),
            "block" => self.entry(EntryType::Block, word(1), b""),
            "fifo" => self.entry(EntryType::Fifo, word(1), b""),
            "sparse" => self.entry(EntryType::GNUSparse, word(1), b""),
            "type" => self.entry(EntryType::new(word(1)[0]), word(2), b""),
            "longname" => {
                let name = [
                    word(1).repeat(words.get(2).map_or(1, |n| n.parse().unwrap())),
                    vec![0],
                ]
                .concat();
                self.entry(EntryType::GNULongName, b"././@LongLink", &name);
            }
            "v7longname" => {
                self.header(
                    EntryType::GNULongName,
                    b"././@LongLink",
                    word(1).len() as u64 + 1,
                    false,
                );
                self.data(&[word(1), b"\0"].concat());
            }
            "v7pax" => {
                let record = pax_record(&words[1]);
                self.header(EntryType::XHeader, b"PaxHeaders/x", record.len() as u64, false);
                self.data(&record);
            }
            "unended" => self.entry(EntryType::GNULongName, b"././@LongLink", word(1)),
            "longlink" => self.entry(EntryType::GNULongLink, b"././@LongLink", b"target\0"),
            "pax" => {
                let records: Vec<u8> = words[1..].iter().flat_map(|pair| pax_record(pair)).collect();
                self.entry(EntryType::XHeader, b"PaxHeaders/x", &records);
            }
            "paxraw" => self.entry(EntryType::XHeader, b"PaxHeaders/x", word(1)),
            "global" => self.entry(
                EntryType::XGlobalHeader,
                b"pax_global_header",
                &pax_record(&words[1]),
            ),
            "size" => self.size = Some(words[1].parse().unwrap()),
            "badsum" => self.bad_sum = true,
            "zeros" => self.bytes.resize(self.bytes.len() + number(1), 0),
            "bytes" => self.bytes.extend_from_slice(word(1)),
            "cut" => self.bytes.truncate(self.bytes.len() - number(1)),
            "unmarked" => self.unmarked = true,
            other => panic!("the table says {other:?}"),
        }
    }
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        if rest.starts_with('"') {
            let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            words.push(stream.next().unwrap().unwrap());
            rest = rest[stream.byte_offset()..].trim_start();
        } else {
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            words.push(word.to_owned());
            rest = after;
        }
    }
    words
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn pax_record(pair: &str) -> Vec<u8> {
    let mut length = pair.len() + 2;
    while length != pair.len() + 2 + length.to_string().len() {
        length = pair.len() + 2 + length.to_string().len();
    }
    format!("{length} {pair}\n").into_bytes()
}

fn compress(compression: Compression, bytes: &[u8]) -> Vec<u8> {
    match compression {
        Compression::None => bytes.to_vec(),
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Zstd => zstd::encode_all(bytes, 3).unwrap(),
    }
}

fn unpack_all(
    bytes: &[u8],
    compression: Compression,
    folder: Option<&str>,
) -> Result<BTreeMap<String, String>, Error> {
    let out = tempfile::tempdir().unwrap();
    let limits = Limits::default().max_bytes(Some(1 << 20), "the test");
    let content = Content::new(limits, Some(out.path())).unwrap();
    unpack(bytes, compression, folder, None, &content)?;
    let manifest: Manifest = content.finish(None)?;
    let files = manifest.files().iter().map(|file| {
        let bytes = std::fs::read(out.path().join(file.path.as_str())).unwrap();
        (file.path.to_string(), String::from_utf8(bytes).unwrap())
    });
    Ok(files.collect())
}

#[test]
fn every_archive_of_the_table_unpacks_or_is_refused_as_the_table_says() {
    let mut count = 0;
    for block in include_str!("../../testdata/archives.txt")
        .split("\n=== ")
        .skip(1)
    {
        let (head, expected) = block.split_once("\n--- ").unwrap();
        let mut lines = head.lines();
        let name = lines.next().unwrap();
        let mut builder = Builder::default();
        let mut folder = None;
        let mut after: Vec<&str> = Vec::new();
        for line in lines {
            match line.split_once(' ') {
                Some(("folder", path)) => folder = Some(path),
                Some(("behind" | "shorten", _)) => after.push(line),
                _ => builder.line(line),
            }
        }
        if !builder.unmarked {
            builder.bytes.resize(builder.bytes.len() + 1024, 0);
        }
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let mut bytes = compress(compression, &builder.bytes);
            for line in &after {
                match line.split_once(' ').unwrap() {
                    ("behind", text) => bytes.extend(text.as_bytes()),
                    (_, number) => bytes.truncate(bytes.len() - number.parse::<usize>().unwrap()),
                }
            }
            let found = match unpack_all(&bytes, compression, folder) {
                Ok(files) => {
                    let files = files.iter().map(|(path, text)| format!(" {path:?}={text:?}"));
                    format!("ok{}", files.collect::<String>())
                }
                Err(error) => format!("{:?} {} {error}", error.class(), error.code()),
            };
            let wanted = expected.lines().next().unwrap();
            assert!(found.starts_with(wanted), "{name} ({compression:?}): {found}");
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn a_bomb_stops_at_the_limit_and_never_holds_what_it_unpacks() {
    let mut builder = Builder::default();
    builder.header(EntryType::Regular, b"bomb", 40 << 20, true);
    builder.bytes.resize(builder.bytes.len() + (40 << 20), 0);
    builder.bytes.resize(builder.bytes.len() + 1024, 0);
    for compression in [Compression::Gzip, Compression::Zstd] {
        let small = compress(compression, &builder.bytes);
        assert!(small.len() < 100_000, "{}", small.len());
        let error = unpack_all(&small, compression, None).unwrap_err();
        assert_eq!(
            (error.code(), error.class()),
            ("source_policy_refused", FailureClass::Refused)
        );
    }
    // Behind the mark of its end nothing is content, and still it may not go on for ever.
    let endless = std::io::Read::chain(&[0; 1024][..], std::io::repeat(0));
    let content = Content::new(Limits::default().max_bytes(Some(1 << 20), "the test"), None).unwrap();
    let error = unpack(endless, Compression::None, None, None, &content).unwrap_err();
    assert_eq!(error.code(), "archive_too_large");
}

#[test]
fn a_window_that_would_take_too_much_memory_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(27).unwrap();
    let mut builder = Builder::default();
    builder.line("file a.sql A");
    // Only a frame without its content's size keeps the window that was asked for.
    encoder.include_contentsize(false).unwrap();
    encoder.write_all(&builder.bytes).unwrap();
    encoder.flush().unwrap();
    encoder.write_all(&[0; 1024]).unwrap();
    let bytes = encoder.finish().unwrap();
    let error = unpack_all(&bytes, Compression::Zstd, None).unwrap_err();
    assert_eq!(error.code(), "archive_damaged", "{error}");
}

#[test]
fn what_gnu_tar_writes_in_any_format_is_read_and_says_what_it_lists() {
    let folder = tempfile::tempdir().unwrap();
    let long = "a".repeat(95);
    std::fs::create_dir_all(folder.path().join("d").join(&long)).unwrap();
    std::fs::write(folder.path().join("d").join(&long).join("größe.sql"), "G").unwrap();
    std::fs::write(folder.path().join("a.sql"), "A").unwrap();
    let expected = BTreeMap::from([
        (format!("d/{long}/größe.sql"), "G".to_owned()),
        ("a.sql".to_owned(), "A".to_owned()),
    ]);
    for format in ["gnu", "oldgnu", "pax", "posix", "ustar"] {
        for compress in [None, Some("-z")] {
            let mut tar = std::process::Command::new("tar");
            tar.args(["--format", format, "-c", "-f", "-"]).args(compress);
            let output = tar.arg("-C").arg(folder.path()).arg(".").output();
            let output = output.expect("this test needs GNU tar: apt-get install tar");
            assert!(
                output.status.success(),
                "{format}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            let kind = compress.map_or(Compression::None, |_| Compression::Gzip);
            assert_eq!(
                unpack_all(&output.stdout, kind, None).unwrap(),
                expected,
                "{format}"
            );
        }
    }
}

#[test]
fn a_connection_that_breaks_is_not_taken_for_a_damaged_archive() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::ConnectionReset.into())
        }
    }
    let mut builder = Builder::default();
    builder.line("file a.sql A");
    for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
        let bytes = compress(compression, &builder.bytes);
        let content = Content::new(Limits::default(), None).unwrap();
        let error = unpack(bytes[..20].chain(Broken), compression, None, None, &content).unwrap_err();
        assert_eq!(
            (error.code(), error.class(), error.to_string().as_str()),
            (
                "archive_not_read",
                FailureClass::Transient,
                "reading the archive failed"
            )
        );
    }
}

#[test]
fn an_archive_of_another_digest_than_was_promised_of_it_is_refused_with_both() {
    let mut builder = Builder::default();
    builder.line("file a.sql A");
    builder.bytes.resize(builder.bytes.len() + 1024, 0);
    let (found, wanted) = (Digest::of(&builder.bytes), Digest::of(b"another"));
    for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
        let bytes = compress(compression, &builder.bytes);
        let check = |digest| {
            let content = Content::new(Limits::default(), None).unwrap();
            unpack(bytes.as_slice(), compression, None, Some(digest), &content)
        };
        let error = check(wanted).unwrap_err();
        let sentence =
            format!("the archive gives digest {found} when it is not compressed, {wanted} was promised");
        assert_eq!(
            (error.code(), error.class(), error.to_string()),
            ("digest_mismatch", FailureClass::Attention, sentence)
        );
        check(found).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_the_reader_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..2048), whole in any::<bool>()) {
        if whole && bytes.len() >= 512 {
            let mut block = [0; 512];
            block.copy_from_slice(&bytes[..512]);
            let mut header = Header::new_old();
            header.as_mut_bytes().copy_from_slice(&block);
            header.set_size(u64::from(bytes[0]));
            header.set_cksum();
            bytes[..512].copy_from_slice(header.as_bytes());
        }
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let content = Content::new(Limits::default(), None).unwrap();
            let _ = unpack(&bytes[..], compression, None, None, &content);
        }
    }

    #[test]
    fn files_that_are_packed_are_unpacked(files in proptest::collection::btree_map("[a-z]{1,8}", "[ -~]{0,700}", 1..8)) {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, text) in &files {
            let mut header = Header::new_gnu();
            header.set_size(text.len() as u64);
            builder.append_data(&mut header, path, text.as_bytes()).unwrap();
        }
        let bytes = builder.into_inner().unwrap();
        prop_assert_eq!(unpack_all(&bytes, Compression::None, None).unwrap(), files);
    }
}

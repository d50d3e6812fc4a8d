//! Extended headers: `length key=value\n`, as pax(1) describes them.

use super::Error;

/// What extended headers may say about the next entry; everything else they say is left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Extended {
    pub(super) path: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) sparse: bool,
}

pub(super) fn read(bytes: &[u8]) -> Result<Extended, Error> {
    let mut extended = Extended::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (key, value, after) = record(rest).ok_or_else(|| {
            Error::Damaged("an extended header is not of the form \"length key=value\"".to_owned())
        })?;
        rest = after;
        let twice = match key {
            b"path" => extended.path.replace(value.to_vec()).map(|_| "a path"),
            b"size" => {
                let size = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                let size = size.ok_or_else(|| Error::Damaged("an extended size is no number".to_owned()))?;
                extended.size.replace(size).map(|_| "a size")
            }
            _ => {
                extended.sparse |= key.starts_with(b"GNU.sparse");
                None
            }
        };
        if let Some(what) = twice {
            return Err(Error::Damaged(format!("an extended header has {what} twice")));
        }
    }
    Ok(extended)
}

/// The first record's key and value, and what follows it.
fn record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let blank = bytes.iter().position(|byte| *byte == b' ')?;
    let digits = std::str::from_utf8(&bytes[..blank]).ok()?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let length: usize = digits.parse().ok()?;
    let record = bytes.get(blank + 1..length)?;
    let record = record.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((&record[..equals], &record[equals + 1..], &bytes[length..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn records_are_read_by_their_length() {
        let found = read(b"16 path=a\nb=c/d\n19 size=0000000042\n17 comment=x=y=z\n");
        let found = found.unwrap();
        assert_eq!(found.path.as_deref(), Some(&b"a\nb=c/d"[..]));
        assert_eq!(found.size, Some(42));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }

        #[test]
        fn a_written_path_is_read_back(path in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut length = path.len() + 7;
            length += length.to_string().len();
            if (path.len() + 7 + length.to_string().len()) != length {
                length = path.len() + 7 + length.to_string().len();
            }
            let mut bytes = format!("{length} path=").into_bytes();
            bytes.extend(&path);
            bytes.push(b'\n');
            prop_assert_eq!(read(&bytes).unwrap().path, Some(path));
        }
    }
}

//! Text armor, of OpenPGP (RFC 9580, section 6) and of SSHSIG (PROTOCOL.sshsig, "Armored format").
//!
//! Stricter than either program: nothing is skipped in search of a block, a line is either part of it or an error, and
//! a checksum that is there must be right. What a signature's armor says is then read by everybody alike.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Whose armor it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Headers, a blank line, base64, perhaps a checksum; blanks at the end of a line do not count.
    OpenPgp,
    /// Base64 and nothing else, every line as it is.
    Ssh,
}

/// A block's bytes, and what follows its last line.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub(super) bytes: Vec<u8>,
    pub(super) rest: &'a [u8],
    /// Lines that it takes.
    pub(super) lines: usize,
}

/// Reads the block that the text begins with.
///
/// # Errors
/// What about it is not as the form says.
pub(super) fn read<'a>(text: &'a [u8], label: &str, form: Form) -> Result<Block<'a>, &'static str> {
    let (begin, end) = (
        format!("-----BEGIN {label}-----"),
        format!("-----END {label}-----"),
    );
    let mut lines = Lines {
        rest: text,
        form,
        taken: 0,
    };
    if lines.next() != Some(begin.as_bytes()) {
        return Err("its first line is not the mark of a beginning alone");
    }
    if form == Form::OpenPgp {
        headers(&mut lines)?;
    }
    let (mut base64, mut checksum) = (Vec::new(), None);
    loop {
        match lines.next() {
            None => return Err("its end is missing"),
            Some(line) if line == end.as_bytes() => break,
            Some([]) => return Err("it has a blank line within its base64"),
            Some(_) if checksum.is_some() => return Err("something follows its checksum"),
            Some(line) if form == Form::OpenPgp && line.first() == Some(&b'=') => {
                checksum = Some(
                    STANDARD
                        .decode(&line[1..])
                        .map_err(|_| "its checksum is no base64")?,
                );
            }
            Some(line) => base64.extend_from_slice(line),
        }
    }
    let bytes = STANDARD.decode(base64).map_err(|_| "it is no base64")?;
    match checksum {
        // RFC 9580 lets a reader ignore it; gpg does not.
        Some(sum) if sum != crc24(&bytes) => Err("its checksum does not match"),
        _ if bytes.is_empty() => Err("it is empty"),
        _ => Ok(Block {
            bytes,
            rest: lines.rest,
            lines: lines.taken,
        }),
    }
}

/// `Key: value` lines up to a blank one. They say nothing that counts.
fn headers(lines: &mut Lines<'_>) -> Result<(), &'static str> {
    loop {
        match lines.next() {
            Some([]) => return Ok(()),
            Some(line) if is_header(line) => {}
            _ => return Err("it has no blank line between headers and base64"),
        }
    }
}

fn is_header(line: &[u8]) -> bool {
    let key = line.split(|byte| *byte == b':').next().unwrap_or_default();
    let value = line.get(key.len() + 1..);
    let named = !key.is_empty()
        && key
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    named && value.is_some_and(|value| value.is_empty() || value.starts_with(b" "))
}

struct Lines<'a> {
    rest: &'a [u8],
    form: Form,
    taken: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let at = self.rest.iter().position(|byte| *byte == b'\n');
        let (line, rest) = match at {
            Some(at) => (&self.rest[..at], &self.rest[at + 1..]),
            None => (self.rest, &[][..]),
        };
        (self.rest, self.taken) = (rest, self.taken + 1);
        Some(match self.form {
            Form::OpenPgp => line.trim_ascii_end(),
            Form::Ssh => line,
        })
    }
}

/// RFC 9580, section 6.1.
fn crc24(bytes: &[u8]) -> [u8; 3] {
    let mut sum: u32 = 0x00b7_04ce;
    for byte in bytes {
        sum ^= u32::from(*byte) << 16;
        for _ in 0..8 {
            sum <<= 1;
            if sum & 0x0100_0000 != 0 {
                sum ^= 0x0186_4cfb;
            }
        }
    }
    let [_, sum @ ..] = sum.to_be_bytes();
    sum
}

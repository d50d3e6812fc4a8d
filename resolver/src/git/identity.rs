//! The private key that a Secret holds for SSH.
//!
//! Promises: what a key may ask for before its password is tried is bounded. A key says itself how often a password is
//! hashed and how much memory that takes, so that a short file could hold the program up for years.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pkcs8::EncryptedPrivateKeyInfoRef;
use pkcs8::pkcs5::pbes2::Kdf;
use russh::keys::PrivateKey;

use super::Error;

/// Rounds of bcrypt, of which `ssh-keygen` takes 16 or 24: some seconds.
const MAX_ROUNDS: u32 = 256;
/// Iterations of PBKDF2, of which `openssl pkcs8` takes 2048: about a second.
const MAX_ITERATIONS: u32 = 2_000_000;
/// Bytes that scrypt holds, of which `openssl pkcs8 -scrypt` takes 16 MiB, and how often it goes through them.
const MAX_MEMORY: u64 = 64 << 20;
const MAX_PARALLEL: u16 = 16;

/// The key, decrypted with the password where it needs one.
pub(super) fn read(text: &str, password: Option<&str>) -> Result<PrivateKey, Error> {
    let problem = |problem| Error::SecretKey {
        key: "identity",
        problem,
    };
    let no_key = "it is no private key in OpenSSH, PKCS#1 or PKCS#8 form, or it is encrypted";
    // Several blocks, of which nobody can say which counts. PuTTY's form, which the decoder reads as well, has none.
    if text
        .lines()
        .filter(|line| line.starts_with("-----BEGIN "))
        .count()
        != 1
        || is_putty(text)
    {
        return Err(problem(no_key));
    }
    // The decoder takes a password for a key that needs none, which would hide a password that nothing uses.
    match (russh::keys::decode_secret_key(text, None), password) {
        (Ok(key), None) if !key.is_encrypted() => Ok(key),
        (Ok(key), Some(_)) if !key.is_encrypted() => Err(Error::SecretKey {
            key: "password",
            problem: "it is not used: identity is not encrypted",
        }),
        (_, Some(_)) if !is_affordable(text) => Err(problem(
            "it asks for more work before its password is tried than any program that makes keys does",
        )),
        (_, Some(password)) => russh::keys::decode_secret_key(text, Some(password))
            .map_err(|_| problem("password does not decrypt it, or it is no private key")),
        (Err(russh::keys::Error::KeyIsEncrypted), None) | (Ok(_), None) => {
            Err(problem("it is encrypted, and password is missing"))
        }
        (Err(_), None) => Err(problem(no_key)),
    }
}

fn is_putty(text: &str) -> bool {
    text.trim().starts_with("PuTTY-User-Key-File-")
}

/// Whether the password may be tried. What cannot be read here would not be read by the decoder either.
fn is_affordable(text: &str) -> bool {
    let Some(body) = body(text) else { return false };
    if let Some(fields) = body.strip_prefix(b"openssh-key-v1\0") {
        return rounds(fields).is_some_and(|rounds| rounds <= MAX_ROUNDS);
    }
    let Ok(encrypted) = EncryptedPrivateKeyInfoRef::try_from(body.as_slice()) else {
        // The older form derives its key with one MD5.
        return true;
    };
    match encrypted
        .encryption_algorithm
        .pbes2()
        .map(|parameters| &parameters.kdf)
    {
        Some(Kdf::Pbkdf2(kdf)) => kdf.iteration_count <= MAX_ITERATIONS,
        Some(Kdf::Scrypt(kdf)) => {
            let memory = kdf.cost_parameter.saturating_mul(u64::from(kdf.block_size) * 128);
            memory <= MAX_MEMORY && kdf.parallelization <= MAX_PARALLEL
        }
        _ => false,
    }
}

/// What stands between the marks, taken as the decoder takes it.
fn body(text: &str) -> Option<Vec<u8>> {
    let base64 = |line: &&str| {
        line.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
    };
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with("-----BEGIN "))
        .skip(1)
        .take_while(|line| !line.starts_with("-----END "));
    STANDARD.decode(lines.filter(base64).collect::<String>()).ok()
}

/// The names of a cipher and a derivation, then the derivation's options: a salt, and the rounds.
fn rounds(fields: &[u8]) -> Option<u32> {
    let (_, rest) = string(fields)?;
    let (derivation, rest) = string(rest)?;
    let (options, _) = string(rest)?;
    if derivation != b"bcrypt" {
        return None;
    }
    let (_, rounds) = string(options)?;
    Some(u32::from_be_bytes(*rounds.first_chunk()?))
}

/// A string by its length, and what follows it (RFC 4251, section 5).
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By `ssh-keygen -a 1`, and by `openssl pkcs8` with 2048 and 2000001 iterations and with scrypt; all with the password.
    const KEYS: &str = include_str!("../../testdata/git/identities.txt");
    const PASSWORD: Option<&str> = Some("hunter2");

    fn key(name: &str) -> String {
        let (_, after) = KEYS.split_once(&format!("=== {name}\n")).unwrap();
        after.split("\n===").next().unwrap().to_owned()
    }

    /// The key with these bytes in the place of those.
    fn changed(text: &str, from: &[u8], to: &[u8]) -> String {
        let mut bytes = body(text).unwrap();
        let at = bytes
            .windows(from.len())
            .position(|window| window == from)
            .unwrap();
        bytes[at..at + to.len()].copy_from_slice(to);
        let mut lines = text.lines();
        let (first, last) = (lines.next().unwrap(), lines.next_back().unwrap());
        format!("{first}\n{}\n{last}\n", STANDARD.encode(bytes))
    }

    fn refusal(text: &str, password: Option<&str>) -> String {
        read(text, password).unwrap_err().to_string()
    }

    #[test]
    fn an_encrypted_key_is_read_with_its_password_alone() {
        for name in ["openssh", "pbkdf2", "scrypt"] {
            let text = key(name);
            assert!(!read(&text, PASSWORD).unwrap().is_encrypted(), "{name}");
            assert!(
                refusal(&text, Some("hunter3")).contains("does not decrypt"),
                "{name}"
            );
            assert!(refusal(&text, None).contains("encrypted"), "{name}");
        }
    }

    #[test]
    fn a_key_that_asks_for_more_work_than_any_is_refused_before_it_is_done() {
        let openssh = changed(
            &key("openssh"),
            b"\0\0\0\x01\0\0\0\x01\0\0\0\x33",
            b"\xff\xff\xff\xff",
        );
        // r = 127 in the place of 8: a quarter of a gigabyte.
        let scrypt = changed(
            &key("scrypt"),
            b"\x02\x02\x40\0\x02\x01\x08",
            b"\x02\x02\x40\0\x02\x01\x7f",
        );
        for text in [openssh, key("pbkdf2 2000001"), scrypt] {
            assert!(refusal(&text, PASSWORD).contains("more work"), "{text}");
        }
    }

    #[test]
    fn what_is_no_key_of_these_forms_is_refused_for_that() {
        let putty = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: aes256-cbc\nKey-Derivation: Argon2id\n\
                     Argon2-Memory: 4294967295\n-----BEGIN OPENSSH PRIVATE KEY-----\n";
        let two = key("openssh") + &key("scrypt");
        for text in ["", "hunter2", putty, &two] {
            assert!(refusal(text, PASSWORD).contains("it is no private key"), "{text}");
        }
    }
}

//! What a message repeats of somebody else's text.

/// Characters at most.
const MAX_SHOWN: usize = 128;

/// Text of an object or a key, quoted, with what is not printable escaped, and not more than a line of it.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let cut: String = text.chars().take(MAX_SHOWN).collect();
    match cut.len() < text.len() {
        true => format!("{cut:?}…"),
        false => format!("{cut:?}"),
    }
}

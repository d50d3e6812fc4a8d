//! Room for the parser, which calls itself for everything that stands in something else.
//!
//! Promises: no text makes this program run out of stack. A piece of a statement, which is what commas at its outer
//! levels and semicolons separate, has at most [`LONGEST`] words and signs, and so much nesting at most; parsing is
//! done on a thread that has room for that.

use squawk_lexer::{TokenKind, tokenize};

/// Words and signs of one piece. The largest queries that people write have some hundreds.
const LONGEST: usize = 10_000;
/// Bytes of stack, of which only what is used is ever taken from the machine.
const STACK: usize = 512 << 20;

/// Runs it with room.
pub(super) fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        thread.spawn_scoped(scope, work).ok()?.join().ok()
    })
}

/// Where the first piece that is too long begins.
pub(super) fn too_long(text: &str) -> Option<usize> {
    let (mut at, mut begins, mut count, mut depth) = (0, 0, 0_usize, 0_usize);
    for token in tokenize(text) {
        match token.kind {
            TokenKind::Whitespace | TokenKind::LineComment | TokenKind::BlockComment { .. } => {}
            TokenKind::Semi => (count, depth) = (0, 0),
            TokenKind::Comma if depth <= 1 => count = 0,
            kind => {
                match kind {
                    TokenKind::OpenParen | TokenKind::OpenBracket => depth += 1,
                    TokenKind::CloseParen | TokenKind::CloseBracket => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if count == 0 {
                    begins = at;
                }
                count += 1;
                if count > LONGEST {
                    return Some(begins);
                }
            }
        }
        at += token.len as usize;
    }
    None
}

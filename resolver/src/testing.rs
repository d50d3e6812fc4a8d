//! Tables of inputs and expected outcomes.

/// The rows of a table: every line that is neither empty nor a comment.
pub(crate) fn rows(table: &str) -> impl Iterator<Item = &str> {
    table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The fields of a row: words, and the rest as the last field.
pub(crate) fn fields<const N: usize>(row: &str) -> [&str; N] {
    let mut rest = row.trim_end();
    std::array::from_fn(|index| {
        rest = rest.trim_start();
        if index + 1 == N {
            return rest;
        }
        let (field, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        field
    })
}

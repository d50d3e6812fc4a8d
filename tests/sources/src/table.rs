//! Tables of cases: one a line, fields between ` | `.

/// The rows of a table, each with its number and its fields; comments and empty lines are skipped.
pub fn rows<const N: usize>(table: &str) -> Vec<(usize, [&str; N])> {
    table
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(index, line)| {
            let fields: Vec<&str> = line.split(" | ").map(str::trim).collect();
            let number = fields.len();
            let fields = fields
                .try_into()
                .unwrap_or_else(|_| panic!("line {} has {number} fields, not {N}: {line}", index + 1));
            (index + 1, fields)
        })
        .collect()
}

//! Compares two outputs of `pg_dump --schema-only`.
//!
//! What is left out is what is no schema: all before the first object (settings, versions), `\restrict` tokens, and the
//! order of objects, which follows their numbers. Beyond that one rule: the order of a table's columns is not compared,
//! since no statement changes it. So the lines of a table's entry are compared as a set, and so are the columns of an
//! extended statistics object, which the server prints in the table's order. The grants on one object are a set as well,
//! and so are options in `WITH (…)` and `SET (…)`, which stand in the order in which they were set.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

/// What only one of the two says, each line with its object; empty when both say the same.
pub fn difference(found: &str, expected: &str) -> Vec<String> {
    let (found, expected) = (entries(found), entries(expected));
    let only = |one: &[Entry], other: &[Entry], word: &str| -> Vec<String> {
        let mut rest = other.to_vec();
        let mut lines = Vec::new();
        for entry in one {
            if let Some(at) = rest.iter().position(|known| known == entry) {
                rest.swap_remove(at);
            } else {
                lines.push(format!("{word} {}\n    {}", entry.0, entry.1.join("\n    ")));
            }
        }
        lines
    };
    let mut lines = only(&found, &expected, "found");
    lines.extend(only(&expected, &found, "expected"));
    lines
}

/// The header of an object, and the lines that make it.
type Entry = (String, Vec<String>);

fn entries(dump: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut last = "";
    for line in dump.lines() {
        if last == "--" && line.starts_with("-- Name: ") {
            entries.push((line.to_owned(), Vec::new()));
        } else if let Some((_, lines)) = entries.last_mut()
            && !line.starts_with("\\restrict ")
            && !line.starts_with("\\unrestrict ")
            && !line.starts_with("SET default_table_access_method")
            && !line.starts_with("SET default_tablespace")
            && line != "-- PostgreSQL database dump complete"
        {
            lines.push(line.to_owned());
        }
        last = line;
    }
    for (header, lines) in &mut entries {
        let blank = |line: &String| line.is_empty() || line == "--";
        while lines.last().is_some_and(blank) {
            lines.pop();
        }
        let until = lines.iter().position(|line| !blank(line)).unwrap_or(lines.len());
        lines.drain(..until);
        let is = |kind: &str| header.contains(&format!("; Type: {kind};"));
        if is("TABLE") {
            for line in lines.iter_mut() {
                line.truncate(line.trim_end_matches(',').len());
            }
        }
        if !is("FUNCTION") && !is("PROCEDURE") {
            for line in lines.iter_mut() {
                *line = sorted_options(line);
            }
        }
        if is("STATISTICS") {
            for line in lines.iter_mut() {
                *line = sorted_columns(line);
            }
        }
        if is("TABLE") || is("ACL") || is("DEFAULT ACL") {
            lines.sort();
        }
    }
    entries.sort();
    entries
}

fn sorted_options(line: &str) -> String {
    let Some(open) = ["WITH (", "SET ("]
        .iter()
        .find_map(|word| Some(line.find(word)? + word.len()))
    else {
        return line.to_owned();
    };
    let Some(close) = line[open..].find(')').map(|at| open + at) else {
        return line.to_owned();
    };
    let mut options: Vec<&str> = line[open..close].split(", ").collect();
    if options.iter().all(|option| option.contains('=')) {
        options.sort_unstable();
    }
    format!("{}{}{}", &line[..open], options.join(", "), &line[close..])
}

fn sorted_columns(line: &str) -> String {
    let (Some(on), Some(from)) = (line.find(" ON "), line.rfind(" FROM ")) else {
        return line.to_owned();
    };
    let mut columns: Vec<&str> = line[on + 4..from].split(", ").collect();
    columns.sort_unstable();
    format!("{} ON {}{}", &line[..on], columns.join(", "), &line[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(token: &str, body: &str) -> String {
        format!(
            "--\n-- PostgreSQL database dump\n--\n\n\\restrict {token}\n\nSET lock_timeout = 0;\n{body}\n\\unrestrict {token}\n\n"
        )
    }

    fn entry(name: &str, kind: &str, body: &str) -> String {
        format!("--\n-- Name: {name}; Type: {kind}; Schema: public; Owner: app\n--\n\n{body}\n\n")
    }

    #[test]
    fn order_of_columns_and_objects_is_no_difference() {
        let view = entry("v", "VIEW", "CREATE VIEW public.v AS\n SELECT 1;");
        let one = entry(
            "t",
            "TABLE",
            "CREATE TABLE public.t (\n    a integer,\n    b text NOT NULL\n);",
        );
        let two = entry(
            "t",
            "TABLE",
            "CREATE TABLE public.t (\n    b text NOT NULL,\n    a integer\n);",
        );
        let found = dump("x", &format!("{one}{view}"));
        assert_eq!(
            difference(&found, &dump("y", &format!("{view}{two}"))),
            Vec::<String>::new()
        );
    }

    #[test]
    fn order_of_options_is_no_difference() {
        let table = |options: &str| {
            dump(
                "x",
                &entry(
                    "t",
                    "TABLE",
                    &format!("CREATE TABLE t (\n    a integer\n)\nWITH ({options});"),
                ),
            )
        };
        let (one, two) = (
            table("fillfactor='70', parallel_workers='2'"),
            table("parallel_workers='2', fillfactor='70'"),
        );
        assert_eq!(difference(&one, &two), Vec::<String>::new());
        assert_eq!(
            difference(&one, &table("parallel_workers='2', fillfactor='71'")).len(),
            2
        );
    }

    #[test]
    fn every_other_difference_is_one() {
        let table = |column: &str| {
            dump(
                "x",
                &entry("t", "TABLE", &format!("CREATE TABLE t (\n    {column}\n);")),
            )
        };
        assert_eq!(difference(&table("a integer"), &table("a bigint")).len(), 2);
        let view = |list: &str| {
            dump(
                "x",
                &entry("v", "VIEW", &format!("CREATE VIEW v AS\n SELECT a,\n    {list};")),
            )
        };
        assert_eq!(difference(&view("b"), &view("c")).len(), 2);
        assert_eq!(difference(&view("b"), &dump("x", "")).len(), 1);
        let owner = view("b").replace("Owner: app", "Owner: root");
        assert_eq!(difference(&view("b"), &owner).len(), 2);
        let twice = dump("x", &entry("t", "COMMENT", "c").repeat(2));
        assert_eq!(
            difference(&twice, &dump("x", &entry("t", "COMMENT", "c"))).len(),
            1
        );
    }
}

//! Every document of `testdata/formats` against what the reference renders for it: both are loaded into a database of
//! a real server, and the catalogs must say the same.
//!
//! `differs.txt` lists the cases in which ours is another on purpose: why, and what of the catalogs only ours (`+`) or
//! only theirs (`-`) has, or `!` with the words of our refusal, or `?` where theirs does not load. Cases named `o…` are
//! ours, with SQL that says the same by hand. `PTAH_UPDATE=1` writes the file anew, reasons kept.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use std::time::Duration;

use ptah_contract::policy::SchemaPolicy;
use ptah_engine::{Deadline, Scratch, Target, inspect, plan};
use support::{TestDatabase, server};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/formats")
}

fn cases() -> Vec<PathBuf> {
    let mut cases = Vec::new();
    for format in ["hcl", "yaml"] {
        for entry in std::fs::read_dir(folder().join(format)).unwrap() {
            let path = entry.unwrap().path();
            let is_case = path.extension().is_some_and(|e| e == format);
            if is_case && path.with_extension("postgres.sql").exists() {
                cases.push(path);
            }
        }
    }
    cases.sort();
    cases
}

/// Case, why, and the lines of its difference.
fn differences() -> BTreeMap<String, (String, Vec<String>)> {
    let mut found = BTreeMap::new();
    let text = std::fs::read_to_string(folder().join("differs.txt")).unwrap_or_default();
    let mut case = String::new();
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if line.starts_with(['+', '-', '!', '?']) {
            let (_, lines): &mut (String, Vec<String>) = found.get_mut(&case).unwrap();
            lines.push(line.to_owned());
        } else {
            let (name, why) = line.split_once(": ").unwrap();
            case = name.to_owned();
            found.insert(case.clone(), (why.to_owned(), vec![]));
        }
    }
    found
}

async fn dump(database: &TestDatabase) -> Vec<String> {
    let client = database.client().await;
    client.batch_execute("SET search_path = ''").await.unwrap();
    client
        .batch_execute("SET search_path = pg_catalog")
        .await
        .unwrap();
    let row = client
        .query_one(include_str!("support/dump.sql"), &[])
        .await
        .unwrap();
    let text: String = row.get(0);
    text.lines().map(str::to_owned).collect()
}

/// Loads as the engine does: what misses something is tried again while that makes progress.
async fn load_ours(database: &TestDatabase, path: &Path) -> Result<(), String> {
    let read = inspect::read(path).map_err(|error| format!("! {}: {error}", error.code()))?;
    let client = database.client().await;
    let (schemas, others): (Vec<_>, Vec<_>) = read.statements.iter().partition(|s| s.creates_schema);
    for schema in schemas {
        client.batch_execute(&schema.sql).await.unwrap();
    }
    for (name, schema) in read.extensions {
        let schema = schema.unwrap_or_else(|| "public".to_owned());
        let sql = format!("CREATE EXTENSION \"{name}\" SCHEMA \"{schema}\"");
        client.batch_execute(&sql).await.unwrap();
    }
    let mut waiting = others;
    loop {
        let (before, mut last) = (waiting.len(), None);
        let mut again = Vec::new();
        for statement in waiting {
            if let Err(error) = client.execute(&statement.sql, &[]).await {
                last = Some(format!(
                    "! the server: {}:{}: {}",
                    statement.file,
                    statement.line,
                    error.as_db_error().unwrap().message()
                ));
                again.push(statement);
            }
        }
        match last {
            None => return Ok(()),
            Some(error) if again.len() == before => return Err(error),
            Some(_) => waiting = again,
        }
    }
}

async fn difference(case: &Path) -> Vec<String> {
    let (ours, theirs) = (server().database().await, server().database().await);
    let sql = std::fs::read_to_string(case.with_extension("postgres.sql")).unwrap();
    // A type that two documents name and none declares.
    if sql.contains("\" citext") {
        for database in [&ours, &theirs] {
            database.execute("CREATE EXTENSION citext").await;
        }
    }
    if let Err(why) = load_ours(&ours, case).await {
        return vec![why];
    }
    if let Err(error) = theirs.client().await.batch_execute(&sql).await {
        return vec![format!("? {}", error.as_db_error().unwrap().message())];
    }
    let (mut ours, mut theirs) = (dump(&ours).await, dump(&theirs).await);
    // An artifact has the columns of a table in the order of their names.
    if case.to_string_lossy().contains("-canonical.") {
        for line in ours
            .iter_mut()
            .chain(&mut theirs)
            .filter(|line| line.starts_with("column "))
        {
            let (name, rest) = line.split_once(" number ").unwrap();
            *line = format!("{name} {}", rest.split_once(' ').unwrap().1);
        }
    }
    let only = |sign: &str, these: &[String], those: &[String]| -> Vec<String> {
        let these = these.iter().filter(|line| !those.contains(line));
        these.map(|line| format!("{sign} {line}")).collect()
    };
    [only("+", &ours, &theirs), only("-", &theirs, &ours)].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_make_what_the_reference_makes_of_them() {
    // Older servers lack some of what is declared, and newer ones say some of it otherwise.
    if server().major != 17 {
        return;
    }
    let root = server().client("root_of_tests", "postgres").await;
    root.batch_execute("CREATE ROLE ro").await.unwrap();
    let mut expected = differences();
    let (mut failures, mut written, mut count) = (Vec::new(), String::new(), 0);
    for case in cases() {
        let name = case.file_stem().unwrap().to_string_lossy().into_owned();
        let found = difference(&case).await;
        count += 1;
        let (why, lines) = expected.remove(&name).unwrap_or_default();
        if !found.is_empty() {
            write!(written, "\n{name}: {why}\n{}\n", found.join("\n")).unwrap();
        }
        if found != lines {
            failures.push(format!(
                "{name}:\n{}\ninstead of\n{}",
                found.join("\n"),
                lines.join("\n")
            ));
        } else if !lines.is_empty() && why.is_empty() {
            failures.push(format!("{name}: no reason is given"));
        }
    }
    failures.extend(
        expected
            .into_keys()
            .map(|name| format!("{name}: there is no such difference")),
    );
    if std::env::var_os("PTAH_UPDATE").is_some() {
        let text = std::fs::read_to_string(folder().join("differs.txt")).unwrap_or_default();
        let head: String = text
            .lines()
            .take_while(|line| line.starts_with('#'))
            .map(|line| format!("{line}\n"))
            .collect();
        std::fs::write(folder().join("differs.txt"), head + &written).unwrap();
    }
    assert!(count >= 100, "{count} cases");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The documents of `refused.txt`: name, code, message, text.
fn refused() -> (String, Vec<[String; 4]>) {
    let text = std::fs::read_to_string(folder().join("refused.txt")).unwrap();
    let (head, rest) = text.split_once("=== ").unwrap();
    let cases = rest.split("\n=== ").map(|case| {
        let (line, text) = case.split_once('\n').unwrap();
        let parts: Vec<&str> = line.splitn(3, " | ").collect();
        [parts[0], parts[1], parts[2], text].map(str::to_owned)
    });
    (head.to_owned(), cases.collect())
}

#[test]
fn what_is_refused_names_file_line_block_and_attribute() {
    let (head, cases) = refused();
    let (mut failures, mut written) = (Vec::new(), head);
    for (index, [name, code, message, text]) in cases.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let (found_code, found) = match inspect::read(&path) {
            Ok(read) => ("none".to_owned(), format!("{:?}", read.statements)),
            Err(error) => (error.code().to_owned(), error.to_string()),
        };
        let end = if index + 1 < cases.len() { "\n" } else { "" };
        write!(written, "=== {name} | {found_code} | {found}\n{text}{end}").unwrap();
        if (&found_code, &found) != (code, message) {
            failures.push(format!("{name}: {found_code}: {found}"));
        }
    }
    if std::env::var_os("PTAH_UPDATE").is_some() {
        std::fs::write(self::folder().join("refused.txt"), written).unwrap();
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Files with their texts in a new folder.
fn written(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

const ROWS: &str = r#"{"sets":[{"table":"t","keys":["id"],"columns":["id","n"],"rows":[{"id":{"tag":"int","text":"1"},"n":null}]}]}"#;
const WITH_DATA: &str = "table \"t\" {\n  column \"id\" { type = int }\n  column \"n\" {\n    type = text\n    null = true\n  }\n}\n\
                         data {\n  table = table.t\n  keys  = [\"id\"]\n  file  = \"rows.yaml\"\n}\n";

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_says_comes_with_the_line_of_the_document() {
    let deadline = Deadline::after(Duration::from_secs(120));
    let scratch = Scratch::child(&server().pg_home, server().major, &deadline)
        .await
        .unwrap();
    let database = server().database().await;
    let target = Target::from_url(&database.url()).unwrap();
    let policy = SchemaPolicy::default();
    let start = "table \"p\" {\n  column \"id\" { type = int }\n  primary_key { columns = [column.id] }\n}\n";
    for (name, rest, code, message) in [
        (
            "schema.hcl",
            "table \"t\" {\n  column \"a\" { type = int }\n  column \"b\" {\n    type = nope\n  }\n}\n",
            "desired_missing_object",
            "schema.hcl:7 (table \"t\"): type \"nope\" does not exist",
        ),
        (
            "schema.hcl",
            "view \"v\" {\n  as = <<SQL\nSELECT id,\n  nothing\nFROM p\nSQL\n}\n",
            "desired_missing_object",
            "schema.hcl:8 (view \"v\"): column \"nothing\" does not exist",
        ),
        (
            "schema.hcl",
            "table \"t\" {\n  column \"a\" {\n    type    = int\n    default = \"x\"\n  }\n}\n",
            "desired_rejected",
            "schema.hcl:6 (table \"t\"): invalid input syntax for type integer: \"x\"",
        ),
        (
            "schema.hcl",
            "table \"t\" {\n  schema = schema.nope\n  column \"a\" { type = int }\n}\n",
            "desired_missing_object",
            "schema.hcl:5 (table \"t\"): schema \"nope\" does not exist",
        ),
        (
            "schema.hcl",
            "policy \"x\" {\n  on    = table.q\n  using = true\n}\n",
            "desired_missing_object",
            "schema.hcl:5 (policy \"x\"): relation \"q\" does not exist",
        ),
        (
            "schema.yaml",
            "tables:\n  t:\n    columns:\n      a: {type: int}\n      b:\n        type: int\n        check: b >< 1\n",
            "desired_missing_object",
            "schema.yaml:5 (table \"t\"): operator does not exist: integer >< integer",
        ),
    ] {
        let text = if name.ends_with("hcl") {
            format!("{start}{rest}")
        } else {
            rest.to_owned()
        };
        let folder = written(&[(name, &text)]);
        let error = plan(&target, folder.path(), &scratch, &policy, &deadline)
            .await
            .err()
            .unwrap();
        assert_eq!((error.code(), error.to_string().as_str()), (code, message));
    }
    let folder = written(&[("schema.hcl", start)]);
    let planned = plan(&target, folder.path(), &scratch, &policy, &deadline)
        .await
        .unwrap();
    assert!(
        planned.plan.statements[0].sql.contains("CREATE TABLE"),
        "{:?}",
        planned.plan.statements
    );
    let rows = written(&[("schema.hcl", WITH_DATA), ("rows.yaml", "[{id: 1}]")]);
    let error = plan(&target, rows.path(), &scratch, &policy, &deadline)
        .await
        .err()
        .unwrap();
    assert_eq!(
        (error.code(), error.to_failure().object.as_deref()),
        ("unsupported_object", Some("t"))
    );
}

#[test]
fn a_folder_has_one_format() {
    let table = "table \"t\" {\n  column \"id\" { type = int }\n}\n";
    let yaml = "tables: {t: {columns: {a: {type: int}}}}\n";
    for (files, message) in [
        (
            &[("a.sql", "CREATE TABLE t ();"), ("b.hcl", table)][..],
            "a.sql and b.hcl are of different formats",
        ),
        (
            &[("b.sql", "CREATE TABLE t ();"), ("a.yml", yaml)],
            "b.sql and a.yml are of different formats",
        ),
        (
            &[("x/a.hcl", table), ("b.yaml", yaml)],
            "x/a.hcl and b.yaml are of different formats",
        ),
        (
            &[("a.yaml", yaml), ("b.yml", yaml)],
            "b.yml cannot be read: a.yaml stands there too",
        ),
        (
            &[("managed-data.json", ROWS)],
            "managed-data.json cannot be read: there is no .hcl beside it",
        ),
        (
            &[("a.hcl", table), ("b.json", "{}")],
            "b.json cannot be read: only .sql, .hcl, .yaml and .yml files",
        ),
        (
            &[("a.hcl", table), ("b.hcl", table)],
            "b.hcl:1: table \"t\": it is declared already, at a.hcl:1",
        ),
        (
            &[("a.hcl", table), ("managed-data.json", ROWS)],
            "managed-data.json:1: no data block names t",
        ),
        (
            &[("a.hcl", WITH_DATA)],
            "a.hcl:8: data: there is no file rows.yaml",
        ),
        (
            &[
                ("a.hcl", WITH_DATA),
                ("rows.yaml", "[{id: 1}]"),
                ("managed-data.json", ROWS),
            ],
            "managed-data.json and rows.yaml",
        ),
    ] {
        let folder = written(files);
        let error = inspect::read(folder.path()).unwrap_err();
        assert!(
            error.to_string().starts_with(message),
            "{error}\nis not\n{message}"
        );
    }
    let several = written(&[
        ("01.hcl", "// ptah:not-described role\nschema \"s\" {}\n"),
        (
            "sub/02.hcl",
            "# ptah:not-described domain \"d\"\ntable \"t\" {\n  schema = schema.s\n  column \"e\" { type = enum.e }\n}\n",
        ),
        (
            "03.HCL",
            "enum \"e\" {\n  schema = schema.s\n  values = [\"x\"]\n}\n",
        ),
        ("README.md", "x"),
        (".git/config", "x"),
    ]);
    let read = inspect::read(several.path()).unwrap();
    let found: Vec<(&str, usize, &str)> = read
        .statements
        .iter()
        .map(|s| (s.file.as_str(), s.line, s.sql.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("01.hcl", 2, "CREATE SCHEMA IF NOT EXISTS s"),
            ("03.HCL", 1, "CREATE TYPE s.e AS ENUM ('x')"),
            ("sub/02.hcl", 2, "CREATE TABLE s.t (\ne s.e NOT NULL\n)"),
        ]
    );
    assert_eq!((read.coverage.kinds.len(), read.coverage.objects.len()), (1, 1));
}

#[test]
fn declared_rows_are_read_whole_and_then_refused_by_name() {
    use inspect::{Cell, Tag};
    let artifact = written(&[("schema.hcl", WITH_DATA), ("managed-data.json", ROWS)]);
    let beside = written(&[("schema.hcl", WITH_DATA), ("rows.yaml", "- {id: 1, n: null}\n")]);
    for folder in [&artifact, &beside] {
        for path in [folder.path().to_owned(), folder.path().join("schema.hcl")] {
            let [set] = &inspect::read(&path).unwrap().rows[..] else {
                panic!()
            };
            assert_eq!(
                (set.table.as_str(), &set.keys[..], &set.columns[..]),
                (
                    "t",
                    &["id".to_owned()][..],
                    &["id".to_owned(), "n".to_owned()][..]
                )
            );
            assert_eq!(set.rows[0]["id"], Cell::Value(Tag::Integer, "1".to_owned()));
            assert_eq!(set.rows[0]["n"], Cell::Null);
        }
    }
    let kinds = "- {id: 1, n: -2.5e3}\n- {id: \"1\", n: yes}\n- {id: true, n: 2001-12-14}\n- {id: x, n: 10.0.0.1}\n- {id: y, n: 2001-12-14 10:00:00Z}\n- {id: z}\n";
    let folder = written(&[("schema.hcl", WITH_DATA), ("rows.yaml", kinds)]);
    let rows = &inspect::read(folder.path()).unwrap().rows[0].rows;
    let tags: Vec<_> = rows
        .iter()
        .flat_map(|row| row.values())
        .map(|cell| match cell {
            Cell::Value(tag, _) => *tag,
            Cell::Null => panic!(),
        })
        .collect();
    use Tag::{Bool, Float, Integer, Text, Timestamp};
    assert_eq!(
        tags,
        [
            Integer, Float, Text, Text, Bool, Timestamp, Text, Text, Text, Timestamp, Text
        ]
    );
    for (rows, message) in [
        ("- {n: x}", "rows.yaml:1: row 1 of t lacks the key \"id\""),
        ("- {id: }", "rows.yaml:1: row 1 of t has a null key \"id\""),
        (
            "- {id: 1}\n- {id: 1}",
            "rows.yaml:1: row 2 of t has the key of another",
        ),
        ("- {id: 1, m: 1}", "rows.yaml:1: t has no column \"m\""),
        (
            "- {id: 1, id: 2}",
            "rows.yaml:1: the key \"id\" stands there already, at line 1",
        ),
        (
            "- {id: 1}\n- {id: 007}",
            "rows.yaml:2: 007 is a number to some readers",
        ),
        (
            "- {id: 1}\n- {id: 0x1F}",
            "rows.yaml:2: 0x1F is a number to some readers",
        ),
        (
            "- {id: 1}\n- {id: 1_000}",
            "rows.yaml:2: 1_000 is a number to some readers",
        ),
        ("- {id: [1]}", "rows.yaml:1: a value is a single one"),
        ("- 1", "rows.yaml:1: a row is a map of columns"),
        ("a: 1", "rows.yaml:1: rows are a list of maps"),
    ] {
        let folder = written(&[("schema.hcl", WITH_DATA), ("rows.yaml", rows)]);
        let error = inspect::read(folder.path()).unwrap_err();
        assert!(
            error.to_string().starts_with(message),
            "{error}\nis not\n{message}"
        );
    }
    for (from, to, message) in [
        (
            "\"keys\"",
            "\"other\":1,\"keys\"",
            "it is not declared rows: unknown field `other`",
        ),
        ("]}]}", "]}]}{}", "it is not declared rows: trailing characters"),
        (
            "\"n\":null",
            "\"n\":null,\"n\":null",
            "it is not declared rows: a column stands in a row twice",
        ),
        (
            "\"tag\":\"int\"",
            "\"tag\":\"uuid\"",
            "it is not declared rows: unknown variant `uuid`",
        ),
        (
            "[\"id\",\"n\"]",
            "[\"n\",\"id\"]",
            "columns of t are not those of its rows, sorted",
        ),
        (
            "\"keys\":[\"id\"]",
            "\"keys\":[\"id\",\"n\"]",
            "row 1 of t has a null key \"n\"",
        ),
        (
            "\"table\":\"t\"",
            "\"table\":\"u\"",
            "schema.hcl:8: data: managed-data.json has no rows of it",
        ),
        ("\"n\":null", "\"m\":null", "t has no column \"m\""),
    ] {
        assert!(ROWS.contains(from));
        let folder = written(&[
            ("schema.hcl", WITH_DATA),
            ("managed-data.json", &ROWS.replacen(from, to, 1)),
        ]);
        let error = inspect::read(folder.path()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}\nis not\n{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_the_documentation_are_loaded() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/formats.md")).unwrap();
    for (fence, name) in [
        ("```sql\n", "schema.sql"),
        ("```hcl\n", "schema.hcl"),
        ("```yaml\n", "schema.yaml"),
    ] {
        let example = text.split(fence).nth(1).unwrap().split("```").next().unwrap();
        let folder = written(&[(name, example)]);
        let read = inspect::read(folder.path()).unwrap();
        assert!(read.statements.len() >= 5, "{name}: {}", read.statements.len());
        assert!(!read.coverage.kinds.is_empty());
        let database = server().database().await;
        assert_eq!(load_ours(&database, folder.path()).await, Ok(()), "{name}");
    }
}

mod arbitrary {
    use proptest::prelude::*;
    use ptah_engine::inspect;
    use squawk_syntax::ast::{SourceFile, Stmt};

    /// What SQL, HCL and YAML are made of, and what ends pieces of them.
    fn fragment() -> impl Strategy<Value = String> {
        let fixed = [
            "(",
            ")",
            ",",
            ";",
            "'",
            "''",
            "\"",
            "$$",
            "$a$",
            "--",
            "/*",
            "*/",
            "\n",
            " ",
            "\\",
            "E'\\'",
            "U&'",
            "[",
            "]",
            "{",
            "}",
            "${",
            "%{",
            "=",
            ".",
            ":",
            "::",
            "#",
            "//",
            "<<A\n",
            "A\n",
            "- ",
            "? ",
            "&a ",
            "*a",
            "!!str ",
            "|\n  ",
            "DROP TABLE t",
            "int",
            "NOT NULL",
            "DEFAULT",
            "CHECK",
            "SELECT 1",
            "AS",
            "sql(",
            "table",
            "column \"a\" ",
            "schema",
            "type = ",
            "tables:\n",
            "columns:\n",
            "for x in ",
            "dynamic ",
            "null",
            "1",
            "a",
            "é",
            "\u{0}",
        ];
        prop_oneof![
            9 => proptest::sample::select(fixed.to_vec()).prop_map(str::to_owned),
            1 => any::<char>().prop_map(String::from),
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec(fragment(), 0..12).prop_map(|parts| parts.concat())
    }

    fn quoted(text: &str) -> String {
        let escaped: String = text
            .chars()
            .map(|c| match c {
                '"' | '\\' => format!("\\{c}"),
                '\n' => "\\n".to_owned(),
                '\r' => "\\r".to_owned(),
                '\t' => "\\t".to_owned(),
                c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
                c => c.to_string(),
            })
            .collect();
        format!("\"{}\"", escaped.replace("${", "$${").replace("%{", "%%{"))
    }

    const PLACES: [&str; 16] = [
        "table \"t\" {\n  column \"a\" { type = sql(@) }\n}\n",
        "table \"t\" {\n  column \"a\" {\n    type    = int\n    default = sql(@)\n  }\n}\n",
        "table \"t\" {\n  column \"a\" {\n    type  = int\n    check = @\n  }\n}\n",
        "table \"t\" {\n  column \"a\" {\n    type    = int\n    comment = @\n  }\n}\n",
        "table \"t\" {\n  column \"a\" { type = int }\n  custom = @\n}\n",
        "table \"t\" {\n  column \"a\" {\n    type = int\n    identity { options = @ }\n  }\n}\n",
        "table \"t\" {\n  column \"a\" { type = int }\n  index \"i\" {\n    on { expr = @ }\n  }\n}\n",
        "table \"t\" {\n  column \"a\" { type = int }\n  index \"i\" {\n    columns = [column.a]\n    ops     = @\n  }\n}\n",
        "table \"t\" {\n  column \"a\" { type = int }\n  index \"i\" {\n    columns = [column.a]\n    type    = @\n  }\n}\n",
        "view \"v\" {\n  as = @\n}\n",
        "function \"f\" {\n  params = @\n  as     = \"SELECT 1\"\n}\n",
        "function \"f\" {\n  return = @\n  as     = \"SELECT 1\"\n}\n",
        "function \"f\" {\n  as = @\n}\n",
        "policy \"p\" {\n  on    = table.t\n  using = @\n}\n",
        "enum \"e\" { values = [@] }\n",
        "range \"r\" {\n  subtype         = int\n  subtype_opclass = @\n}\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn any_text_is_read_or_refused(text in text()) {
            let _ = inspect::hcl(&text);
            let _ = inspect::yaml(&text);
        }

        #[test]
        fn no_piece_makes_a_second_statement(place in proptest::sample::select(PLACES.to_vec()), piece in text()) {
            let plain = |piece: &str| inspect::hcl(&place.replace('@', &quoted(piece)));
            let count = ["int", "1", "a", "SELECT 1", "START WITH 1", ""]
                .iter()
                .filter_map(|piece| plain(piece).ok())
                .map(|read| read.statements.len())
                .max();
            if let Ok(read) = plain(&piece) {
                prop_assert!(Some(read.statements.len()) <= count, "{:?}", read.statements);
                for statement in &read.statements {
                    let parsed = SourceFile::parse(&statement.sql);
                    prop_assert_eq!(parsed.tree().stmts().count(), 1, "{}", &statement.sql);
                    // A piece that makes one more column or constraint has left its place.
                    if let Some(Stmt::CreateTable(table)) = parsed.tree().stmts().next() {
                        prop_assert_eq!(table.table_arg_list().unwrap().args().count(), 1, "{}", &statement.sql);
                    }
                }
            }
        }
    }
}

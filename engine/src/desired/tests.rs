use super::super::Desired;
use super::*;

fn read(text: &str) -> Result<Desired> {
    let mut desired = Desired::default();
    admit("schema.sql", text, &mut desired)?;
    Ok(desired)
}

#[test]
fn statements_that_declare_nothing_are_refused_by_name_and_line() {
    for (sql, kind) in [
        ("INSERT INTO t VALUES (1)", "INSERT"),
        ("COPY t FROM STDIN", "COPY"),
        ("DO $$ BEGIN END $$", "DO"),
        ("CALL p()", "CALL"),
        ("SELECT 1", "SELECT"),
        ("SELECT pg_catalog.set_config('role', 'x', false)", "SELECT"),
        (
            "SELECT pg_catalog.set_config('search_path', (SELECT 1)::text, false)",
            "SELECT",
        ),
        ("SET ROLE x", "SET ROLE"),
        ("SET work_mem = 1", "SET"),
        ("CREATE ROLE x", "CREATE ROLE"),
        ("CREATE USER x", "CREATE USER"),
        ("CREATE TABLE t AS SELECT 1", "CREATE TABLE AS"),
        ("BEGIN", "BEGIN"),
        ("COMMIT", "COMMIT"),
        ("ROLLBACK", "ROLLBACK"),
        ("UPDATE t SET a = 1", "UPDATE"),
        ("DELETE FROM t", "DELETE"),
        ("TRUNCATE t", "TRUNCATE"),
        ("VACUUM", "VACUUM"),
        ("CREATE DATABASE d", "CREATE DATABASE"),
        (
            "CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION f()",
            "CREATE EVENT TRIGGER",
        ),
        ("CREATE PUBLICATION p", "CREATE PUBLICATION"),
        ("CREATE LANGUAGE plperlu", "CREATE LANGUAGE"),
        ("ALTER ROLE x SUPERUSER", "ALTER ROLE"),
        ("ALTER SYSTEM SET work_mem = 1", "ALTER SYSTEM"),
        ("REFRESH MATERIALIZED VIEW m", "REFRESH"),
    ] {
        let text = format!("CREATE TABLE t (a int);\n\n-- why\n{sql};\n");
        let error = read(&text).err().unwrap_or_else(|| panic!("{sql} was admitted"));
        assert_eq!(error.kind(), Code::StatementNotAdmitted, "{sql}: {error}");
        assert!(
            error
                .to_string()
                .starts_with(&format!("schema.sql:4: {kind} is not admitted")),
            "{sql}: {error}"
        );
    }
}

#[test]
fn what_pg_dump_writes_around_its_statements_is_admitted() {
    let text = "--\n-- PostgreSQL database dump\n--\n\n\\restrict abC123\n\nSET statement_timeout = 0;\n\
        SET client_encoding = 'UTF8';\nSELECT pg_catalog.set_config('search_path', '', false);\n\
        SET check_function_bodies = false;\nCREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA public;\n\
        SET SESSION AUTHORIZATION joe;\nGRANT SELECT ON TABLE public.t TO joe;\nRESET SESSION AUTHORIZATION;\n\
        \\unrestrict abC123\n";
    let desired = read(text).unwrap();
    assert_eq!(
        desired.extensions,
        [Extension {
            name: "citext".into(),
            schema: Some("public".into()),
            place: "schema.sql:11".into()
        }]
    );
    let [grant] = desired.statements.as_slice() else {
        panic!("{:?}", desired.statements)
    };
    assert_eq!(
        (grant.line, grant.sql.as_str()),
        (13, "GRANT SELECT ON TABLE public.t TO joe")
    );
    assert_eq!(
        grant.settings,
        [
            "SELECT pg_catalog . set_config ( 'search_path' , '' , false )",
            "SET check_function_bodies = false"
        ]
    );
}

#[test]
fn sql_that_does_not_parse_names_file_and_line() {
    let error = read("CREATE TABLE a (x int);\nCREATE TABLE b (x int;\n")
        .err()
        .unwrap();
    assert_eq!(
        (error.code(), error.to_failure().object.as_deref()),
        ("desired_syntax", Some("schema.sql:2"))
    );
}

#[test]
fn a_plan_statement_is_exactly_one_declaration() {
    assert_eq!(
        single_statement_kind("ALTER TABLE t ADD COLUMN a int").as_deref(),
        Some("ALTER TABLE")
    );
    for sql in [
        "",
        "COMMIT",
        "DROP TABLE t; COMMIT",
        "DROP TABLE t; DROP TABLE u",
        "DELETE FROM t",
    ] {
        assert_eq!(single_statement_kind(sql), None, "{sql}");
    }
}

#[test]
fn nothing_that_nests_makes_the_parser_run_out_of_stack() {
    let times = |text: &str, n: usize| text.repeat(n);
    for n in [9_000, 200_000] {
        let expressions = [
            format!("{}1{}", times("(", n / 2), times(")", n / 2)),
            times("(", n),
            format!("{} true", times("NOT ", n)),
            format!("{} 1", times("- ", n)),
            format!("1{}", times("+1", n / 2)),
            format!("1{}", times("::int", n / 3)),
            format!("a{}", times(".a", n / 2)),
            format!("a{}", times("[1]", n / 3)),
            format!("{}1", times("CASE WHEN ", n / 2)),
            format!("{}1", times("ARRAY[", n / 2)),
            format!("{}1", times("f(", n / 2)),
            format!("true{}", times(" AND true", n / 2)),
        ];
        for expression in expressions {
            let _ = read(&format!("CREATE TABLE t (a int DEFAULT {expression});"));
        }
        for query in [
            format!("SELECT 1{}", times(" UNION SELECT 1", n / 3)),
            format!("SELECT * FROM a{}", times(" JOIN b ON true", n / 4)),
            format!("SELECT * FROM a{}", times(" JOIN b", n / 2)),
            format!("{}SELECT 1", times("(SELECT ", n / 2)),
            format!("{}SELECT 1", times("WITH a AS (", n / 4)),
        ] {
            let _ = read(&format!("CREATE VIEW v AS {query};"));
        }
        let _ = read(&times("EXPLAIN ", n));
        let _ = read(&times("/*", n));
        let _ = single_statement_kind(&format!("CREATE TABLE t (a int DEFAULT {})", times("(", n)));
    }
    let long = read(&format!(
        "CREATE TABLE ok (a int);\nCREATE TABLE t (a int DEFAULT {});",
        times("(", 20_000)
    ));
    let error = long.err().unwrap();
    assert_eq!(
        (error.code(), error.to_failure().object.as_deref()),
        ("desired_syntax", Some("schema.sql:2"))
    );
}

#[test]
fn a_table_of_1600_columns_and_a_type_of_many_values_are_not_too_long() {
    let columns: Vec<String> = (0..1600)
        .map(|i| format!("c{i} numeric(10, 2) NOT NULL DEFAULT (1 + 2)"))
        .collect();
    let labels: Vec<String> = (0..30_000).map(|i| format!("'{i}'")).collect();
    let text = format!(
        "CREATE TABLE t ({});\nCREATE TYPE e AS ENUM ({});",
        columns.join(", "),
        labels.join(", ")
    );
    assert_eq!(read(&text).unwrap().statements.len(), 2);
}

#[test]
fn a_rename_is_read_where_it_stands_and_refused_where_it_means_nothing() {
    let text = "-- ptah:renamed-from old\nCREATE TABLE IF NOT EXISTS s.fresh (\n  id int,\n  \
                -- ptah:renamed-from \"Was\"\n  now int,\n  -- ptah:renamed-from k\n  CONSTRAINT c CHECK (id > 0)\n);\n\
                -- ptah:renamed-from i\nCREATE UNIQUE INDEX CONCURRENTLY j ON s.fresh (id);\n\
                -- ptah:renamed-from f\nCREATE OR REPLACE FUNCTION g() RETURNS int LANGUAGE sql AS 'SELECT 1';\n";
    let desired = read(text).unwrap();
    let found: Vec<_> = desired
        .statements
        .iter()
        .flat_map(|statement| &statement.renames)
        .map(|r| (r.place.as_str(), r.name.as_str(), r.part.clone(), r.old.as_str()))
        .collect();
    use super::super::Part::{Column, Constraint};
    assert_eq!(
        found,
        [
            ("schema.sql:1", "fresh", None, "old"),
            ("schema.sql:4", "fresh", Some(Column("now".into())), "Was"),
            ("schema.sql:6", "fresh", Some(Constraint("c".into())), "k"),
            ("schema.sql:9", "j", None, "i"),
            ("schema.sql:11", "g", None, "f"),
        ]
    );
    for (text, line, why) in [
        (
            "-- ptah:renamed-from\nCREATE TABLE t ();",
            1,
            "wants exactly one name",
        ),
        (
            "-- ptah:renamed-from s.old\nCREATE TABLE t ();",
            1,
            "wants exactly one name",
        ),
        (
            "-- ptah:renamed-from a b\nCREATE TABLE t ();",
            1,
            "wants exactly one name",
        ),
        (
            "-- ptah:renamed-from old\n\nCREATE TABLE t ();",
            1,
            "stands above nothing",
        ),
        (
            "CREATE TABLE t ();\n-- ptah:renamed-from old",
            2,
            "stands above nothing",
        ),
        (
            "-- ptah:renamed-from old\nGRANT SELECT ON t TO r;",
            1,
            "stands above a statement that gives no name",
        ),
        (
            "CREATE TABLE t (\n  a int\n  -- ptah:renamed-from old\n  NOT NULL\n);",
            3,
            "stands above nothing that can have had another name",
        ),
        (
            "CREATE VIEW v AS\n-- ptah:renamed-from old\nSELECT 1 AS a;",
            2,
            "stands above nothing that can have had another name",
        ),
    ] {
        let error = read(text).err().unwrap_or_else(|| panic!("{text} was admitted"));
        assert_eq!(error.kind(), Code::DesiredSyntax, "{text}: {error}");
        let told = error.to_string();
        assert!(
            told.starts_with(&format!("schema.sql:{line}: ptah:renamed-from {why}")),
            "{text}: {told}"
        );
    }
}

#[test]
fn only_a_change_of_owner_that_is_nothing_else_runs_as_the_owner_of_everything() {
    for (sql, role) in [
        ("ALTER TABLE t OWNER TO app", Some(Some("app"))),
        (
            "ALTER FUNCTION s.f(integer, text) OWNER TO \"The App\"",
            Some(Some("The App")),
        ),
        ("ALTER TABLE t ADD COLUMN a int DEFAULT f(), OWNER TO app", None),
        ("ALTER TABLE t OWNER TO app, ADD COLUMN a int", None),
        ("ALTER TABLE t OWNER TO CURRENT_USER", None),
        ("ALTER TABLE t RENAME TO owner", None),
        ("COMMENT ON EXTENSION hstore IS 'x'", Some(None)),
        ("COMMENT ON TABLE t IS 'owner to app'", None),
    ] {
        let desired = read(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let found = desired.statements[0].by_owner.clone();
        assert_eq!(found, role.map(|role| role.map(str::to_owned)), "{sql}");
    }
}

-- A second statement, or another kind of statement, hidden from the parser.

-- case: carriage_return_ends_a_comment
-- expect: statement_not_admitted
-- words: schema.sql:1: ALTER SYSTEM is not admitted
CREATE TABLE t (a int) -- {cr}; ALTER SYSTEM SET work_mem = '1MB'
;
-- case: carriage_return_makes_it_create_table_as
-- expect: desired_syntax
-- words: schema.sql:1 does not parse
CREATE TABLE t -- {cr} AS SELECT pg_read_file('{canary}') AS a -- {lf} (a int);
-- case: nested_comment
-- expect: desired_missing_object
-- words: schema.sql:1
/* /* */ COPY t FROM PROGRAM 'id > {file}'; */ CREATE VIEW v AS SELECT * FROM nowhere;
-- case: comment_that_does_not_end
-- expect: desired_syntax
-- words: schema.sql:1
CREATE TABLE t (a int); /* /* */ COPY t TO PROGRAM 'cat > {file}';
-- case: backslash_in_a_string
-- expect: statement_not_admitted
-- words: COPY is not admitted
CREATE TABLE t (a text DEFAULT '\'); COPY t TO PROGRAM 'cat > {file}'; --');
-- case: backslash_in_an_escape_string
-- expect: desired_rejected
-- words: schema.sql:1
CREATE TABLE t (a int DEFAULT E'\'); COPY t TO PROGRAM ''cat > {file}''; --');
-- case: unsafe_escapes_by_setting
-- expect: statement_not_admitted
-- words: COPY is not admitted
SET standard_conforming_strings = off;
CREATE TABLE t (a text DEFAULT '\'); COPY t TO PROGRAM 'cat > {file}'; --');
-- case: dollar_quotes
-- expect: statement_not_admitted
-- words: COPY is not admitted
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $a$ SELECT 1 $a$; COPY t TO PROGRAM $$cat > {file}$$;
-- case: second_statement_in_a_body
-- expect: planned
-- words: materialized view public.m
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $a$ SELECT 1; SELECT 2; $a$;
CREATE MATERIALIZED VIEW m AS SELECT f();
-- case: unicode_identifier
-- expect: planned
CREATE TABLE U&"t\0022; COPY t TO PROGRAM 'cat > {file}'; --" (a int);
-- case: unicode_space
-- expect: desired_syntax
-- words: schema.sql:1 does not parse
CREATE TABLE t (a int);{nbsp}COPY t TO PROGRAM 'cat > {file}';
-- case: nul
-- expect: desired_syntax
-- words: schema.sql:1 does not parse
CREATE TABLE t (a int);{nul}COPY t TO PROGRAM 'cat > {file}';
-- case: name_that_is_sql
-- expect: planned
CREATE TABLE "t""; DROP TABLE x; --" ("a""; b" int DEFAULT 1, CONSTRAINT "c'; --" CHECK ("a""; b" > 0));
COMMENT ON TABLE "t""; DROP TABLE x; --" IS 'it''s; DROP TABLE x; \';
-- case: search_path_that_is_sql
-- expect: desired_missing_object
-- words: schema.sql:2 | no schema has been selected
SET search_path = 'public; COPY t TO PROGRAM ''cat > {file}''';
CREATE TABLE t (a int);
-- case: deep_nesting
-- expect: desired_syntax
-- words: schema.sql:1 does not parse | nested too deeply
CREATE TABLE t (a int DEFAULT {deep});

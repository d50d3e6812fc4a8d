-- Comments on every kind of object.

--- case: comments on a schema and its tables
--- from
CREATE SCHEMA s;
COMMENT ON SCHEMA s IS 'old';
CREATE TABLE s.t (a int);
--- to
CREATE SCHEMA s;
COMMENT ON SCHEMA s IS 'it''s new';
CREATE TABLE s.t (a int);
COMMENT ON TABLE s.t IS 't';
COMMENT ON COLUMN s.t.a IS E'two\nlines';

--- case: comments go
--- from
CREATE TABLE t (a int PRIMARY KEY);
COMMENT ON TABLE t IS 't';
COMMENT ON COLUMN t.a IS 'a';
COMMENT ON CONSTRAINT t_pkey ON t IS 'key';
COMMENT ON INDEX t_pkey IS 'index of the key';
--- to
CREATE TABLE t (a int PRIMARY KEY);
COMMENT ON TABLE t IS NULL;

--- case: constraints of every kind
--- sensitive
--- from
CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE, c int CHECK (c > 0), d int REFERENCES t, r int4range, EXCLUDE USING gist (r WITH &&));
--- to
CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE, c int CHECK (c > 0), d int REFERENCES t, r int4range, EXCLUDE USING gist (r WITH &&));
COMMENT ON CONSTRAINT t_pkey ON t IS 'a';
COMMENT ON CONSTRAINT t_b_key ON t IS 'b';
COMMENT ON CONSTRAINT t_c_check ON t IS 'c';
COMMENT ON CONSTRAINT t_d_fkey ON t IS 'd';
COMMENT ON CONSTRAINT t_r_excl ON t IS 'r';

--- case: an index, a sequence and statistics
--- from
CREATE TABLE t (a int, b int);
CREATE INDEX i ON t (a);
COMMENT ON INDEX i IS 'i';
CREATE SEQUENCE s;
CREATE STATISTICS st ON a, b FROM t;
--- to
CREATE TABLE t (a int, b int);
CREATE INDEX i ON t (a DESC);
COMMENT ON INDEX i IS 'i';
CREATE SEQUENCE s;
COMMENT ON SEQUENCE s IS 's';
CREATE STATISTICS st ON a, b FROM t;
COMMENT ON STATISTICS st IS 'st';

--- case: functions, procedures and aggregates of one name
--- from
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION f(text) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE PROCEDURE p() LANGUAGE sql AS 'SELECT 1';
CREATE AGGREGATE g(int) (sfunc = int4pl, stype = int);
COMMENT ON FUNCTION f(int) IS 'int';
--- to
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION f(text) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE PROCEDURE p() LANGUAGE sql AS 'SELECT 1';
CREATE AGGREGATE g(int) (sfunc = int4pl, stype = int);
COMMENT ON FUNCTION f(text) IS 'text';
COMMENT ON PROCEDURE p() IS 'p';
COMMENT ON AGGREGATE g(int) IS 'g';

--- case: types
--- from
CREATE TYPE e AS ENUM ('a');
CREATE TYPE c AS (x int);
CREATE DOMAIN d AS int CONSTRAINT k CHECK (VALUE > 0);
CREATE TYPE r AS RANGE (subtype = int4);
--- to
CREATE TYPE e AS ENUM ('a');
COMMENT ON TYPE e IS 'e';
CREATE TYPE c AS (x int);
COMMENT ON TYPE c IS 'c';
COMMENT ON COLUMN c.x IS 'x';
CREATE DOMAIN d AS int CONSTRAINT k CHECK (VALUE > 0);
COMMENT ON DOMAIN d IS 'd';
COMMENT ON CONSTRAINT k ON DOMAIN d IS 'k';
CREATE TYPE r AS RANGE (subtype = int4);
COMMENT ON TYPE r IS 'r';

--- case: views and their columns
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
CREATE MATERIALIZED VIEW m AS SELECT a FROM t;
COMMENT ON VIEW v IS 'old';
--- to
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
CREATE MATERIALIZED VIEW m AS SELECT a FROM t;
COMMENT ON VIEW v IS 'v';
COMMENT ON COLUMN v.a IS 'v.a';
COMMENT ON MATERIALIZED VIEW m IS 'm';
COMMENT ON COLUMN m.a IS 'm.a';

--- case: triggers, rules and policies
--- from
CREATE TABLE t (a int);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();
CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING;
CREATE POLICY r ON t USING (true);
--- to
CREATE TABLE t (a int);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();
CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING;
CREATE POLICY r ON t USING (true);
COMMENT ON TRIGGER r ON t IS 'trigger';
COMMENT ON RULE r ON t IS 'rule';
COMMENT ON POLICY r ON t IS 'policy';

--- case: a comment survives what makes its object again
--- from
CREATE TABLE t (a int, CONSTRAINT k UNIQUE (a));
CREATE VIEW v AS SELECT a FROM t;
CREATE FUNCTION f(t) RETURNS int LANGUAGE sql AS 'SELECT 1';
COMMENT ON CONSTRAINT k ON t IS 'k';
COMMENT ON COLUMN v.a IS 'v.a';
COMMENT ON FUNCTION f(t) IS 'f';
--- to
CREATE TABLE t (a text, CONSTRAINT k UNIQUE (a));
CREATE VIEW v AS SELECT a FROM t;
CREATE FUNCTION f(t) RETURNS text LANGUAGE sql AS 'SELECT ''1''';
COMMENT ON CONSTRAINT k ON t IS 'k';
COMMENT ON COLUMN v.a IS 'v.a';
COMMENT ON FUNCTION f(t) IS 'f';

--- case: an empty comment is none
--- same
--- from
CREATE TABLE t (a int);
COMMENT ON TABLE t IS '';
--- to
CREATE TABLE t (a int);

--- case: comments with every awkward character
--- from
CREATE TABLE t (a int, b int);
COMMENT ON TABLE t IS 'plain';
--- to
CREATE TABLE t (a int, b int);
COMMENT ON TABLE t IS 'quote '' backslash \ dollar $$ ünïcode 漢字 🐘 percent %s semicolon ; -- dashes /* star */';
COMMENT ON COLUMN t.a IS '	tab
line
';

--- case: comment on an extension's use is left alone
--- from
CREATE EXTENSION citext;
CREATE TABLE t (a citext);
--- to
CREATE EXTENSION citext;
CREATE TABLE t (a citext UNIQUE);

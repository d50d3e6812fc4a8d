-- Functions and procedures.

--- case: a body changes
--- from
CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS 'SELECT a + 1';
--- check
SELECT f(1) = 3;
--- to
CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS 'SELECT a + 2';

--- case: white space of a body
--- from
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
--- to
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$
  SELECT   1
$$;

--- case: quoting of a body is no change
--- same
--- from
CREATE FUNCTION f() RETURNS text LANGUAGE sql AS 'SELECT ''it''';
CREATE FUNCTION g() RETURNS int LANGUAGE sql AS 'SELECT 1';
--- to
CREATE FUNCTION f() RETURNS text LANGUAGE sql AS $body$SELECT 'it'$body$;
CREATE OR REPLACE FUNCTION g() RETURNS integer AS $$SELECT 1$$ LANGUAGE 'sql' VOLATILE CALLED ON NULL INPUT SECURITY INVOKER;

--- case: a body with dollars, quotes, backslashes and line ends
--- from
CREATE FUNCTION f() RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ''a''; END';
--- check
SELECT f() LIKE '%$$%';
--- to
CREATE FUNCTION f() RETURNS text LANGUAGE plpgsql AS $q$
DECLARE x text := '$$ $function$ it''s \n ; -- no comment';
BEGIN
	/* tab, and a body in a body */
	EXECUTE $x$ SELECT 1; $x$;
	RETURN x;
END;
$q$;

--- case: an overload comes and one goes
--- from
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION f(text) RETURNS int LANGUAGE sql AS 'SELECT 2';
--- to
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION f(text, text) RETURNS int LANGUAGE sql AS 'SELECT 2';
CREATE FUNCTION f(int[]) RETURNS int LANGUAGE sql AS 'SELECT 3';

--- case: an argument is renamed
--- from
CREATE FUNCTION f(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT $1';
--- to
CREATE FUNCTION f(x int, b int) RETURNS int LANGUAGE sql AS 'SELECT $1';

--- case: an argument gets a name
--- from
CREATE FUNCTION f(int, b int) RETURNS int LANGUAGE sql AS 'SELECT $1';
--- to
CREATE FUNCTION f(a int, int) RETURNS int LANGUAGE sql AS 'SELECT $1';

--- case: defaults of arguments
--- from
CREATE FUNCTION f(a int, b int DEFAULT 1, c text DEFAULT 'x') RETURNS int LANGUAGE sql AS 'SELECT a';
--- to
CREATE FUNCTION f(a int, b int, c text DEFAULT 'y' || 'z') RETURNS int LANGUAGE sql AS 'SELECT a';

--- case: return type
--- from
CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS 'SELECT a';
COMMENT ON FUNCTION f(int) IS 'f';
GRANT EXECUTE ON FUNCTION f(int) TO reader;
REVOKE EXECUTE ON FUNCTION f(int) FROM PUBLIC;
--- to
CREATE FUNCTION f(a int) RETURNS bigint LANGUAGE sql AS 'SELECT a::bigint';
COMMENT ON FUNCTION f(int) IS 'f';
GRANT EXECUTE ON FUNCTION f(int) TO reader;
REVOKE EXECUTE ON FUNCTION f(int) FROM PUBLIC;

--- case: results in a table
--- sensitive
--- from
CREATE FUNCTION f() RETURNS TABLE (a int, b text) LANGUAGE sql AS 'SELECT 1, ''x''';
CREATE VIEW v AS SELECT a FROM f();
--- check
SELECT a = 1 FROM v;
--- to
CREATE FUNCTION f() RETURNS TABLE (a int, b text, c date) LANGUAGE sql AS 'SELECT 1, ''x'', ''2020-01-01''::date';
CREATE VIEW v AS SELECT a FROM f();

--- case: out and inout arguments
--- from
CREATE FUNCTION f(a int, OUT b int, INOUT c text) LANGUAGE sql AS 'SELECT a, c';
--- to
CREATE FUNCTION f(a int, OUT x int, INOUT c text, OUT d text) LANGUAGE sql AS 'SELECT a, c, c';

--- case: a set of a table's rows
--- from
CREATE TABLE t (a int, b text);
CREATE FUNCTION f() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t';
CREATE VIEW v AS SELECT a FROM f();
--- rows
INSERT INTO t VALUES (1, 'x');
--- check
SELECT b = 'x' FROM t;
--- to
CREATE TABLE t (a bigint, b text, c int);
CREATE FUNCTION f() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t';
CREATE VIEW v AS SELECT a FROM f();

--- case: a set becomes one row and a row a set of records
--- from
CREATE FUNCTION f() RETURNS SETOF int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION g() RETURNS record LANGUAGE sql AS 'SELECT 1, 2';
--- to
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION g() RETURNS SETOF record LANGUAGE sql AS 'SELECT 1, 2';

--- case: variadic and polymorphic arguments
--- from
CREATE FUNCTION f(VARIADIC a int[]) RETURNS int LANGUAGE sql AS 'SELECT a[1]';
CREATE FUNCTION g(a anyelement) RETURNS anyelement LANGUAGE sql AS 'SELECT a';
--- to
CREATE FUNCTION f(a int[]) RETURNS int LANGUAGE sql AS 'SELECT a[1]';
CREATE FUNCTION g(a anyarray) RETURNS anyelement LANGUAGE sql AS 'SELECT a[1]';
CREATE FUNCTION h(a anycompatible, VARIADIC b anycompatiblearray) RETURNS int LANGUAGE sql AS 'SELECT 1';

--- case: properties
--- from
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT $1';
--- to
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 42 SECURITY DEFINER AS 'SELECT $1';

--- case: properties of a set
--- from
CREATE FUNCTION f() RETURNS SETOF int LANGUAGE sql STABLE ROWS 10 AS 'SELECT 1';
--- to
CREATE FUNCTION f() RETURNS SETOF int LANGUAGE sql VOLATILE PARALLEL RESTRICTED ROWS 500 COST 7 AS 'SELECT 1';

--- case: settings
--- sensitive
--- from
CREATE FUNCTION f() RETURNS int LANGUAGE sql SET search_path = public AS 'SELECT 1';
CREATE FUNCTION g() RETURNS int LANGUAGE sql AS 'SELECT 1';
--- to
CREATE FUNCTION f() RETURNS int LANGUAGE sql SET search_path = 'a b', pg_temp SET work_mem = '8MB' AS 'SELECT 1';
CREATE FUNCTION g() RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path TO '' SET "DateStyle" = 'ISO, DMY' SET statement_timeout = 1000 AS 'SELECT 1';

--- case: language from sql to plpgsql
--- from
CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS 'SELECT a';
--- to
CREATE FUNCTION f(a int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN a; END';

--- case: a function becomes a procedure
--- from
CREATE FUNCTION f(a int) RETURNS void LANGUAGE sql AS 'SELECT 1';
--- to
CREATE PROCEDURE f(a int) LANGUAGE sql AS 'SELECT 1';

--- case: procedures
--- from
CREATE TABLE t (id int);
CREATE PROCEDURE p(a int) LANGUAGE sql AS 'INSERT INTO t VALUES (a)';
--- to
CREATE TABLE t (id int);
CREATE PROCEDURE p(a int, INOUT b int DEFAULT 1) LANGUAGE plpgsql AS 'BEGIN INSERT INTO t VALUES (a); COMMIT; b := a; END';
COMMENT ON PROCEDURE p(int, int) IS 'p';
GRANT EXECUTE ON PROCEDURE p(int, int) TO reader;

--- case: a procedure with an argument that goes out
--- sensitive
--- from
CREATE PROCEDURE p(a int, OUT b int) LANGUAGE plpgsql AS 'BEGIN b := a; END';
--- to
CREATE PROCEDURE p(a int, OUT b text) LANGUAGE plpgsql AS 'BEGIN b := a; END';

--- case: a body of the standard
--- sensitive
--- from
CREATE TABLE t (id int, v text);
CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM t; END;
--- check
SELECT f() = 0;
--- to
CREATE TABLE t (id int, v text);
CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC INSERT INTO t VALUES (1, 'x'); DELETE FROM t; SELECT count(*) FROM t WHERE v = 'x'; END;

--- case: a body of the standard over a column that changes
--- sensitive
--- from
CREATE TABLE t (id int, v varchar(5), gone int);
CREATE FUNCTION f(x int) RETURNS text LANGUAGE sql RETURN (SELECT v FROM t WHERE id = x);
--- rows
INSERT INTO t VALUES (1, 'x', 2);
--- check
SELECT f(1) = 'x';
--- to
CREATE TABLE t (id bigint, v text);
CREATE FUNCTION f(x int) RETURNS text LANGUAGE sql RETURN (SELECT v FROM t WHERE id = x);

--- case: bodies of the standard over functions and views
--- sensitive
--- from
CREATE FUNCTION a() RETURNS int LANGUAGE sql RETURN 1;
CREATE FUNCTION b() RETURNS int LANGUAGE sql RETURN a() + 1;
CREATE VIEW v AS SELECT b() AS x;
CREATE FUNCTION c() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT x FROM v; END;
--- check
SELECT c() = 3;
--- to
CREATE FUNCTION a() RETURNS bigint LANGUAGE sql RETURN 2;
CREATE FUNCTION b() RETURNS int LANGUAGE sql RETURN a()::int + 1;
CREATE VIEW v AS SELECT b() AS x;
CREATE FUNCTION c() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT x FROM v; END;

--- case: text becomes a body of the standard
--- sensitive
--- from
CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT a + 1';
--- to
CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql IMMUTABLE RETURN a + 1;

--- case: functions that call one another
--- from
CREATE FUNCTION a(int) RETURNS int LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION b(int) RETURNS int LANGUAGE sql AS 'SELECT a($1)';
--- check
SELECT b(1) = 1;
--- to
CREATE FUNCTION z(int) RETURNS int LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION b(int) RETURNS int LANGUAGE sql AS 'SELECT z($1)';

--- case: a body that depends on the search path
--- from
CREATE SCHEMA s;
CREATE TABLE s.t (id int);
CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SET search_path = s AS 'SELECT count(*) FROM s.t';
--- to
CREATE SCHEMA s;
CREATE TABLE s.t (id int);
CREATE TABLE s.u (id int);
SET search_path = s, public;
SET check_function_bodies = off;
CREATE FUNCTION public.f() RETURNS bigint LANGUAGE sql SET search_path = s AS 'SELECT count(*) FROM u, t';
SET check_function_bodies = on;
SET search_path = public;

--- case: a body that names a table that comes later
--- from
CREATE TABLE t (id int);
--- to
SET check_function_bodies = false;
CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM later';
CREATE TABLE t (id int);
CREATE TABLE later (id int);

--- case: in a default, an index, a check, a policy, a trigger and a view at once
--- from
CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT a';
CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE t (a int DEFAULT f(1) CHECK (f(a) > 0), g int GENERATED ALWAYS AS (f(a)) STORED);
CREATE INDEX i ON t (f(a)) WHERE f(a) > 1;
CREATE POLICY p ON t USING (f(a) = 1);
CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW WHEN (f(NEW.a) > 0) EXECUTE FUNCTION tf();
CREATE VIEW v AS SELECT f(a) AS x FROM t;
--- rows
INSERT INTO t DEFAULT VALUES;
--- check
SELECT a = 1 AND g = 1 FROM t;
--- to
CREATE FUNCTION f(b int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT b';
CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE t (a int DEFAULT f(1) CHECK (f(a) > 0), g int GENERATED ALWAYS AS (f(a)) STORED);
CREATE INDEX i ON t (f(a)) WHERE f(a) > 1;
CREATE POLICY p ON t USING (f(a) = 1);
CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW WHEN (f(NEW.a) > 0) EXECUTE FUNCTION tf();
CREATE VIEW v AS SELECT f(a) AS x FROM t;

--- case: a trigger function changes
--- from
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE t (a int);
CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();
--- to
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN OLD; END';
CREATE TABLE t (a int);
CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();

--- case: a window function and a support clause are told apart by name only
--- from
CREATE FUNCTION "Weird f"(a int, "B b" text) RETURNS int LANGUAGE sql AS 'SELECT a';
--- to
CREATE FUNCTION "Weird f"("A" int, "B b" text, "select" int DEFAULT 1) RETURNS int LANGUAGE sql AS 'SELECT 1';

--- case: arguments of types in another schema
--- from
CREATE SCHEMA s;
CREATE TYPE s.e AS ENUM ('a');
CREATE DOMAIN s.d AS int;
CREATE FUNCTION f(s.e, s.d[]) RETURNS s.e LANGUAGE sql AS 'SELECT $1';
--- to
CREATE SCHEMA s;
CREATE TYPE s.e AS ENUM ('a', 'b');
CREATE DOMAIN s.d AS int;
CREATE FUNCTION f(s.e, s.d[]) RETURNS s.d LANGUAGE sql AS 'SELECT $2[1]';

--- case: an event in a set-returning default argument chain
--- from
CREATE FUNCTION a() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION b(x int DEFAULT a()) RETURNS int LANGUAGE sql AS 'SELECT x';
CREATE TABLE t (id int DEFAULT b());
--- to
CREATE FUNCTION a() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION b(x bigint DEFAULT a()) RETURNS bigint LANGUAGE sql AS 'SELECT x';
CREATE TABLE t (id bigint DEFAULT b());

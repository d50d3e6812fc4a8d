-- Aggregates.

--- case: an aggregate is new
--- from
CREATE TABLE t (a int);
--- to
CREATE TABLE t (a int);
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int, initcond = '0');
CREATE VIEW v AS SELECT total(a) FROM t;

--- case: its start changes
--- from
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int, initcond = '0');
--- check
SELECT total(x) = 13 FROM (VALUES (1), (2)) AS v (x);
--- to
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int, initcond = '10');

--- case: its state's type changes under a view
--- from
CREATE TABLE t (a int);
CREATE FUNCTION add(bigint, int) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int, initcond = '0');
CREATE VIEW v AS SELECT total(a) AS x FROM t;
--- to
CREATE TABLE t (a int);
CREATE FUNCTION add(bigint, int) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
CREATE AGGREGATE total(int) (sfunc = add, stype = bigint, initcond = '0');
CREATE VIEW v AS SELECT total(a) AS x FROM t;

--- case: a final function and its properties
--- from
CREATE FUNCTION fin(int) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1::text';
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int);
--- to
CREATE FUNCTION fin(int) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1::text';
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int, sspace = 16, finalfunc = fin, finalfunc_modify = shareable, initcond = '1', sortop = <);

--- case: its transition function gains an argument's name
--- from
CREATE FUNCTION step(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
CREATE AGGREGATE total(int) (sfunc = step, stype = int);
--- to
CREATE FUNCTION step(state int, value int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT state + value';
CREATE AGGREGATE total(int) (sfunc = step, stype = int);

--- case: a moving aggregate
--- from
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int);
--- to
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int, msfunc = int4pl, minvfunc = int4mi, mstype = int, minitcond = '0');

--- case: a parallel aggregate
--- sensitive
--- from
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int);
--- to
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int, combinefunc = int4pl, parallel = safe);

--- case: an ordered set
--- from
CREATE FUNCTION step(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $2';
CREATE FUNCTION fin(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE AGGREGATE pick(int ORDER BY int) (sfunc = step, stype = int, finalfunc = fin);
--- to
CREATE FUNCTION step(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $2';
CREATE FUNCTION fin(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE AGGREGATE pick(p int ORDER BY v int) (sfunc = step, stype = int, finalfunc = fin, initcond = '5');

--- case: of no argument, of several and variadic
--- from
CREATE FUNCTION one(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
CREATE AGGREGATE rows_seen(*) (sfunc = one, stype = int, initcond = '0');
--- to
CREATE FUNCTION one(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
CREATE FUNCTION two(int, int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2 * $3';
CREATE FUNCTION many(int, int[]) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2[1]';
CREATE AGGREGATE rows_seen(*) (sfunc = one, stype = int, initcond = '1');
CREATE AGGREGATE weighed(int, int) (sfunc = two, stype = int, initcond = '0');
CREATE AGGREGATE firsts(VARIADIC int[]) (sfunc = many, stype = int, initcond = '0');

--- case: comments and grants of an aggregate
--- from
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int);
COMMENT ON AGGREGATE total(int) IS 'sum';
--- to
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int, initcond = '1');
COMMENT ON AGGREGATE total(int) IS 'total';
GRANT EXECUTE ON FUNCTION total(int) TO reader;
REVOKE EXECUTE ON FUNCTION total(int) FROM PUBLIC;

--- case: a function becomes an aggregate
--- from
CREATE FUNCTION total(int) RETURNS int LANGUAGE sql AS 'SELECT $1';
--- to
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int);

--- case: an aggregate over a composite state
--- from
CREATE TYPE st AS (s int, n int);
CREATE FUNCTION step(st, int) RETURNS st LANGUAGE sql IMMUTABLE AS 'SELECT ROW(($1).s + $2, ($1).n + 1)::st';
CREATE AGGREGATE mean(int) (sfunc = step, stype = st, initcond = '(0,0)');
--- to
CREATE TYPE st AS (s int, n int, m int);
CREATE FUNCTION step(st, int) RETURNS st LANGUAGE sql IMMUTABLE AS 'SELECT ROW(($1).s + $2, ($1).n + 1, 0)::st';
CREATE AGGREGATE mean(int) (sfunc = step, stype = st, initcond = '(0,0,0)');

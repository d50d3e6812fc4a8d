-- Extended statistics.

--- case: statistics are new
--- from
CREATE TABLE t (a int, b int);
--- to
CREATE TABLE t (a int, b int);
CREATE STATISTICS s ON a, b FROM t;

--- case: kinds
--- from
CREATE TABLE t (a int, b int);
CREATE STATISTICS s (ndistinct) ON a, b FROM t;
--- to
CREATE TABLE t (a int, b int);
CREATE STATISTICS s (dependencies, mcv) ON a, b FROM t;

--- case: expressions
--- sensitive
--- from
CREATE TABLE t (a int, b text);
CREATE STATISTICS s ON lower(b) FROM t;
--- to
CREATE TABLE t (a int, b text);
CREATE STATISTICS s ON upper(b), (a + 1), a FROM t;

--- case: target
--- sensitive
--- from
CREATE TABLE t (a int, b int);
CREATE STATISTICS s ON a, b FROM t;
ALTER STATISTICS s SET STATISTICS 100;
CREATE STATISTICS r ON a, b FROM t;
--- to
CREATE TABLE t (a int, b int);
CREATE STATISTICS s ON a, b FROM t;
CREATE STATISTICS r ON a, b FROM t;
ALTER STATISTICS r SET STATISTICS 0;

--- case: columns
--- from
CREATE TABLE t (a int, b int, c int);
CREATE STATISTICS s ON a, b FROM t;
COMMENT ON STATISTICS s IS 's';
--- to
CREATE TABLE t (a int, b int, c int);
CREATE STATISTICS s ON a, b, c FROM t;
COMMENT ON STATISTICS s IS 's';

--- case: a new column in the middle of the table
--- from
CREATE TABLE t (a int, c int);
CREATE STATISTICS s ON a, c FROM t;
--- to
CREATE TABLE t (a int, b int, c int);
CREATE STATISTICS s ON a, b, c FROM t;

--- case: the type of a column
--- from
CREATE TABLE t (a int, b varchar(10));
CREATE STATISTICS s (mcv) ON a, b FROM t;
CREATE STATISTICS e ON lower(b) FROM t;
--- rows
INSERT INTO t VALUES (1, 'x');
--- check
SELECT b = 'x' FROM t;
--- to
CREATE TABLE t (a bigint, b text);
CREATE STATISTICS s (mcv) ON a, b FROM t;
CREATE STATISTICS e ON lower(b) FROM t;

--- case: a column goes
--- from
CREATE TABLE t (a int, b int, c int);
CREATE STATISTICS s ON a, b, c FROM t;
--- to
CREATE TABLE t (a int, b int);
CREATE STATISTICS s ON a, b FROM t;

--- case: statistics move to another table and schema
--- from
CREATE SCHEMA x;
CREATE TABLE t (a int, b int);
CREATE TABLE u (a int, b int);
CREATE STATISTICS s ON a, b FROM t;
--- to
CREATE SCHEMA x;
CREATE TABLE t (a int, b int);
CREATE TABLE u (a int, b int);
CREATE STATISTICS s ON a, b FROM u;
CREATE STATISTICS x.s ON a, b FROM t;

--- case: through a function that changes
--- from
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE TABLE t (a int, b int);
CREATE STATISTICS s ON f(a) FROM t;
--- to
CREATE FUNCTION f(int) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1::text';
CREATE TABLE t (a int, b int);
CREATE STATISTICS s ON f(a) FROM t;

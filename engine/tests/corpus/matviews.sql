-- Materialized views.

--- case: a materialized view is new with an index
--- from
CREATE TABLE t (a int, b int);
--- rows
INSERT INTO t VALUES (1, 2);
--- check
SELECT a = 1 FROM m;
--- to
CREATE TABLE t (a int, b int);
CREATE MATERIALIZED VIEW m AS SELECT a, sum(b) AS s FROM t GROUP BY a;
CREATE UNIQUE INDEX m_a ON m (a);

--- case: its query changes
--- from
CREATE TABLE t (a int, b int);
CREATE MATERIALIZED VIEW m AS SELECT a FROM t;
CREATE INDEX m_a ON m (a);
COMMENT ON MATERIALIZED VIEW m IS 'm';
COMMENT ON COLUMN m.a IS 'a';
GRANT SELECT ON m TO reader;
--- to
CREATE TABLE t (a int, b int);
CREATE MATERIALIZED VIEW m AS SELECT a FROM t WHERE b > 0;
CREATE INDEX m_a ON m (a);
COMMENT ON MATERIALIZED VIEW m IS 'm';
COMMENT ON COLUMN m.a IS 'a';
GRANT SELECT ON m TO reader;

--- case: a chain of materialized and ordinary views
--- sensitive
--- from
CREATE TABLE t (a int);
CREATE MATERIALIZED VIEW m1 AS SELECT a FROM t;
CREATE VIEW v AS SELECT a FROM m1;
CREATE MATERIALIZED VIEW m2 AS SELECT a FROM v;
CREATE UNIQUE INDEX m2_a ON m2 (a);
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = 1 FROM m2;
--- to
CREATE TABLE t (a bigint);
CREATE MATERIALIZED VIEW m1 AS SELECT a FROM t;
CREATE VIEW v AS SELECT a FROM m1;
CREATE MATERIALIZED VIEW m2 AS SELECT a FROM v;
CREATE UNIQUE INDEX m2_a ON m2 (a);

--- case: only its indexes change
--- from
CREATE TABLE t (a int, b int);
CREATE MATERIALIZED VIEW m AS SELECT a, b FROM t;
CREATE INDEX m_a ON m (a);
--- to
CREATE TABLE t (a int, b int);
CREATE MATERIALIZED VIEW m AS SELECT a, b FROM t;
CREATE INDEX m_a ON m (a, b);
CREATE UNIQUE INDEX m_u ON m (a) WHERE b > 0;
ALTER MATERIALIZED VIEW m CLUSTER ON m_a;

--- case: options and statistics
--- refused forward: unsupported_object | public.m.a
--- refused backward: unsupported_object | public.m.a
--- from
CREATE TABLE t (a int, b text);
CREATE MATERIALIZED VIEW m AS SELECT a, b FROM t;
--- to
CREATE TABLE t (a int, b text);
CREATE MATERIALIZED VIEW m WITH (fillfactor = 70, autovacuum_enabled = false) AS SELECT a, b FROM t;
ALTER MATERIALIZED VIEW m ALTER COLUMN a SET STATISTICS 400;
ALTER MATERIALIZED VIEW m ALTER COLUMN b SET STORAGE EXTERNAL;

--- case: without rows
--- from
CREATE TABLE t (a int);
--- to
CREATE TABLE t (a int);
CREATE MATERIALIZED VIEW m AS SELECT a FROM t WITH NO DATA;

--- case: a materialized view becomes a view
--- from
CREATE TABLE t (a int);
CREATE MATERIALIZED VIEW m AS SELECT a FROM t;
CREATE INDEX m_a ON m (a);
CREATE VIEW w AS SELECT a FROM m;
--- to
CREATE TABLE t (a int);
CREATE VIEW m AS SELECT a FROM t;
CREATE VIEW w AS SELECT a FROM m;

--- case: through a function that changes
--- from
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT $1';
CREATE TABLE t (a int);
CREATE MATERIALIZED VIEW m AS SELECT f(a) AS x FROM t;
--- to
CREATE FUNCTION f(int) RETURNS text LANGUAGE sql AS 'SELECT $1::text';
CREATE TABLE t (a int);
CREATE MATERIALIZED VIEW m AS SELECT f(a) AS x FROM t;

--- case: names of columns
--- from
CREATE TABLE t (a int, b int);
CREATE MATERIALIZED VIEW m (x, y) AS SELECT a, b FROM t;
--- to
CREATE TABLE t (a int, b int);
CREATE MATERIALIZED VIEW m (x, z) AS SELECT a, b FROM t;

--- case: statistics over a materialized view
--- from
CREATE TABLE t (a int, b int);
CREATE MATERIALIZED VIEW m AS SELECT a, b FROM t;
--- to
CREATE TABLE t (a int, b int);
CREATE MATERIALIZED VIEW m AS SELECT a, b FROM t;
CREATE STATISTICS s ON a, b FROM m;

--- case: a materialized view in use keeps its rows when nothing changed
--- from
CREATE TABLE t (a int);
CREATE MATERIALIZED VIEW m AS SELECT a FROM t;
CREATE TABLE u (x int);
--- rows
INSERT INTO t VALUES (1); REFRESH MATERIALIZED VIEW m; DELETE FROM t;
--- check
SELECT a = 1 FROM m;
--- to
CREATE TABLE t (a int);
CREATE MATERIALIZED VIEW m AS SELECT a FROM t;
CREATE TABLE u (x int, y int);

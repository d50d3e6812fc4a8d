-- Views.

--- case: a column at the end
--- from
CREATE TABLE t (a int, b text);
CREATE VIEW v AS SELECT a FROM t;
GRANT SELECT ON v TO reader;
--- to
CREATE TABLE t (a int, b text);
CREATE VIEW v AS SELECT a, b FROM t;
GRANT SELECT ON v TO reader;

--- case: a column in the middle under another view
--- sensitive
--- from
CREATE TABLE t (a int, b text, c date);
CREATE VIEW v AS SELECT a, c FROM t;
CREATE VIEW w AS SELECT c FROM v;
COMMENT ON VIEW w IS 'w';
GRANT SELECT ON v TO reader;
--- to
CREATE TABLE t (a int, b text, c date);
CREATE VIEW v AS SELECT a, b, c FROM t;
CREATE VIEW w AS SELECT c FROM v;
COMMENT ON VIEW w IS 'w';
GRANT SELECT ON v TO reader;

--- case: a column is renamed
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a AS x FROM t;
CREATE VIEW w AS SELECT x FROM v;
--- to
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a AS y FROM t;
CREATE VIEW w AS SELECT y AS x FROM v;

--- case: names after the view's own
--- from
CREATE TABLE t (a int, b int);
CREATE VIEW v (x, y) AS SELECT a, b FROM t;
--- to
CREATE TABLE t (a int, b int);
CREATE VIEW v (x, z) AS SELECT a, b FROM t;

--- case: a column is retyped
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
--- to
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a::text AS a FROM t;

--- case: the query changes and the columns stay
--- from
CREATE TABLE t (a int, b int);
CREATE VIEW v AS SELECT a FROM t;
CREATE VIEW w AS SELECT a FROM v;
--- to
CREATE TABLE t (a int, b int);
CREATE VIEW v AS SELECT a FROM t WHERE b > 0 ORDER BY b DESC NULLS LAST LIMIT 5;
CREATE VIEW w AS SELECT a FROM v;

--- case: a chain of six loses a column at its root
--- sensitive
--- from
CREATE TABLE t (a int, b int, c int);
CREATE VIEW v1 AS SELECT a, b, c FROM t;
CREATE VIEW v2 AS SELECT a, b, c FROM v1;
CREATE VIEW v3 AS SELECT a, b FROM v2;
CREATE VIEW v4 AS SELECT v3.a, v2.b FROM v3 JOIN v2 USING (a);
CREATE VIEW v5 AS SELECT a FROM v4 UNION ALL SELECT b FROM v1;
CREATE VIEW v6 AS WITH x AS (SELECT a FROM v5) SELECT a FROM x;
--- rows
INSERT INTO t VALUES (1, 2, 3);
--- check
SELECT count(*) = 2 FROM v6;
--- to
CREATE TABLE t (a int, b int);
CREATE VIEW v1 AS SELECT a, b FROM t;
CREATE VIEW v2 AS SELECT a, b FROM v1;
CREATE VIEW v3 AS SELECT a, b FROM v2;
CREATE VIEW v4 AS SELECT v3.a, v2.b FROM v3 JOIN v2 USING (a);
CREATE VIEW v5 AS SELECT a FROM v4 UNION ALL SELECT b FROM v1;
CREATE VIEW v6 AS WITH x AS (SELECT a FROM v5) SELECT a FROM x;

--- case: two views change places
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
CREATE VIEW w AS SELECT a FROM v;
--- to
CREATE TABLE t (a int);
CREATE VIEW w AS SELECT a FROM t;
CREATE VIEW v AS SELECT a FROM w;

--- case: security barrier
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
--- to
CREATE TABLE t (a int);
CREATE VIEW v WITH (security_barrier) AS SELECT a FROM t;

--- case: security barrier said and not said to be off
--- from
CREATE TABLE t (a int);
CREATE VIEW v WITH (security_barrier = false) AS SELECT a FROM t;
--- to
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;

--- case: security invoker
--- since: 15
--- sensitive
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
--- to
CREATE TABLE t (a int);
CREATE VIEW v WITH (security_invoker = true, security_barrier = true) AS SELECT a FROM t;

--- case: check option
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t WHERE a > 0 WITH LOCAL CHECK OPTION;
CREATE VIEW w AS SELECT a FROM t WHERE a > 0;
--- to
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t WHERE a > 0 WITH CASCADED CHECK OPTION;
CREATE VIEW w AS SELECT a FROM t WHERE a > 1 WITH CHECK OPTION;

--- case: defaults of a view's columns
--- from
CREATE TABLE t (a int, b text);
CREATE VIEW v AS SELECT a, b FROM t;
ALTER VIEW v ALTER COLUMN a SET DEFAULT 1;
--- to
CREATE TABLE t (a int, b text);
CREATE VIEW v AS SELECT a, b FROM t;
ALTER VIEW v ALTER COLUMN a SET DEFAULT 2;
ALTER VIEW v ALTER COLUMN b SET DEFAULT 'b';

--- case: defaults and triggers of a view that is made again
--- sensitive
--- from
CREATE TABLE t (a int, b text);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE VIEW v AS SELECT a, b FROM t;
ALTER VIEW v ALTER COLUMN a SET DEFAULT 1;
CREATE TRIGGER r INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION f();
COMMENT ON COLUMN v.b IS 'b';
GRANT SELECT (b), UPDATE (b) ON v TO reader;
--- to
CREATE TABLE t (a bigint, b text);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE VIEW v AS SELECT a, b FROM t;
ALTER VIEW v ALTER COLUMN a SET DEFAULT 1;
CREATE TRIGGER r INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION f();
COMMENT ON COLUMN v.b IS 'b';
GRANT SELECT (b), UPDATE (b) ON v TO reader;

--- case: a recursive view
--- sensitive
--- from
CREATE TABLE t (id int, up int);
CREATE RECURSIVE VIEW v (id, depth) AS SELECT id, 0 FROM t WHERE up IS NULL UNION ALL SELECT t.id, v.depth + 1 FROM t JOIN v ON t.up = v.id;
--- rows
INSERT INTO t VALUES (1, NULL), (2, 1);
--- check
SELECT max(depth) = 1 FROM v;
--- to
CREATE TABLE t (id bigint, up bigint);
CREATE RECURSIVE VIEW v (id, depth) AS SELECT id, 0 FROM t WHERE up IS NULL UNION ALL SELECT t.id, v.depth + 1 FROM t JOIN v ON t.up = v.id WHERE v.depth < 100;

--- case: search and cycle
--- sensitive
--- from
CREATE TABLE t (id int, up int);
CREATE VIEW v AS WITH RECURSIVE r AS (SELECT id, up FROM t UNION ALL SELECT t.id, t.up FROM t JOIN r ON t.up = r.id) SELECT id FROM r;
--- to
CREATE TABLE t (id int, up int);
CREATE VIEW v AS WITH RECURSIVE r AS (SELECT id, up FROM t UNION ALL SELECT t.id, t.up FROM t JOIN r ON t.up = r.id) SEARCH DEPTH FIRST BY id SET o CYCLE id SET looped USING way SELECT id, looped FROM r ORDER BY o;

--- case: windows, grouping sets, filters and lateral joins
--- sensitive
--- from
CREATE TABLE t (a int, b text, c date);
CREATE VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a;
--- to
CREATE TABLE t (a int, b text, c date);
CREATE VIEW v AS SELECT a, count(*) FILTER (WHERE b > 'x') AS n, grouping(a) AS g FROM t GROUP BY GROUPING SETS ((a), ());
CREATE VIEW w AS SELECT a, row_number() OVER win AS r, sum(a) OVER (win ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM t WINDOW win AS (PARTITION BY b ORDER BY c);
CREATE VIEW x AS SELECT t.a, l.k FROM t CROSS JOIN LATERAL (SELECT max(u.c) AS k FROM t u WHERE u.a = t.a) l;
CREATE VIEW y AS SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, c DESC;

--- case: a column of the table under a view with a star
--- from
CREATE TABLE t (a int, b int);
CREATE VIEW v AS SELECT * FROM t;
--- to
CREATE TABLE t (a int, b int, c int);
CREATE VIEW v AS SELECT * FROM t;

--- case: a whole row and an alias with columns
--- from
CREATE TABLE t (a int, b int);
CREATE VIEW v AS SELECT t AS r FROM t;
--- to
CREATE TABLE t (a int, b int);
CREATE VIEW v AS SELECT x AS r, x.p FROM t AS x (p, q);

--- case: the type of a column of a view used by a function's argument
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
CREATE FUNCTION f(v) RETURNS int LANGUAGE sql AS 'SELECT ($1).a';
CREATE VIEW w AS SELECT f(v) AS x FROM v;
--- to
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a::bigint AS a FROM t;
CREATE FUNCTION f(v) RETURNS int LANGUAGE sql AS 'SELECT ($1).a::int';
CREATE VIEW w AS SELECT f(v) AS x FROM v;

--- case: values, json and xml-free constants
--- sensitive
--- from
CREATE VIEW v AS SELECT 1 AS a;
--- to
CREATE VIEW v AS SELECT * FROM (VALUES (1, 'x'::text, '{"a": 1}'::jsonb, interval '1 day', '2020-01-01 00:00+02'::timestamptz, ARRAY[1.5, 2], NULL::int)) AS x (a, b, c, d, e, f, g);

--- case: a json table
--- since: 17
--- sensitive
--- from
CREATE TABLE t (d jsonb);
CREATE VIEW v AS SELECT 1 AS id FROM t;
--- to
CREATE TABLE t (d jsonb);
CREATE VIEW v AS SELECT j.id FROM t, JSON_TABLE(d, '$[*]' COLUMNS (id int PATH '$.id')) AS j;

--- case: a view in a schema over a view of the same name
--- from
CREATE SCHEMA s;
CREATE TABLE t (a int);
CREATE VIEW s.v AS SELECT a FROM t;
CREATE VIEW v AS SELECT a FROM s.v;
--- to
CREATE SCHEMA s;
CREATE TABLE t (a int, b int);
CREATE VIEW s.v AS SELECT b, a FROM t;
CREATE VIEW v AS SELECT a, b FROM s.v;

-- Generated columns, stored everywhere and virtual since 18.

--- case: a stored column is new
--- from
CREATE TABLE t (a int, b int);
--- rows
INSERT INTO t VALUES (2, 3);
--- check
SELECT c = 6 FROM t;
--- to
CREATE TABLE t (a int, b int, c int GENERATED ALWAYS AS (a * b) STORED);

--- case: its expression changes
--- sensitive
--- from
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + 1) STORED);
--- rows
INSERT INTO t VALUES (2);
--- check
SELECT c = 4 FROM t;
--- to
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a * 2) STORED);
--- rows backward
INSERT INTO t VALUES (2);
--- check backward
SELECT c = 3 FROM t;

--- case: its expression changes under an index, a view and a check
--- sensitive
--- from
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + 1) STORED CHECK (c > 0));
CREATE INDEX t_c ON t (c) WHERE c > 5;
CREATE VIEW v AS SELECT c FROM t;
COMMENT ON COLUMN t.c IS 'sum';
GRANT SELECT (c) ON t TO reader;
--- rows
INSERT INTO t VALUES (2);
--- check
SELECT c = 4 FROM v;
--- to
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a * 2) STORED CHECK (c > 0));
CREATE INDEX t_c ON t (c) WHERE c > 5;
CREATE VIEW v AS SELECT c FROM t;
COMMENT ON COLUMN t.c IS 'sum';
GRANT SELECT (c) ON t TO reader;

--- case: its type changes
--- from
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + 1) STORED);
--- rows
INSERT INTO t VALUES (2);
--- check
SELECT c = 3 FROM t;
--- to
CREATE TABLE t (a int, c bigint GENERATED ALWAYS AS (a + 1) STORED);

--- case: type of its base column changes
--- sensitive
--- from
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + 1) STORED);
--- rows
INSERT INTO t VALUES (2);
--- check
SELECT c = 3 FROM t;
--- to
CREATE TABLE t (a bigint, c bigint GENERATED ALWAYS AS (a + 1) STORED);

--- case: type of the base column changes and not that of the generated
--- from
CREATE TABLE t (a varchar(10), c int GENERATED ALWAYS AS (length(a)) STORED);
--- rows
INSERT INTO t VALUES ('abc');
--- check
SELECT c = 3 FROM t;
--- to
CREATE TABLE t (a text, c int GENERATED ALWAYS AS (length(a)) STORED);

--- case: a stored column becomes plain and keeps its values
--- refused backward: unsupported_change | public.t.c
--- from
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + 1) STORED);
--- rows
INSERT INTO t VALUES (2);
--- check
SELECT c = 3 FROM t;
--- to
CREATE TABLE t (a int, c int);
--- rows backward
INSERT INTO t VALUES (2, 100);

--- case: through an immutable function
--- from
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (f(a)) STORED);
--- rows
INSERT INTO t VALUES (2);
--- check
SELECT a = 2 FROM t;
--- to
CREATE FUNCTION f(int, int DEFAULT 1) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (f(a, 2)) STORED);

--- case: a chain from function to column to index to view
--- sensitive
--- from
CREATE FUNCTION f(x int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT x + 1';
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (f(a)) STORED);
CREATE UNIQUE INDEX t_c ON t (c);
CREATE VIEW v AS SELECT c, a FROM t;
CREATE VIEW w AS SELECT sum(c) AS s FROM v;
--- to
CREATE FUNCTION f(y int) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT y::bigint';
CREATE TABLE t (a int, c bigint GENERATED ALWAYS AS (f(a)) STORED);
CREATE UNIQUE INDEX t_c ON t (c);
CREATE VIEW v AS SELECT c, a FROM t;
CREATE VIEW w AS SELECT sum(c) AS s FROM v;

--- case: not null and statistics of a stored column
--- sensitive
--- from
CREATE TABLE t (a int NOT NULL, c int GENERATED ALWAYS AS (a + 1) STORED);
--- to
CREATE TABLE t (a int NOT NULL, c int NOT NULL GENERATED ALWAYS AS (a + 1) STORED);
ALTER TABLE t ALTER COLUMN c SET STATISTICS 500;

--- case: json fields as columns
--- from
CREATE TABLE t (doc jsonb, name text GENERATED ALWAYS AS (doc ->> 'name') STORED);
--- rows
INSERT INTO t VALUES ('{"name": "x", "age": 4}');
--- check
SELECT name = 'x' AND age = 4 FROM t;
--- to
CREATE TABLE t (doc jsonb, name text GENERATED ALWAYS AS (lower(doc ->> 'name')) STORED, age int GENERATED ALWAYS AS ((doc ->> 'age')::int) STORED);

--- case: full text search
--- from
CREATE TABLE t (title text, body text, search tsvector GENERATED ALWAYS AS (to_tsvector('english', title)) STORED);
CREATE INDEX t_search ON t USING gin (search);
--- rows
INSERT INTO t VALUES ('wolves', 'running');
--- check
SELECT search @@ 'run'::tsquery FROM t;
--- to
CREATE TABLE t (title text, body text, search tsvector GENERATED ALWAYS AS (setweight(to_tsvector('english', coalesce(title, '')), 'A') || to_tsvector('english', coalesce(body, ''))) STORED);
CREATE INDEX t_search ON t USING gin (search);

--- case: a base column is replaced
--- from
CREATE TABLE t (a int, b int, c int GENERATED ALWAYS AS (a) STORED);
--- rows
INSERT INTO t VALUES (1, 2);
--- check
SELECT b = 2 AND c = 2 FROM t;
--- to
CREATE TABLE t (b int, c int GENERATED ALWAYS AS (b) STORED);

--- case: key of a foreign key
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE t (a int, k int GENERATED ALWAYS AS (a % 10) STORED REFERENCES p);
--- rows
INSERT INTO p VALUES (2); INSERT INTO t VALUES (12);
--- check
SELECT k = 2 FROM t;
--- to
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE t (a int, k int GENERATED ALWAYS AS (a - 10) STORED REFERENCES p);

--- case: a case expression on several lines
--- from
CREATE TABLE t (a int, c text GENERATED ALWAYS AS (CASE WHEN a > 0 THEN 'p' ELSE 'n' END) STORED);
--- to
CREATE TABLE t (a int, c text GENERATED ALWAYS AS (CASE WHEN a > 0 THEN 'p' WHEN a = 0 THEN 'z' ELSE 'n' END) STORED);

--- case: a virtual column is new
--- since: 18
--- sensitive
--- from
CREATE TABLE t (a int);
--- rows
INSERT INTO t VALUES (2);
--- check
SELECT c = 3 AND d = 4 FROM t;
--- to
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + 1) VIRTUAL, d int GENERATED ALWAYS AS (a + 2));

--- case: expression of a virtual column
--- since: 18
--- sensitive
--- from
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + 1));
CREATE VIEW v AS SELECT c FROM t;
--- rows
INSERT INTO t VALUES (2);
--- check
SELECT c = 4 FROM v;
--- to
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a * 2));
CREATE VIEW v AS SELECT c FROM t;

--- case: virtual to stored
--- since: 18
--- sensitive
--- from
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + 1) VIRTUAL);
--- rows
INSERT INTO t VALUES (2);
--- check
SELECT c = 3 FROM t;
--- to
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + 1) STORED);
CREATE INDEX t_c ON t (c);
--- rows backward
INSERT INTO t VALUES (2);
--- check backward
SELECT c = 3 FROM t;

--- case: virtual with a constraint
--- since: 18
--- sensitive
--- from
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + 1) VIRTUAL);
--- to
CREATE TABLE t (a bigint, c bigint GENERATED ALWAYS AS (a + 1) VIRTUAL NOT NULL, CHECK (c < 100));

--- case: virtual becomes plain
--- since: 18
--- sensitive
--- refused forward: unsupported_change | public.t.c
--- refused backward: unsupported_change | public.t.c
--- from
CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + 1) VIRTUAL);
--- to
CREATE TABLE t (a int, c int);

--- case: a partition has an expression of its own
--- from
CREATE TABLE p (k int, a int, c int GENERATED ALWAYS AS (a + 1) STORED) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
--- to
CREATE TABLE p (k int, a int, b int, c int GENERATED ALWAYS AS (a + 2) STORED) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);

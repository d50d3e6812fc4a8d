-- Indexes of every method and with every property.

--- case: a btree appears
--- from
CREATE TABLE t (a int, b text);
--- rows
INSERT INTO t VALUES (1, 'x');
--- check
SELECT count(*) = 1 FROM t;
--- to
CREATE TABLE t (a int, b text);
CREATE INDEX i ON t (a);
CREATE UNIQUE INDEX u ON t (a, b);

--- case: order and nulls
--- from
CREATE TABLE t (a int, b text);
CREATE INDEX i ON t (a, b);
--- to
CREATE TABLE t (a int, b text);
CREATE INDEX i ON t (a DESC, b ASC NULLS FIRST);

--- case: descending with nulls last
--- from
CREATE TABLE t (a int);
CREATE INDEX i ON t (a DESC);
--- to
CREATE TABLE t (a int);
CREATE INDEX i ON t (a DESC NULLS LAST);

--- case: method from btree to hash
--- from
CREATE TABLE t (a text);
CREATE INDEX i ON t (a);
--- to
CREATE TABLE t (a text);
CREATE INDEX i ON t USING hash (a);

--- case: gin over arrays and documents
--- from
CREATE TABLE t (a int[], d jsonb);
CREATE INDEX i ON t USING gin (a);
CREATE INDEX j ON t USING gin (d);
--- to
CREATE TABLE t (a int[], d jsonb);
CREATE INDEX i ON t USING gin (a) WITH (fastupdate = off);
CREATE INDEX j ON t USING gin (d jsonb_path_ops);

--- case: gist over points and ranges
--- from
CREATE TABLE t (p point, r int4range);
CREATE INDEX i ON t USING gist (p);
--- to
CREATE TABLE t (p point, r int4range);
CREATE INDEX i ON t USING gist (p, r) WITH (fillfactor = 60, buffering = on);

--- case: spgist
--- from
CREATE TABLE t (p point, s text);
CREATE INDEX i ON t USING spgist (p);
--- to
CREATE TABLE t (p point, s text);
CREATE INDEX i ON t USING spgist (p kd_point_ops);
CREATE INDEX j ON t USING spgist (s) INCLUDE (p);

--- case: brin and its parameters
--- from
CREATE TABLE t (a int, at timestamptz);
CREATE INDEX i ON t USING brin (at);
--- to
CREATE TABLE t (a int, at timestamptz);
CREATE INDEX i ON t USING brin (at timestamptz_minmax_multi_ops (values_per_range = 16), a int4_bloom_ops (n_distinct_per_range = 100, false_positive_rate = 0.05)) WITH (pages_per_range = 32, autosummarize = on);

--- case: parameters of an operator class
--- from
CREATE EXTENSION pg_trgm;
CREATE TABLE t (a text);
CREATE INDEX i ON t USING gist (a gist_trgm_ops);
--- to
CREATE EXTENSION pg_trgm;
CREATE TABLE t (a text);
CREATE INDEX i ON t USING gist (a gist_trgm_ops (siglen = 32));

--- case: operator class for patterns
--- from
CREATE TABLE t (a text, b varchar(10));
CREATE INDEX i ON t (a);
CREATE INDEX j ON t (b varchar_pattern_ops);
--- to
CREATE TABLE t (a text, b varchar(10));
CREATE INDEX i ON t (a text_pattern_ops);
CREATE INDEX j ON t (b);

--- case: collation of a key
--- from
CREATE TABLE t (a text);
CREATE INDEX i ON t (a);
--- to
CREATE TABLE t (a text);
CREATE INDEX i ON t (a COLLATE "C");

--- case: an expression
--- from
CREATE TABLE t (a text, b int);
CREATE INDEX i ON t (lower(a));
--- to
CREATE TABLE t (a text, b int);
CREATE INDEX i ON t (upper(a), (b + 1), ((a || b::text)));

--- case: an expression through a function whose body changes
--- from
CREATE FUNCTION f(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower($1)';
CREATE TABLE t (a text);
CREATE INDEX i ON t (f(a));
--- rows
INSERT INTO t VALUES ('X');
--- check
SELECT f(a) = 'X!' FROM t;
--- to
CREATE FUNCTION f(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT upper($1) || ''!''';
CREATE TABLE t (a text);
CREATE INDEX i ON t (f(a));

--- case: an expression through a function that gains an argument
--- from
CREATE FUNCTION f(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower($1)';
CREATE TABLE t (a text);
CREATE UNIQUE INDEX i ON t (f(a));
--- to
CREATE FUNCTION f(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower($1) || $2';
CREATE TABLE t (a text);
CREATE UNIQUE INDEX i ON t (f(a, 'x'));

--- case: a partial index
--- from
CREATE TABLE t (a int, gone boolean);
CREATE UNIQUE INDEX i ON t (a);
--- rows
INSERT INTO t VALUES (1, true), (2, false);
--- check
SELECT count(*) = 2 FROM t;
--- to
CREATE TABLE t (a int, gone boolean);
CREATE UNIQUE INDEX i ON t (a) WHERE NOT gone;

--- case: predicates of lists and enums
--- sensitive
--- from
CREATE TYPE s AS ENUM ('new', 'done');
CREATE TABLE t (a int, s s, k text);
CREATE INDEX i ON t (a) WHERE s = 'new';
CREATE INDEX j ON t (a) WHERE k IN ('x', 'y');
--- to
CREATE TYPE s AS ENUM ('new', 'done', 'void');
CREATE TABLE t (a int, s s, k text);
CREATE INDEX i ON t (a) WHERE s IN ('new', 'done');
CREATE INDEX j ON t (a) WHERE k = ANY (ARRAY['x', 'y', 'z']) AND a IS NOT NULL;

--- case: included columns
--- from
CREATE TABLE t (a int, b int, c text);
CREATE UNIQUE INDEX i ON t (a);
--- to
CREATE TABLE t (a int, b int, c text);
CREATE UNIQUE INDEX i ON t (a) INCLUDE (b, c);

--- case: storage options change in place
--- from
CREATE TABLE t (a int, b text);
CREATE INDEX i ON t (a);
CREATE INDEX j ON t (b) WITH (fillfactor = 50);
--- to
CREATE TABLE t (a int, b text);
CREATE INDEX i ON t (a) WITH (fillfactor = 80, deduplicate_items = off);
CREATE INDEX j ON t (b);

--- case: statistics target of an expression
--- sensitive
--- from
CREATE TABLE t (a int, b int);
CREATE INDEX i ON t (a, (a + b));
--- to
CREATE TABLE t (a int, b int);
CREATE INDEX i ON t (a, (a + b));
ALTER INDEX i ALTER COLUMN 2 SET STATISTICS 300;

--- case: unique nulls not distinct on an index
--- since: 15
--- sensitive
--- from
CREATE TABLE t (a int, b int);
CREATE UNIQUE INDEX i ON t (a, b);
--- to
CREATE TABLE t (a int, b int);
CREATE UNIQUE INDEX i ON t (a, b) NULLS NOT DISTINCT WHERE a > 0;

--- case: clustered on another index
--- from
CREATE TABLE t (a int, b int);
CREATE INDEX i ON t (a);
CREATE INDEX j ON t (b);
ALTER TABLE t CLUSTER ON i;
--- to
CREATE TABLE t (a int, b int);
CREATE INDEX i ON t (a);
CREATE INDEX j ON t (b);
ALTER TABLE t CLUSTER ON j;

--- case: no longer clustered
--- from
CREATE TABLE t (a int);
CREATE INDEX i ON t (a);
ALTER TABLE t CLUSTER ON i;
--- to
CREATE TABLE t (a int);
CREATE INDEX i ON t (a);

--- case: an index moves to another table
--- from
CREATE TABLE t (a int);
CREATE TABLE u (a int);
CREATE INDEX i ON t (a);
--- to
CREATE TABLE t (a int);
CREATE TABLE u (a int);
CREATE INDEX i ON u (a);

--- case: two indexes swap their names
--- from
CREATE TABLE t (a int, b int);
CREATE INDEX i ON t (a);
CREATE INDEX j ON t (b);
--- to
CREATE TABLE t (a int, b int);
CREATE INDEX j ON t (a);
CREATE INDEX i ON t (b);

--- case: the index that is the replica identity changes
--- from
CREATE TABLE t (a int NOT NULL, b int NOT NULL);
CREATE UNIQUE INDEX i ON t (a);
ALTER TABLE t REPLICA IDENTITY USING INDEX i;
--- to
CREATE TABLE t (a int NOT NULL, b int NOT NULL);
CREATE UNIQUE INDEX i ON t (a, b);
ALTER TABLE t REPLICA IDENTITY USING INDEX i;

--- case: the index under a foreign key changes
--- from
CREATE TABLE p (a int NOT NULL, b int);
CREATE UNIQUE INDEX i ON p (a);
CREATE TABLE c (a int REFERENCES p (a));
--- rows
INSERT INTO p VALUES (1, 1); INSERT INTO c VALUES (1);
--- check
SELECT count(*) = 1 FROM c;
--- to
CREATE TABLE p (a int NOT NULL, b int);
CREATE UNIQUE INDEX i ON p (a) INCLUDE (b);
CREATE TABLE c (a int REFERENCES p (a));

--- case: type of the key changes
--- sensitive
--- from
CREATE TABLE t (a int, b text, c varchar(5));
CREATE INDEX i ON t (a) WHERE a > 0;
CREATE INDEX j ON t (lower(c));
CREATE INDEX k ON t USING hash (b);
--- rows
INSERT INTO t VALUES (1, '2', 'X');
--- check
SELECT a = 1 AND b = 2 AND c = 'X' FROM t;
--- to
CREATE TABLE t (a bigint, b int, c text);
CREATE INDEX i ON t (a) WHERE a > 0;
CREATE INDEX j ON t (lower(c));
CREATE INDEX k ON t USING hash (b);

--- case: comment, tables of one name and long names
--- from
CREATE TABLE t (a_rather_long_name_of_a_column_that_is_near_the_limit_of_names int, b int);
CREATE INDEX ON t (a_rather_long_name_of_a_column_that_is_near_the_limit_of_names);
--- to
CREATE TABLE t (a_rather_long_name_of_a_column_that_is_near_the_limit_of_names int, b int);
CREATE INDEX ON t (a_rather_long_name_of_a_column_that_is_near_the_limit_of_names, b);
CREATE INDEX ON t (b);
CREATE INDEX ON t ((b + 1));

--- case: a unique index becomes the primary key
--- sensitive
--- from
CREATE TABLE t (a int NOT NULL);
CREATE UNIQUE INDEX t_pkey ON t (a);
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a int NOT NULL, CONSTRAINT t_pkey PRIMARY KEY (a));

--- case: index on the whole row and on a system function
--- from
CREATE TABLE t (a int, b timestamptz);
CREATE INDEX i ON t (date_trunc('day', b AT TIME ZONE 'UTC'));
--- to
CREATE TABLE t (a int, b timestamptz);
CREATE INDEX i ON t (date_trunc('hour', b AT TIME ZONE 'UTC'));
CREATE INDEX j ON t ((t IS NULL));

--- case: index over a column of a composite
--- from
CREATE TYPE p AS (x int, y int);
CREATE TABLE t (p p);
CREATE INDEX i ON t (((p).x));
--- to
CREATE TYPE p AS (x int, y int);
CREATE TABLE t (p p);
CREATE INDEX i ON t (((p).y), ((p).x));
CREATE INDEX j ON t (p);

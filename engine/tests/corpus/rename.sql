-- Declared renames: the comment stands above the object in the target, and the rows stay.

--- case: a table takes a new name
--- sensitive
--- from
CREATE TABLE old (id int PRIMARY KEY, a text UNIQUE, b int CHECK (b > 0), n serial);
CREATE INDEX old_b ON old (b);
--- rows
INSERT INTO old VALUES (1, 'x', 2), (2, 'y', 2);
--- check
SELECT a = 'x' FROM fresh WHERE id = 1;
SELECT last_value = 2 FROM fresh_n_seq;
--- to
-- ptah:renamed-from old
CREATE TABLE fresh (id int PRIMARY KEY, a text UNIQUE, b int CHECK (b > 0), n serial);
CREATE INDEX old_b ON fresh (b);

--- case: a table takes a new name and back
--- sensitive
--- from
-- ptah:renamed-from fresh
CREATE TABLE old (id int PRIMARY KEY, up int REFERENCES old);
--- rows
INSERT INTO old VALUES (1, 1);
--- check
SELECT id = 1 FROM fresh;
--- to
-- ptah:renamed-from old
CREATE TABLE fresh (id int PRIMARY KEY, up int REFERENCES fresh);
--- rows backward
INSERT INTO fresh VALUES (1, 1);
--- check backward
SELECT id = 1 FROM old;

--- case: a column takes a new name
--- sensitive
--- from
CREATE TABLE t (
  id int PRIMARY KEY,
  old text NOT NULL
);
CREATE INDEX i ON t (old);
CREATE VIEW v AS SELECT old FROM t;
--- rows
INSERT INTO t VALUES (1, 'x');
--- check
SELECT fresh = 'x' FROM t;
--- to
CREATE TABLE t (
  id int PRIMARY KEY,
  -- ptah:renamed-from old
  fresh text NOT NULL
);
CREATE INDEX i ON t (fresh);
CREATE VIEW v AS SELECT fresh FROM t;

--- case: a column takes a new name and back, under everything
--- sensitive
--- from
CREATE TABLE t (
  id int PRIMARY KEY,
  -- ptah:renamed-from fresh
  old int NOT NULL DEFAULT 1 UNIQUE CHECK (old > 0),
  g int GENERATED ALWAYS AS (old + 1) STORED
);
CREATE INDEX i ON t (old) WHERE old > 5;
CREATE POLICY p ON t USING (old > 0);
COMMENT ON COLUMN t.old IS 'it';
GRANT SELECT (old) ON t TO reader;
CREATE TABLE c (x int REFERENCES t (old));
--- rows
INSERT INTO t VALUES (1, 7);
--- check
SELECT fresh = 7 AND g = 8 FROM t;
--- to
CREATE TABLE t (
  id int PRIMARY KEY,
  -- ptah:renamed-from old
  fresh int NOT NULL DEFAULT 1 UNIQUE CHECK (fresh > 0),
  g int GENERATED ALWAYS AS (fresh + 1) STORED
);
CREATE INDEX i ON t (fresh) WHERE fresh > 5;
CREATE POLICY p ON t USING (fresh > 0);
COMMENT ON COLUMN t.fresh IS 'it';
GRANT SELECT (fresh) ON t TO reader;
CREATE TABLE c (x int REFERENCES t (fresh));
--- rows backward
INSERT INTO t VALUES (1, 7);
--- check backward
SELECT old = 7 FROM t;

--- case: a column takes a new name and type
--- from
CREATE TABLE t (
  id int,
  old varchar(5)
);
--- rows
INSERT INTO t VALUES (1, '42');
--- check
SELECT fresh = 42 FROM t;
--- to
CREATE TABLE t (
  id int,
  -- ptah:renamed-from old
  fresh bigint
);

--- case: a table and its column take new names
--- from
CREATE TABLE old (
  id int,
  a text
);
CREATE VIEW v AS SELECT a FROM old;
--- rows
INSERT INTO old VALUES (1, 'x');
--- check
SELECT b = 'x' FROM fresh;
--- to
-- ptah:renamed-from old
CREATE TABLE fresh (
  id int,
  -- ptah:renamed-from a
  b text
);
CREATE VIEW v AS SELECT b AS a FROM fresh;

--- case: a column takes the name that another gives up
--- from
CREATE TABLE t (
  a int,
  b int
);
--- rows
INSERT INTO t VALUES (1, 2);
--- check
SELECT b = 1 AND c = 2 FROM t;
--- to
CREATE TABLE t (
  -- ptah:renamed-from a
  b int,
  -- ptah:renamed-from b
  c int
);

--- case: an index and a constraint take new names
--- from
CREATE TABLE t (
  a int,
  b int,
  CONSTRAINT old_key UNIQUE (a),
  CONSTRAINT old_check CHECK (b > 0)
);
CREATE INDEX old_index ON t (b);
--- rows
INSERT INTO t VALUES (1, 2);
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (
  a int,
  b int,
  -- ptah:renamed-from old_key
  CONSTRAINT new_key UNIQUE (a),
  -- ptah:renamed-from old_check
  CONSTRAINT new_check CHECK (b > 0)
);
-- ptah:renamed-from old_index
CREATE INDEX new_index ON t (b);

--- case: an enum takes a new name
--- from
CREATE TYPE old AS ENUM ('a', 'b');
CREATE TABLE t (e old DEFAULT 'a');
--- rows
INSERT INTO t VALUES ('b');
--- check
SELECT e = 'b' FROM t;
--- to
-- ptah:renamed-from old
CREATE TYPE fresh AS ENUM ('a', 'b');
CREATE TABLE t (e fresh DEFAULT 'a');

--- case: a composite and a domain take new names
--- refused backward: unsupported_change | public.t.c
--- from
CREATE TYPE old_c AS (x int);
CREATE DOMAIN old_d AS int CHECK (VALUE > 0);
CREATE TABLE t (c old_c, d old_d);
--- rows
INSERT INTO t VALUES (ROW(1), 2);
--- check
SELECT (c).x = 1 AND d = 2 FROM t;
--- to
-- ptah:renamed-from old_c
CREATE TYPE new_c AS (x int);
-- ptah:renamed-from old_d
CREATE DOMAIN new_d AS int CHECK (VALUE > 0);
CREATE TABLE t (c new_c, d new_d);

--- case: a sequence takes a new name
--- from
CREATE SEQUENCE old;
CREATE TABLE t (id int DEFAULT nextval('old'));
--- rows
INSERT INTO t DEFAULT VALUES; INSERT INTO t DEFAULT VALUES;
--- check
SELECT last_value = 2 FROM fresh;
--- to
-- ptah:renamed-from old
CREATE SEQUENCE fresh;
CREATE TABLE t (id int DEFAULT nextval('fresh'));

--- case: a view and a materialized view take new names
--- from
CREATE TABLE t (a int);
CREATE VIEW old_v AS SELECT a FROM t;
CREATE MATERIALIZED VIEW old_m AS SELECT a FROM old_v;
CREATE INDEX m_a ON old_m (a);
COMMENT ON VIEW old_v IS 'v';
--- rows
INSERT INTO t VALUES (1); REFRESH MATERIALIZED VIEW old_m; DELETE FROM t;
--- check
SELECT a = 1 FROM new_m;
--- to
CREATE TABLE t (a int);
-- ptah:renamed-from old_v
CREATE VIEW new_v AS SELECT a FROM t;
-- ptah:renamed-from old_m
CREATE MATERIALIZED VIEW new_m AS SELECT a FROM new_v;
CREATE INDEX m_a ON new_m (a);
COMMENT ON VIEW new_v IS 'v';

--- case: a function takes a new name under a default
--- from
CREATE FUNCTION old(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION old(text) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE TABLE t (a int DEFAULT old(1), g int GENERATED ALWAYS AS (old(a)) STORED);
--- rows
INSERT INTO t DEFAULT VALUES;
--- check
SELECT g = 1 FROM t;
--- to
-- ptah:renamed-from old
CREATE FUNCTION fresh(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION old(text) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE TABLE t (a int DEFAULT fresh(1), g int GENERATED ALWAYS AS (fresh(a)) STORED);

--- case: a partitioned table and a partition take new names
--- from
CREATE TABLE old (k int, v text) PARTITION BY LIST (k);
CREATE TABLE old_1 PARTITION OF old FOR VALUES IN (1);
--- rows
INSERT INTO old VALUES (1, 'x');
--- check
SELECT v = 'x' FROM new_1;
--- to
-- ptah:renamed-from old
CREATE TABLE fresh (k int, v text) PARTITION BY LIST (k);
-- ptah:renamed-from old_1
CREATE TABLE new_1 PARTITION OF fresh FOR VALUES IN (1);

--- case: a rename that was done already is none
--- same
--- from
CREATE TABLE fresh (
  id int,
  b text
);
--- rows
INSERT INTO fresh VALUES (1, 'x');
--- check
SELECT b = 'x' FROM fresh;
--- to
-- ptah:renamed-from old
CREATE TABLE fresh (
  id int,
  -- ptah:renamed-from a
  b text
);

--- case: a quoted name
--- from
CREATE TABLE "Old ""Name" (
  "The Column" int
);
--- rows
INSERT INTO "Old ""Name" VALUES (1);
--- check
SELECT "Another" = 1 FROM "New.Name";
--- to
-- ptah:renamed-from "Old ""Name"
CREATE TABLE "New.Name" (
  -- ptah:renamed-from "The Column"
  "Another" int
);

--- case: a table that others refer to takes a new name in another schema's view
--- from
CREATE SCHEMA s;
CREATE TABLE old (id int PRIMARY KEY);
CREATE TABLE c (old_id int REFERENCES old);
CREATE VIEW s.v AS SELECT id FROM old;
--- rows
INSERT INTO old VALUES (1); INSERT INTO c VALUES (1);
--- check
SELECT id = 1 FROM s.v;
SELECT count(*) = 1 FROM c;
--- to
CREATE SCHEMA s;
-- ptah:renamed-from old
CREATE TABLE fresh (id int PRIMARY KEY);
CREATE TABLE c (old_id int REFERENCES fresh);
CREATE VIEW s.v AS SELECT id FROM fresh;

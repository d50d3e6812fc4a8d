-- Storage, compression, options and logging of tables and columns.

--- case: storage of columns
--- sensitive
--- from
CREATE TABLE t (a text, b text, c int, d jsonb);
--- rows
INSERT INTO t VALUES ('a', 'b', 1, '{}');
--- check
SELECT a = 'a' FROM t;
--- to
CREATE TABLE t (a text, b text, c int, d jsonb);
ALTER TABLE t ALTER COLUMN a SET STORAGE EXTERNAL, ALTER COLUMN b SET STORAGE MAIN, ALTER COLUMN d SET STORAGE PLAIN;

--- case: storage of a new column and of one that changes its type
--- from
CREATE TABLE t (a varchar(10));
ALTER TABLE t ALTER COLUMN a SET STORAGE EXTERNAL;
--- to
CREATE TABLE t (a text, b text);
ALTER TABLE t ALTER COLUMN a SET STORAGE EXTERNAL;
ALTER TABLE t ALTER COLUMN b SET STORAGE EXTERNAL;

--- case: a new type sets storage back
--- from
CREATE TABLE t (a text);
ALTER TABLE t ALTER COLUMN a SET STORAGE EXTERNAL;
--- to
CREATE TABLE t (a jsonb);

--- case: compression
--- sensitive
--- from
CREATE TABLE t (a text, b text COMPRESSION pglz);
--- to
CREATE TABLE t (a text COMPRESSION pglz, b text);

--- case: compression of columns that change and are new
--- from
CREATE TABLE t (a varchar(10) COMPRESSION pglz, n int);
--- to
CREATE TABLE t (a text COMPRESSION pglz, n int, b jsonb COMPRESSION pglz);

--- case: statistics targets
--- sensitive
--- from
CREATE TABLE t (a int, b int, c int);
ALTER TABLE t ALTER COLUMN a SET STATISTICS 100, ALTER COLUMN b SET STATISTICS 0;
--- to
CREATE TABLE t (a int, b bigint, c int, d int);
ALTER TABLE t ALTER COLUMN b SET STATISTICS 500, ALTER COLUMN d SET STATISTICS 1000, ALTER COLUMN c SET STATISTICS -1;

--- case: options of columns
--- from
CREATE TABLE t (a int, b int);
ALTER TABLE t ALTER COLUMN a SET (n_distinct = 5);
--- to
CREATE TABLE t (a int, b int);
ALTER TABLE t ALTER COLUMN a SET (n_distinct = -0.5, n_distinct_inherited = 7);
ALTER TABLE t ALTER COLUMN b SET (n_distinct = 100);

--- case: options of a table
--- from
CREATE TABLE t (a int, b text) WITH (fillfactor = 70, autovacuum_enabled = off);
--- rows
INSERT INTO t VALUES (1, 'x');
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a int, b text) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, parallel_workers = 4);

--- case: options of the overflow table
--- from
CREATE TABLE t (a int, b text) WITH (toast.autovacuum_enabled = false);
--- to
CREATE TABLE t (a int, b text) WITH (toast.autovacuum_vacuum_threshold = 500, toast_tuple_target = 512, log_autovacuum_min_duration = 1000);

--- case: unlogged
--- from
CREATE TABLE t (a int PRIMARY KEY, b text);
--- rows
INSERT INTO t VALUES (1, 'x');
--- check
SELECT a = 1 FROM t;
--- to
CREATE UNLOGGED TABLE t (a int PRIMARY KEY, b text);
--- rows backward
INSERT INTO t VALUES (1, 'x');
--- check backward
SELECT a = 1 FROM t;

--- case: unlogged tables with a foreign key between them
--- from
CREATE UNLOGGED TABLE p (id int PRIMARY KEY);
CREATE UNLOGGED TABLE c (id int REFERENCES p);
--- rows
INSERT INTO p VALUES (1); INSERT INTO c VALUES (1);
--- check
SELECT id = 1 FROM c;
--- to
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (id int REFERENCES p);

--- case: a table with a serial becomes unlogged
--- sensitive
--- from
CREATE TABLE t (id serial, a text);
--- rows
INSERT INTO t (a) VALUES ('x');
--- check
SELECT id = 1 FROM t;
--- to
CREATE UNLOGGED TABLE t (id serial, a text);

--- case: replica identity
--- from
CREATE TABLE t (a int NOT NULL UNIQUE, b int);
CREATE TABLE u (a int);
ALTER TABLE u REPLICA IDENTITY NOTHING;
CREATE TABLE w (a int PRIMARY KEY);
ALTER TABLE w REPLICA IDENTITY FULL;
--- to
CREATE TABLE t (a int NOT NULL UNIQUE, b int);
ALTER TABLE t REPLICA IDENTITY USING INDEX t_a_key;
CREATE TABLE u (a int);
ALTER TABLE u REPLICA IDENTITY FULL;
CREATE TABLE w (a int PRIMARY KEY);

--- case: everything about one column at once
--- from
CREATE TABLE t (a varchar(10) COLLATE "C" DEFAULT 'x' NOT NULL);
ALTER TABLE t ALTER COLUMN a SET STORAGE EXTERNAL, ALTER COLUMN a SET STATISTICS 50, ALTER COLUMN a SET (n_distinct = 3);
COMMENT ON COLUMN t.a IS 'old';
--- rows
INSERT INTO t VALUES ('y');
--- check
SELECT a = 'y' FROM t;
--- to
CREATE TABLE t (a text COLLATE "POSIX" DEFAULT 'z');
ALTER TABLE t ALTER COLUMN a SET STORAGE MAIN, ALTER COLUMN a SET STATISTICS 60, ALTER COLUMN a SET (n_distinct = 4);
COMMENT ON COLUMN t.a IS 'new';

-- Composite types.

--- case: a composite is new and used
--- from
CREATE TABLE t (id int);
--- to
CREATE TYPE c AS (x int, y text COLLATE "C");
CREATE TABLE t (id int, c c DEFAULT ROW(1, 'y')::c, l c[]);

--- case: an attribute at the end
--- from
CREATE TYPE c AS (x int);
CREATE TABLE t (c c, l c[]);
--- rows
INSERT INTO t VALUES (ROW(1), ARRAY[ROW(2)::c]);
--- check
SELECT (c).x = 1 AND (c).y IS NULL AND (l[1]).x = 2 FROM t;
--- to
CREATE TYPE c AS (x int, y text);
CREATE TABLE t (c c, l c[]);
--- rows backward
INSERT INTO t VALUES (ROW(1, 'gone'), NULL);
--- check backward
SELECT (c).x = 1 FROM t;

--- case: an attribute of an unused composite changes its type
--- from
CREATE TYPE c AS (x int, y varchar(5));
--- to
CREATE TYPE c AS (x bigint, y text);

--- case: an attribute changes its type under a column
--- from
CREATE TYPE c AS (x int, y text);
CREATE TABLE t (c c, n int);
--- rows
INSERT INTO t VALUES (ROW(1, 'y'), 1);
--- check
SELECT (c).x = 1 AND (c).y = 'y' FROM t;
--- to
CREATE TYPE c AS (x bigint, y text);
CREATE TABLE t (c c, n int);

--- case: attributes of an unused composite in another order
--- from
CREATE TYPE c AS (x int, y text, z date);
--- to
CREATE TYPE c AS (z date, y text, x int);

--- case: an attribute is replaced
--- from
CREATE TYPE c AS (x int, y text);
CREATE FUNCTION f(c) RETURNS int LANGUAGE sql AS 'SELECT ($1).x';
--- to
CREATE TYPE c AS (x int, z uuid);
CREATE FUNCTION f(c) RETURNS int LANGUAGE sql AS 'SELECT ($1).x';

--- case: a composite within a composite
--- from
CREATE TYPE inner_c AS (x int);
CREATE TYPE outer_c AS (i inner_c, l inner_c[]);
CREATE TABLE t (o outer_c);
--- rows
INSERT INTO t VALUES (ROW(ROW(1), NULL));
--- check
SELECT ((o).i).x = 1 FROM t;
--- to
CREATE TYPE inner_c AS (x int, y int);
CREATE TYPE outer_c AS (i inner_c, l inner_c[], n text);
CREATE TABLE t (o outer_c);

--- case: a function returns a set of a composite
--- from
CREATE TYPE c AS (x int, y text);
CREATE FUNCTION f() RETURNS SETOF c LANGUAGE plpgsql AS 'BEGIN RETURN NEXT ROW(1, ''a'')::c; END';
CREATE VIEW v AS SELECT x FROM f();
--- to
CREATE TYPE c AS (x bigint, y text, z int);
CREATE FUNCTION f() RETURNS SETOF c LANGUAGE plpgsql AS 'BEGIN RETURN NEXT ROW(1, ''a'', 2)::c; END';
CREATE VIEW v AS SELECT x, z FROM f();

--- case: a view reads an attribute
--- sensitive
--- from
CREATE TYPE c AS (x int, y text);
CREATE TABLE t (c c);
CREATE VIEW v AS SELECT (c).x FROM t;
CREATE INDEX i ON t (((c).x));
--- rows
INSERT INTO t VALUES (ROW(1, 'y'));
--- check
SELECT x = 1 FROM v;
--- to
CREATE TYPE c AS (x bigint, y text);
CREATE TABLE t (c c);
CREATE VIEW v AS SELECT (c).x FROM t;
CREATE INDEX i ON t (((c).x));

--- case: collation of an attribute
--- from
CREATE TYPE c AS (x text);
--- to
CREATE TYPE c AS (x text COLLATE "C");

--- case: a composite over a domain and an enum
--- from
CREATE TYPE e AS ENUM ('a');
CREATE DOMAIN d AS int;
CREATE TYPE c AS (e e, d d);
--- to
CREATE TYPE e AS ENUM ('a', 'b');
CREATE DOMAIN d AS int CHECK (VALUE > 0);
CREATE TYPE c AS (e e, d d, l d[]);

--- case: comments on a composite and its attributes
--- from
CREATE TYPE c AS (x int, y int);
COMMENT ON COLUMN c.x IS 'x';
--- to
CREATE TYPE c AS (x int, y int);
COMMENT ON TYPE c IS 'pair';
COMMENT ON COLUMN c.y IS 'y';

--- case: all attributes go
--- from
CREATE TYPE c AS (x int);
--- to
CREATE TYPE c AS ();

--- case: a composite that a column uses goes with the column
--- from
CREATE TYPE c AS (x int);
CREATE TABLE t (id int, c c);
--- rows
INSERT INTO t VALUES (1, ROW(1));
--- check
SELECT id = 1 FROM t;
--- to
CREATE TABLE t (id int);

--- case: quoted names
--- from
CREATE TYPE "My Type" AS ("First Name" text, "select" int);
CREATE TABLE t (c "My Type");
--- rows
INSERT INTO t VALUES (ROW('a', 1));
--- check
SELECT (c)."First Name" = 'a' FROM t;
--- to
CREATE TYPE "My Type" AS ("First Name" varchar(20), "select" int, "ünï""q" int);
CREATE TABLE t (c "My Type");

-- Domains.

--- case: a domain is new and a column takes it
--- from
CREATE TABLE t (a int);
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = 1 FROM t;
--- to
CREATE DOMAIN d AS int CHECK (VALUE > 0);
CREATE TABLE t (a d);

--- case: a check is added to a domain
--- from
CREATE DOMAIN d AS int;
CREATE TABLE t (a d);
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = 1 FROM t;
--- to
CREATE DOMAIN d AS int CONSTRAINT positive CHECK (VALUE > 0);
CREATE TABLE t (a d);

--- case: a check that rows break is added to a domain
--- fails forward: 23514
--- from
CREATE DOMAIN d AS int;
CREATE TABLE t (a d);
--- rows
INSERT INTO t VALUES (-1);
--- to
CREATE DOMAIN d AS int CHECK (VALUE > 0);
CREATE TABLE t (a d);

--- case: a check is replaced and another has another name
--- from
CREATE DOMAIN d AS text CHECK (VALUE <> '') CONSTRAINT x CHECK (length(VALUE) < 10);
--- to
CREATE DOMAIN d AS text CHECK (VALUE <> ' ') CONSTRAINT y CHECK (length(VALUE) < 10);

--- case: default and not null
--- sensitive
--- from
CREATE DOMAIN d AS int DEFAULT 1;
CREATE TABLE t (a d);
--- rows
INSERT INTO t VALUES (5);
--- check
SELECT a = 5 FROM t;
--- to
CREATE DOMAIN d AS int DEFAULT 2 NOT NULL;
CREATE TABLE t (a d);

--- case: not null that rows break
--- sensitive
--- fails forward: 23502
--- from
CREATE DOMAIN d AS int;
CREATE TABLE t (a d);
--- rows
INSERT INTO t VALUES (NULL);
--- to
CREATE DOMAIN d AS int NOT NULL;
CREATE TABLE t (a d);

--- case: another base type, unused
--- from
CREATE DOMAIN d AS int;
--- to
CREATE DOMAIN d AS bigint;

--- case: another base type under a column
--- sensitive
--- from
CREATE DOMAIN d AS varchar(5) DEFAULT 'x' CHECK (VALUE <> '');
CREATE TABLE t (id int, a d NOT NULL);
CREATE INDEX i ON t (a);
--- rows
INSERT INTO t VALUES (1, 'abc');
--- check
SELECT a = 'abc' FROM t;
--- to
CREATE DOMAIN d AS text DEFAULT 'x' CHECK (VALUE <> '');
CREATE TABLE t (id int, a d NOT NULL);
CREATE INDEX i ON t (a);

--- case: collation of a domain under a column
--- from
CREATE DOMAIN d AS text;
CREATE TABLE t (a d);
--- rows
INSERT INTO t VALUES ('x');
--- check
SELECT a = 'x' FROM t;
--- to
CREATE DOMAIN d AS text COLLATE "C";
CREATE TABLE t (a d);

--- case: a domain over a domain
--- from
CREATE DOMAIN base AS int CHECK (VALUE > 0);
CREATE DOMAIN d AS base;
CREATE TABLE t (a d);
--- rows
INSERT INTO t VALUES (5);
--- check
SELECT a = 5 FROM t;
--- to
CREATE DOMAIN base AS int CHECK (VALUE > 1);
CREATE DOMAIN d AS base CHECK (VALUE < 100);
CREATE TABLE t (a d);

--- case: the lower domain's base type changes
--- sensitive
--- from
CREATE DOMAIN base AS int;
CREATE DOMAIN d AS base CHECK (VALUE > 0);
CREATE TABLE t (a d, b base);
--- rows
INSERT INTO t VALUES (5, 6);
--- check
SELECT a = 5 AND b = 6 FROM t;
--- to
CREATE DOMAIN base AS bigint;
CREATE DOMAIN d AS base CHECK (VALUE > 0);
CREATE TABLE t (a d, b base);

--- case: a domain over an array, and an array of a domain
--- from
CREATE DOMAIN d AS int[] CHECK (array_length(VALUE, 1) < 5);
CREATE DOMAIN x AS int;
CREATE TABLE t (a d, b x[]);
--- rows
INSERT INTO t VALUES ('{1}', '{2}');
--- check
SELECT a = '{1}' FROM t;
--- to
CREATE DOMAIN d AS int[] CHECK (array_length(VALUE, 1) < 6);
CREATE DOMAIN x AS int CHECK (VALUE > 0);
CREATE TABLE t (a d, b x[]);

--- case: a domain over a composite
--- from
CREATE TYPE c AS (x int, y int);
CREATE DOMAIN d AS c CHECK ((VALUE).x > 0);
CREATE TABLE t (d d);
--- to
CREATE TYPE c AS (x int, y int);
CREATE DOMAIN d AS c CHECK ((VALUE).x > (VALUE).y);
CREATE TABLE t (d d);

--- case: a check not valid and validated
--- from
CREATE DOMAIN d AS int;
ALTER DOMAIN d ADD CONSTRAINT x CHECK (VALUE > 0) NOT VALID;
CREATE TABLE t (a d);
--- to
CREATE DOMAIN d AS int CONSTRAINT x CHECK (VALUE > 0);
CREATE TABLE t (a d);

--- case: a check through a function
--- from
CREATE FUNCTION good(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 <> ''''';
CREATE DOMAIN d AS text CHECK (good(VALUE));
--- to
CREATE FUNCTION good(t text, n int DEFAULT 5) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT length($1) > $2';
CREATE DOMAIN d AS text CHECK (good(VALUE, 3));

--- case: functions and views over a domain whose base changes
--- from
CREATE DOMAIN d AS int;
CREATE TABLE t (a d);
CREATE FUNCTION f(d) RETURNS d LANGUAGE sql AS 'SELECT $1';
CREATE VIEW v AS SELECT a, f(a) AS b FROM t;
--- to
CREATE DOMAIN d AS bigint;
CREATE TABLE t (a d);
CREATE FUNCTION f(d) RETURNS d LANGUAGE sql AS 'SELECT $1';
CREATE VIEW v AS SELECT a, f(a) AS b FROM t;

--- case: a column returns from a domain to its base
--- from
CREATE DOMAIN d AS text CHECK (VALUE <> '');
CREATE TABLE t (a d DEFAULT 'x');
CREATE VIEW v AS SELECT a FROM t;
--- rows
INSERT INTO t VALUES ('y');
--- check
SELECT a = 'y' FROM v;
--- to
CREATE DOMAIN d AS text CHECK (VALUE <> '');
CREATE TABLE t (a text DEFAULT 'x');
CREATE VIEW v AS SELECT a FROM t;

--- case: comments and grants of a domain and its constraint
--- from
CREATE DOMAIN d AS int CONSTRAINT x CHECK (VALUE > 0);
COMMENT ON DOMAIN d IS 'old';
--- to
CREATE DOMAIN d AS int CONSTRAINT x CHECK (VALUE > 0);
COMMENT ON DOMAIN d IS 'new';
COMMENT ON CONSTRAINT x ON DOMAIN d IS 'positive';
GRANT USAGE ON DOMAIN d TO reader;
REVOKE USAGE ON DOMAIN d FROM PUBLIC;

--- case: not null of a domain has a name
--- since: 18
--- sensitive
--- from
CREATE DOMAIN d AS int NOT NULL;
--- to
CREATE DOMAIN d AS int CONSTRAINT must NOT NULL;

--- case: an enum becomes a domain over text
--- refused forward: unsupported_change | public.e
--- refused backward: unsupported_change | public.e
--- from
CREATE TYPE e AS ENUM ('a', 'b');
CREATE TABLE t (x e);
--- rows
INSERT INTO t VALUES ('a');
--- check
SELECT x = 'a' FROM t;
--- to
CREATE DOMAIN e AS text CHECK (VALUE IN ('a', 'b'));
CREATE TABLE t (x e);

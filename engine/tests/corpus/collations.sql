-- Collations.

--- case: a collation of libc is new and used
--- from
CREATE TABLE t (a text);
--- rows
INSERT INTO t VALUES ('x');
--- check
SELECT a = 'x' FROM t;
--- to
CREATE COLLATION plain (provider = libc, locale = 'C');
CREATE TABLE t (a text COLLATE plain);
CREATE INDEX i ON t (a);

--- case: a collation of icu is new
--- sensitive
--- from
CREATE TABLE t (a text);
--- to
CREATE COLLATION german (provider = icu, locale = 'de');
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE t (a text COLLATE german, b text COLLATE loose UNIQUE);

--- case: an unused collation takes another locale
--- from
CREATE COLLATION c (provider = icu, locale = 'de');
--- to
CREATE COLLATION c (provider = icu, locale = 'sv');

--- case: a collation in use becomes loose
--- sensitive
--- from
CREATE COLLATION c (provider = icu, locale = 'und');
CREATE TABLE t (a text COLLATE c PRIMARY KEY, b text);
CREATE INDEX i ON t (b COLLATE c);
CREATE VIEW v AS SELECT a FROM t ORDER BY a;
--- rows
INSERT INTO t VALUES ('x', 'y');
--- check
SELECT a = 'x' AND b = 'y' FROM t;
--- to
CREATE COLLATION c (provider = icu, locale = 'und', deterministic = false);
CREATE TABLE t (a text COLLATE c PRIMARY KEY, b text);
CREATE INDEX i ON t (b COLLATE c);
CREATE VIEW v AS SELECT a FROM t ORDER BY a;

--- case: rules of icu
--- since: 16
--- sensitive
--- from
CREATE COLLATION c (provider = icu, locale = 'und');
--- to
CREATE COLLATION c (provider = icu, locale = 'und', rules = '&V << w <<< W');

--- case: the builtin provider
--- since: 17
--- sensitive
--- from
CREATE COLLATION c (provider = builtin, locale = 'C');
CREATE TABLE t (a text);
--- to
CREATE COLLATION c (provider = builtin, locale = 'C.UTF-8');
CREATE TABLE t (a text COLLATE c);

--- case: comment on a collation
--- from
CREATE COLLATION c (provider = libc, locale = 'C');
CREATE TABLE t (id int);
--- to
CREATE COLLATION c (provider = libc, locale = 'C');
COMMENT ON COLLATION c IS 'bytes';
CREATE TABLE t (id int);

--- case: a collation in another schema goes
--- from
CREATE SCHEMA s;
CREATE COLLATION s.c (provider = icu, locale = 'fr');
CREATE TABLE t (a text COLLATE s.c, CHECK (a < 'z' COLLATE s.c));
--- rows
INSERT INTO t VALUES ('x');
--- check
SELECT a = 'x' FROM t;
--- to
CREATE SCHEMA s;
CREATE TABLE t (a text, CHECK (a < 'z'));

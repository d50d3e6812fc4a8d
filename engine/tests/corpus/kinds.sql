-- An object that becomes one of another kind under the same name, and things that go.

--- case: a view becomes a materialized view
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
COMMENT ON VIEW v IS 'v';
GRANT SELECT ON v TO reader;
--- to
CREATE TABLE t (a int);
CREATE MATERIALIZED VIEW v AS SELECT a FROM t;
COMMENT ON MATERIALIZED VIEW v IS 'v';
GRANT SELECT ON v TO reader;

--- case: a view becomes a table
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
--- to
CREATE TABLE t (a int);
CREATE TABLE v (a int);

--- case: a sequence becomes a table and an index a sequence
--- from
CREATE TABLE t (a int);
CREATE SEQUENCE x;
CREATE INDEX y ON t (a);
--- to
CREATE TABLE t (a int);
CREATE TABLE x (a int);
CREATE SEQUENCE y;

--- case: an enum becomes a composite
--- from
CREATE TYPE x AS ENUM ('a');
CREATE TABLE t (id int);
--- to
CREATE TYPE x AS (a int);
CREATE TABLE t (id int);

--- case: a composite becomes a table
--- from
CREATE TYPE x AS (a int);
CREATE TABLE t (id int);
--- to
CREATE TABLE x (a int);
CREATE TABLE t (id int);

--- case: a domain becomes a range
--- from
CREATE DOMAIN x AS int;
CREATE TABLE t (id int);
--- to
CREATE TYPE x AS RANGE (subtype = int4);
CREATE TABLE t (id int);

--- case: a unique index becomes a unique constraint
--- from
CREATE TABLE t (a int);
CREATE UNIQUE INDEX x ON t (a);
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a int, CONSTRAINT x UNIQUE (a));

--- case: a check becomes a foreign key of the same name
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE t (a int, CONSTRAINT x CHECK (a > 0));
--- to
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE t (a int, CONSTRAINT x FOREIGN KEY (a) REFERENCES p);

--- case: a trigger becomes a constraint trigger and a rule
--- from
CREATE TABLE t (a int);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER x AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();
CREATE TRIGGER y AFTER DELETE ON t FOR EACH ROW EXECUTE FUNCTION f();
--- to
CREATE TABLE t (a int);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE CONSTRAINT TRIGGER x AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();
CREATE RULE y AS ON DELETE TO t DO ALSO NOTHING;

--- case: a plain column becomes a generated one
--- refused forward: unsupported_change | public.t.b
--- from
CREATE TABLE t (a int, b int);
--- rows
INSERT INTO t VALUES (1, 5);
--- to
CREATE TABLE t (a int, b int GENERATED ALWAYS AS (a * 2) STORED);
--- rows backward
INSERT INTO t VALUES (3);
--- check backward
SELECT b = 6 FROM t;

--- case: a table and a view exchange their names
--- from
CREATE TABLE a (x int);
CREATE VIEW b AS SELECT x FROM a;
--- to
CREATE TABLE b (x int);
CREATE VIEW a AS SELECT x FROM b;

--- case: everything of every kind goes
--- sensitive
--- from
CREATE TABLE keep (id int);
CREATE DOMAIN d AS int CHECK (VALUE > 0);
CREATE TYPE c AS (d d);
CREATE TYPE r AS RANGE (subtype = int4);
CREATE COLLATION k (provider = libc, locale = 'C');
CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE FUNCTION f(c) RETURNS d LANGUAGE sql AS 'SELECT ($1).d';
CREATE PROCEDURE p() LANGUAGE sql AS 'SELECT 1';
CREATE AGGREGATE g(int) (sfunc = int4pl, stype = int);
CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, c c, d d DEFAULT 1, r r, k text COLLATE k);
CREATE TABLE parts (k int) PARTITION BY LIST (k);
CREATE TABLE part PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE child () INHERITS (t);
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf();
CREATE POLICY po ON t USING (d > 0);
CREATE STATISTICS st ON id, d FROM t;
CREATE RULE ru AS ON DELETE TO t DO INSTEAD NOTHING;
CREATE MATERIALIZED VIEW m AS SELECT g(id) AS x, f(c) AS y FROM t GROUP BY c;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO reader;
--- rows
INSERT INTO keep VALUES (1);
--- check
SELECT id = 1 FROM keep;
--- to
CREATE TABLE keep (id int);

--- case: a table goes that a foreign key, a function and a view need
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (id int, p int REFERENCES p);
CREATE FUNCTION f(p) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE VIEW v AS SELECT c.id, p.id AS p FROM c JOIN p ON p.id = c.p;
--- rows
INSERT INTO c VALUES (5, NULL);
--- check
SELECT id = 5 FROM v;
--- to
CREATE TABLE c (id int, p int);
CREATE VIEW v AS SELECT c.id FROM c;

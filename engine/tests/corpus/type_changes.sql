-- A column's type under everything that may stand on it.

--- case: under a view
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a, a + 1 AS b FROM t;
GRANT SELECT ON v TO reader;
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = 1 FROM v;
--- to
CREATE TABLE t (a bigint);
CREATE VIEW v AS SELECT a, a + 1 AS b FROM t;
GRANT SELECT ON v TO reader;

--- case: under views over views and a view with a star
--- sensitive
--- from
CREATE TABLE t (a varchar(5), b int);
CREATE VIEW v AS SELECT * FROM t;
CREATE VIEW w AS SELECT upper(a) AS a FROM v;
CREATE VIEW x AS SELECT w.a, v.b FROM v, w;
COMMENT ON VIEW w IS 'w';
--- rows
INSERT INTO t VALUES ('a', 1);
--- check
SELECT a = 'A' FROM x;
--- to
CREATE TABLE t (a text, b int);
CREATE VIEW v AS SELECT * FROM t;
CREATE VIEW w AS SELECT upper(a) AS a FROM v;
CREATE VIEW x AS SELECT w.a, v.b FROM v, w;
COMMENT ON VIEW w IS 'w';

--- case: under a materialized view with indexes
--- from
CREATE TABLE t (a int, b int);
CREATE MATERIALIZED VIEW m AS SELECT a, b FROM t;
CREATE UNIQUE INDEX m_a ON m (a);
--- rows
INSERT INTO t VALUES (1, 2); REFRESH MATERIALIZED VIEW m;
--- check
SELECT a = 1 AND b = 2 FROM m;
--- to
CREATE TABLE t (a bigint, b int);
CREATE MATERIALIZED VIEW m AS SELECT a, b FROM t;
CREATE UNIQUE INDEX m_a ON m (a);

--- case: under a trigger's list and condition
--- from
CREATE TABLE t (a int, b int);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER r BEFORE UPDATE OF a ON t FOR EACH ROW EXECUTE FUNCTION f();
CREATE TRIGGER s BEFORE UPDATE ON t FOR EACH ROW WHEN (OLD.a <> NEW.a) EXECUTE FUNCTION f();
ALTER TABLE t DISABLE TRIGGER s;
--- rows
INSERT INTO t VALUES (1, 2);
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a bigint, b int);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER r BEFORE UPDATE OF a ON t FOR EACH ROW EXECUTE FUNCTION f();
CREATE TRIGGER s BEFORE UPDATE ON t FOR EACH ROW WHEN (OLD.a <> NEW.a) EXECUTE FUNCTION f();
ALTER TABLE t DISABLE TRIGGER s;

--- case: under a body of the standard
--- sensitive
--- from
CREATE TABLE t (a int);
CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT sum(a) FROM t; END;
CREATE VIEW v AS SELECT f() AS s;
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT s = 1 FROM v;
--- to
CREATE TABLE t (a smallint);
CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT sum(a) FROM t; END;
CREATE VIEW v AS SELECT f() AS s;

--- case: under a function that takes the table's row
--- from
CREATE TABLE t (a int);
CREATE FUNCTION f(t) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION g() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t';
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = '1' FROM t;
--- to
CREATE TABLE t (a text);
CREATE FUNCTION f(t) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION g() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t';

--- case: the key and all that refers to it
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE a (p int REFERENCES p ON DELETE CASCADE);
CREATE TABLE b (p int REFERENCES p DEFERRABLE, PRIMARY KEY (p));
CREATE VIEW v AS SELECT a.p FROM a JOIN b USING (p);
--- rows
INSERT INTO p VALUES (1); INSERT INTO a VALUES (1); INSERT INTO b VALUES (1);
--- check
SELECT count(*) = 1 FROM v;
--- to
CREATE TABLE p (id text PRIMARY KEY);
CREATE TABLE a (p text REFERENCES p ON DELETE CASCADE);
CREATE TABLE b (p text REFERENCES p DEFERRABLE, PRIMARY KEY (p));
CREATE VIEW v AS SELECT a.p FROM a JOIN b USING (p);

--- case: under a check whose operator the new type lacks
--- from
CREATE TABLE t (a int CHECK (a % 2 = 0));
CREATE INDEX i ON t ((a % 3));
--- rows
INSERT INTO t VALUES (2);
--- check
SELECT a = '2' FROM t;
--- to
CREATE TABLE t (a text CHECK (a <> ''));
CREATE INDEX i ON t ((a || 'x'));

--- case: under a partial index and an exclusion constraint
--- from
CREATE TABLE t (a int, r int4range, EXCLUDE USING gist (r WITH &&) WHERE (a > 0));
CREATE UNIQUE INDEX i ON t (a) WHERE a > 5;
--- rows
INSERT INTO t VALUES (1, '[1,2)');
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a numeric, r int4range, EXCLUDE USING gist (r WITH &&) WHERE (a > 0));
CREATE UNIQUE INDEX i ON t (a) WHERE a > 5;

--- case: in a table whose row type another table holds
--- from
CREATE TABLE t (a int, b text);
CREATE TABLE u (x t);
--- to
CREATE TABLE t (a int, b text, c date);
CREATE TABLE u (x t);

--- case: in a table whose row type another table holds, to another type
--- refused forward: unsupported_change | public.t.a
--- refused backward: unsupported_change | public.t.a
--- from
CREATE TABLE t (a int);
CREATE TABLE u (id int, x t);
--- rows
INSERT INTO t VALUES (1); INSERT INTO u VALUES (1, ROW(1));
--- check
SELECT (x).a = 1 FROM u;
--- to
CREATE TABLE t (a bigint);
CREATE TABLE u (id int, x t);

--- case: everything at once
--- sensitive
--- from
CREATE TABLE t (id int PRIMARY KEY, a varchar(10) NOT NULL DEFAULT 'x' CHECK (a <> ''), g text GENERATED ALWAYS AS (lower(a)) STORED, UNIQUE (a));
CREATE INDEX i ON t (upper(a)) WHERE a > 'b';
CREATE VIEW v AS SELECT a, g FROM t;
CREATE MATERIALIZED VIEW m AS SELECT a FROM v;
CREATE POLICY p ON t USING (a = current_user);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER r BEFORE UPDATE OF a ON t FOR EACH ROW EXECUTE FUNCTION f();
CREATE STATISTICS s ON id, a FROM t;
CREATE RULE u AS ON UPDATE TO t WHERE OLD.a = 'never' DO INSTEAD NOTHING;
CREATE TABLE c (a varchar(10) REFERENCES t (a));
COMMENT ON COLUMN t.a IS 'a';
GRANT SELECT (a) ON t TO reader;
--- rows
INSERT INTO t VALUES (1, 'Y'); INSERT INTO c VALUES ('Y');
--- check
SELECT a = 'Y' AND g = 'y' FROM v;
SELECT a = 'Y' FROM m;
--- to
CREATE TABLE t (id int PRIMARY KEY, a text NOT NULL DEFAULT 'x' CHECK (a <> ''), g text GENERATED ALWAYS AS (lower(a)) STORED, UNIQUE (a));
CREATE INDEX i ON t (upper(a)) WHERE a > 'b';
CREATE VIEW v AS SELECT a, g FROM t;
CREATE MATERIALIZED VIEW m AS SELECT a FROM v;
CREATE POLICY p ON t USING (a = current_user);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER r BEFORE UPDATE OF a ON t FOR EACH ROW EXECUTE FUNCTION f();
CREATE STATISTICS s ON id, a FROM t;
CREATE RULE u AS ON UPDATE TO t WHERE OLD.a = 'never' DO INSTEAD NOTHING;
CREATE TABLE c (a text REFERENCES t (a));
COMMENT ON COLUMN t.a IS 'a';
GRANT SELECT (a) ON t TO reader;

--- case: a column goes under everything
--- sensitive
--- from
CREATE TABLE t (id int PRIMARY KEY, a text CHECK (a <> ''), g text GENERATED ALWAYS AS (lower(a)) STORED, UNIQUE (a));
CREATE INDEX i ON t (upper(a));
CREATE VIEW v AS SELECT id, a FROM t;
CREATE MATERIALIZED VIEW m AS SELECT id FROM v;
CREATE POLICY p ON t USING (a = current_user);
CREATE STATISTICS s ON id, a FROM t;
CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(a) FROM t; END;
--- rows
INSERT INTO t VALUES (1, 'Y');
--- check
SELECT id = 1 FROM m;
--- to
CREATE TABLE t (id int PRIMARY KEY);
CREATE VIEW v AS SELECT id FROM t;
CREATE MATERIALIZED VIEW m AS SELECT id FROM v;
CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM t; END;

--- case: a type in another schema of the same name
--- from
CREATE SCHEMA s;
CREATE TYPE e AS ENUM ('a', 'b');
CREATE TYPE s.e AS ENUM ('a', 'b');
CREATE TABLE t (e e DEFAULT 'a');
CREATE VIEW v AS SELECT e FROM t;
--- rows
INSERT INTO t VALUES ('b');
--- check
SELECT e::text = 'b' FROM v;
--- to
CREATE SCHEMA s;
CREATE TYPE e AS ENUM ('a', 'b');
CREATE TYPE s.e AS ENUM ('a', 'b');
CREATE TABLE t (e s.e DEFAULT 'a');
CREATE VIEW v AS SELECT e FROM t;

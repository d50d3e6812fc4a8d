-- Tables and their columns: added, dropped, retyped, made mandatory, in another order.

--- case: a table beside another
--- from
CREATE TABLE a (id int PRIMARY KEY);
--- rows
INSERT INTO a VALUES (1), (2);
--- check
SELECT count(*) = 2 FROM a;
--- to
CREATE TABLE a (id int PRIMARY KEY);
CREATE TABLE b (id bigint PRIMARY KEY, note text NOT NULL DEFAULT '', at timestamptz DEFAULT now());

--- case: a table without columns
--- from
CREATE TABLE a (id int);
CREATE TABLE empty ();
--- to
CREATE TABLE a (id int);
CREATE TABLE empty (id int);

--- case: all columns of a table replaced
--- from
CREATE TABLE a (x int, y text);
--- rows
INSERT INTO a VALUES (1, 'y'), (2, 'z');
--- check
SELECT count(*) = 2 FROM a;
--- to
CREATE TABLE a (p uuid, q date);

--- case: a column in the middle
--- from
CREATE TABLE t (a int, c int);
--- rows
INSERT INTO t VALUES (1, 3);
--- check
SELECT a = 1 AND c = 3 AND b = 'new' FROM t;
--- to
CREATE TABLE t (a int, b text NOT NULL DEFAULT 'new', c int);

--- case: columns in another order are the same table
--- sensitive
--- same
--- from
CREATE TABLE t (a int PRIMARY KEY, b text DEFAULT 'b', c date NOT NULL, CHECK (a > 0));
--- rows
INSERT INTO t VALUES (1, 'x', '2020-01-01');
--- check
SELECT a = 1 AND b = 'x' FROM t;
--- to
CREATE TABLE t (c date NOT NULL, b text DEFAULT 'b', a int PRIMARY KEY, CHECK (a > 0));

--- case: order of columns and a new one at the front
--- from
CREATE TABLE t (a int, b text);
CREATE VIEW v AS SELECT a, b FROM t;
--- to
CREATE TABLE t (z int, b text, a int);
CREATE VIEW v AS SELECT a, b FROM t;

--- case: integer to bigint under a primary key and a foreign key
--- sensitive
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (id int PRIMARY KEY, p_id int NOT NULL REFERENCES p (id));
CREATE INDEX c_p ON c (p_id);
--- rows
INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1, 1), (2, 2);
--- check
SELECT count(*) = 2 FROM c JOIN p ON p.id = c.p_id;
--- to
CREATE TABLE p (id bigint PRIMARY KEY);
CREATE TABLE c (id bigint PRIMARY KEY, p_id bigint NOT NULL REFERENCES p (id));
CREATE INDEX c_p ON c (p_id);

--- case: varchar grows, shrinks, becomes text
--- from
CREATE TABLE t (a varchar(10), b varchar(20), c varchar(5), d varchar);
--- rows
INSERT INTO t VALUES ('a', 'b', 'c', 'd');
--- check
SELECT a = 'a' AND b = 'b' AND c = 'c' AND d = 'd' FROM t;
--- to
CREATE TABLE t (a varchar(20), b varchar(10), c text, d varchar(3));

--- case: text to integer where every row is a number
--- from
CREATE TABLE t (id int, b text);
--- rows
INSERT INTO t VALUES (1, '42'), (2, NULL);
--- check
SELECT sum(b) = 42 FROM t;
--- to
CREATE TABLE t (id int, b int);
--- rows backward
INSERT INTO t VALUES (1, 7);
--- check backward
SELECT b = '7' FROM t;

--- case: text to integer where a row is no number
--- fails forward: 22P02
--- from
CREATE TABLE t (id int, b text);
--- rows
INSERT INTO t VALUES (1, 'forty-two');
--- to
CREATE TABLE t (id int, b int);

--- case: varchar shrinks below a row and does not cut it off
--- fails backward: 22001
--- from
CREATE TABLE t (b varchar(10));
--- rows
INSERT INTO t VALUES ('0123456789');
--- check
SELECT count(*) = 1 FROM t;
--- to
CREATE TABLE t (b varchar(11));
--- rows backward
INSERT INTO t VALUES ('0123456789a');

--- case: bigint to smallint where a row is too large
--- fails forward: 22003
--- from
CREATE TABLE t (b bigint);
--- rows
INSERT INTO t VALUES (100000);
--- to
CREATE TABLE t (b smallint);

--- case: no cast leads there
--- refused forward: unsupported_change | public.t.b
--- refused backward: unsupported_change | public.t.b
--- from
CREATE TABLE t (id int, b point);
--- to
CREATE TABLE t (id int, b uuid);

--- case: boolean to integer and back
--- from
CREATE TABLE t (b boolean DEFAULT true);
--- rows
INSERT INTO t VALUES (true), (false);
--- check
SELECT sum(b) = 1 FROM t;
--- to
CREATE TABLE t (b int DEFAULT 1);
--- rows backward
INSERT INTO t VALUES (0), (5);
--- check backward
SELECT count(*) = 1 FROM t WHERE b;

--- case: timestamps with and without time zone
--- from
CREATE TABLE t (a timestamp, b timestamptz, c timestamp(3), d time, e timestamp(0) with time zone);
--- rows
INSERT INTO t VALUES ('2024-02-29 12:00', '2024-02-29 12:00Z', '2024-02-29 12:00:00.123', '10:00', '2024-01-01Z');
--- check
SELECT count(*) = 1 FROM t WHERE a IS NOT NULL AND b IS NOT NULL;
--- to
CREATE TABLE t (a timestamptz, b timestamp, c timestamp(6), d timetz, e timestamptz);

--- case: numeric precision and scale
--- from
CREATE TABLE t (a numeric, b numeric(10,2), c numeric(6,3), d money, e real);
--- rows
INSERT INTO t VALUES (1.5, 2.25, 3.125, 4, 5.5);
--- check
SELECT a = 1.5 AND b = 2.25 AND c = 3.1 AND e = 5.5 FROM t;
--- to
CREATE TABLE t (a numeric(12,4), b numeric(14,2), c numeric(6,1), d numeric, e double precision);

--- case: numeric with a negative scale
--- since: 15
--- from
CREATE TABLE t (a numeric(5,2), b numeric(3,-2));
--- rows
INSERT INTO t VALUES (123.45, 0);
--- check
SELECT a = 100 FROM t;
--- to
CREATE TABLE t (a numeric(3,-2), b numeric(3,5));
--- rows backward
INSERT INTO t VALUES (100, 0.00001);

--- case: json to jsonb and xml-free documents
--- from
CREATE TABLE t (a json DEFAULT '{}', b text, c jsonb);
--- rows
INSERT INTO t VALUES ('{"a": 1}', '{"b": 2}', '3');
--- check
SELECT a->>'a' = '1' AND b->>'b' = '2' FROM t;
--- to
CREATE TABLE t (a jsonb DEFAULT '{}', b jsonb, c json);

--- case: a column becomes an array of its type
--- from
CREATE TABLE t (id int, a int[], b text[]);
--- rows
INSERT INTO t VALUES (1, '{1,2}', '{3,4}');
--- check
SELECT a = '{1,2}' AND b = '{3,4}' FROM t;
--- to
CREATE TABLE t (id int, a bigint[], b int[]);

--- case: array dimensions and bounds are not kept by the server
--- same
--- from
CREATE TABLE t (a int[], b int[3][3], c int ARRAY);
--- to
CREATE TABLE t (a int[][], b int[], c int[]);

--- case: char, name, bit and inet
--- from
CREATE TABLE t (a char(3), b bit(3), c inet, d "char", e bit varying(5));
--- rows
INSERT INTO t VALUES ('abc', B'101', '10.0.0.1', 'x', B'11');
--- check
SELECT a = 'abc' FROM t;
--- to
CREATE TABLE t (a char(5), b bit varying(3), c text, d text, e bit varying(8));

--- case: interval fields and precision
--- from
CREATE TABLE t (a interval, b interval year to month, c interval second(3), d interval(2));
--- to
CREATE TABLE t (a interval day to hour, b interval, c interval second(1), d interval(4));

--- case: defaults of every kind
--- from
CREATE TABLE t (a int DEFAULT 1, b text DEFAULT 'x', c timestamptz DEFAULT now(), d uuid, e int[] DEFAULT '{}', f date DEFAULT '2020-01-01', g text DEFAULT NULL, h text DEFAULT current_user);
--- rows
INSERT INTO t DEFAULT VALUES;
--- check
SELECT a = 1 AND b = 'x' AND d IS NULL FROM t;
--- to
CREATE TABLE t (a int DEFAULT 1 + 1, b text DEFAULT 'it''s', c timestamptz DEFAULT clock_timestamp() - interval '1 day', d uuid DEFAULT gen_random_uuid(), e int[] DEFAULT ARRAY[1, 2], f date, g text DEFAULT 'g', h text DEFAULT session_user);

--- case: default and type change together
--- from
CREATE TABLE t (id int, a text DEFAULT '1', b int DEFAULT 5, c text DEFAULT 'never a number');
--- rows
INSERT INTO t (id, c) VALUES (1, '3');
--- check
SELECT a = 1 AND b = '5' AND c = 3 FROM t;
--- to
CREATE TABLE t (id int, a int DEFAULT 1, b text DEFAULT 'five', c int);

--- case: not null where no row is null
--- sensitive
--- from
CREATE TABLE t (a int, b text DEFAULT 'x', c int NOT NULL);
--- rows
INSERT INTO t VALUES (1, 'x', 1);
--- check
SELECT count(*) = 1 FROM t;
--- to
CREATE TABLE t (a int NOT NULL, b text NOT NULL DEFAULT 'x', c int);

--- case: not null where a row is null
--- sensitive
--- fails forward: 23502
--- from
CREATE TABLE t (id int, a int);
--- rows
INSERT INTO t VALUES (1, NULL);
--- to
CREATE TABLE t (id int, a int NOT NULL);

--- case: a mandatory column without a default on an empty table
--- sensitive
--- from
CREATE TABLE t (id int);
--- to
CREATE TABLE t (id int, a int NOT NULL, b text COLLATE "C" NOT NULL);

--- case: a mandatory column without a default where rows are
--- fails forward: 23502
--- from
CREATE TABLE t (id int);
--- rows
INSERT INTO t VALUES (1);
--- to
CREATE TABLE t (id int, a int NOT NULL);

--- case: a volatile default fills old rows one by one
--- from
CREATE TABLE t (id int);
--- rows
INSERT INTO t VALUES (1), (2);
--- check
SELECT count(DISTINCT k) = 2 FROM t;
--- to
CREATE TABLE t (id int, k uuid NOT NULL DEFAULT gen_random_uuid());

--- case: column dropped under its index and constraint
--- from
CREATE TABLE t (id int PRIMARY KEY, a int UNIQUE, b int CHECK (b > 0), c int);
CREATE INDEX t_bc ON t (b, c);
--- rows
INSERT INTO t VALUES (1, 1, 1, 1);
--- check
SELECT c = 1 FROM t;
--- to
CREATE TABLE t (id int PRIMARY KEY, c int);
--- rows backward
INSERT INTO t VALUES (1, 1);

--- case: a wide table loses and gains many columns
--- from
CREATE TABLE t (c1 int, c2 int, c3 int, c4 int, c5 int, c6 int, c7 int, c8 int, c9 int, c10 int, c11 int, c12 int);
--- to
CREATE TABLE t (c2 bigint, c4 bigint, c6 bigint, c8 int, c10 int, c12 int, d1 text, d2 text, d3 text, d4 text);

--- case: collation of a column
--- sensitive
--- from
CREATE TABLE t (a text, b text COLLATE "C", c varchar(10) COLLATE "POSIX");
CREATE INDEX t_a ON t (a);
--- rows
INSERT INTO t VALUES ('a', 'b', 'c');
--- check
SELECT a = 'a' AND c = 'c' FROM t;
--- to
CREATE TABLE t (a text COLLATE "C", b text, c varchar(10) COLLATE "C");
CREATE INDEX t_a ON t (a);

--- case: a default that reads a sequence appears and goes
--- from
CREATE TABLE t (id int, n int);
CREATE SEQUENCE s;
--- rows
INSERT INTO t VALUES (1, 1);
--- check
SELECT n = 1 FROM t;
--- to
CREATE SEQUENCE s;
CREATE TABLE t (id int DEFAULT nextval('s'), n int DEFAULT currval('s'::regclass));

--- case: system-like and awkward column names
--- from
CREATE TABLE t ("Id" int, "with space" text, "quote""d" int, "select" int, "ünï" text);
--- rows
INSERT INTO t VALUES (1, 'a', 2, 3, 'u');
--- check
SELECT "quote""d" = 2 AND "ünï" = 'u' FROM t;
--- to
CREATE TABLE t ("Id" bigint, id int, "with space" varchar(10), "quote""d" bigint NOT NULL, "select" int DEFAULT 5, "ünï" text DEFAULT 'ß');

--- case: like and typed tables
--- sensitive
--- from
CREATE TABLE base (id int NOT NULL DEFAULT 1, b text);
CREATE TABLE copy (LIKE base INCLUDING ALL);
--- to
CREATE TABLE base (id int NOT NULL DEFAULT 1, b text, c date CHECK (c > '2000-01-01'));
CREATE TABLE copy (LIKE base INCLUDING DEFAULTS INCLUDING CONSTRAINTS, d int);

--- case: table of a composite type
--- refused forward: unsupported_object | public.t
--- refused backward: unsupported_object | public.t
--- from
CREATE TYPE pair AS (a int, b text);
CREATE TABLE t OF pair;
--- rows
INSERT INTO t VALUES (1, 'x');
--- check
SELECT a = 1 AND b = 'x' FROM t;
--- to
CREATE TYPE pair AS (a int, b text);
CREATE TABLE t OF pair (PRIMARY KEY (a), b DEFAULT 'y');

--- case: table of a composite type becomes a table of its own
--- refused forward: unsupported_object | public.t
--- refused backward: unsupported_object | public.t
--- sensitive
--- from
CREATE TYPE pair AS (a int, b text);
CREATE TABLE t OF pair;
--- rows
INSERT INTO t VALUES (1, 'x');
--- check
SELECT a = 1 AND b = 'x' FROM t;
--- to
CREATE TYPE pair AS (a int, b text);
CREATE TABLE t (a int, b text);
--- rows backward
INSERT INTO t VALUES (1, 'x');
--- check backward
SELECT a = 1 AND b = 'x' FROM t;

--- case: many tables at once with keys between them
--- from
CREATE TABLE t1 (id int PRIMARY KEY);
--- to
CREATE TABLE t1 (id int PRIMARY KEY);
CREATE TABLE t2 (id int PRIMARY KEY, p int REFERENCES t1);
CREATE TABLE t3 (id int PRIMARY KEY, p int REFERENCES t2);
CREATE TABLE t4 (id int PRIMARY KEY, p int REFERENCES t3);
CREATE TABLE t5 (id int PRIMARY KEY, p int REFERENCES t4);

--- case: everything goes but one table
--- from
CREATE TABLE keep (id int);
CREATE TYPE m AS ENUM ('a');
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE TABLE t (id int DEFAULT f(), m m DEFAULT 'a');
CREATE VIEW v AS SELECT * FROM t;
CREATE MATERIALIZED VIEW mv AS SELECT * FROM v;
CREATE UNIQUE INDEX mv_id ON mv (id);
CREATE SEQUENCE s OWNED BY t.id;
CREATE RULE r AS ON INSERT TO v DO INSTEAD NOTHING;
COMMENT ON VIEW v IS 'v';
GRANT SELECT ON mv TO reader;
--- to
CREATE TABLE keep (id int);

--- case: a side that declares nothing
--- refused forward: empty_desired_state
--- from
CREATE TABLE t (id int);
--- to
-- nothing

--- case: add and drop in a table with rows and a dropped column before
--- from
CREATE TABLE t (a int, gone int, b text);
ALTER TABLE t DROP COLUMN gone;
--- rows
INSERT INTO t VALUES (1, 'b');
--- check
SELECT a = 1 AND c = 2 FROM t;
--- to
CREATE TABLE t (a int, c int DEFAULT 2, b text);

--- case: a column is dropped and one of its name and another kind comes with the default of a function
--- from
CREATE FUNCTION one() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE TABLE t (id int, v int DEFAULT one());
--- rows
INSERT INTO t (id) VALUES (5);
--- check
SELECT id = 5 AND v = '1' FROM t;
--- to
CREATE FUNCTION one() RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT ''1''::text';
CREATE TABLE t (id int, v text DEFAULT one());

--- case: column of a pseudo-numeric reg type
--- from
CREATE TABLE t (a regclass, b regtype DEFAULT 'int'::regtype, c oid);
--- to
CREATE TABLE t (a oid, b regtype DEFAULT 'bigint'::regtype, c regclass DEFAULT 'pg_class'::regclass);

--- case: geometric and network columns swap
--- from
CREATE TABLE t (a box, b cidr, c macaddr, d tsvector, e xml);
--- to
CREATE TABLE t (a polygon, b inet, c macaddr8, d text, e text);

--- case: default of a varchar keeps its cast
--- from
CREATE TABLE t (a varchar(10) DEFAULT 'a', b char(2) DEFAULT 'b', c numeric(5,2) DEFAULT 1, d timestamp DEFAULT '2020-01-01', e bit(4) DEFAULT B'1010');
--- to
CREATE TABLE t (a varchar(12) DEFAULT 'a', b char(3) DEFAULT 'b', c numeric(6,2) DEFAULT 1, d timestamp(0) DEFAULT '2020-01-01', e bit(4) DEFAULT B'0101');

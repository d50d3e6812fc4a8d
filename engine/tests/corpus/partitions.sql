-- Partitioned tables and their partitions. Where a side lists no partition of a parent, those that are there are left
-- alone: so each side lists one, or names the other's as a table of its own.

--- case: a partitioned table is new
--- from
CREATE TABLE a (id int);
--- to
CREATE TABLE a (id int);
CREATE TABLE p (k int NOT NULL, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (MAXVALUE);
CREATE INDEX p_v ON p (v);

--- case: a range partition is new
--- from
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
--- rows
INSERT INTO p VALUES (1, 'a');
--- check
SELECT count(*) = 1 FROM p1;
--- to
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);

--- case: a list partition with null and a default partition
--- from
CREATE TABLE p (k text) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN ('a', 'b');
--- rows
INSERT INTO p VALUES ('a');
--- check
SELECT count(*) = 1 FROM p;
--- to
CREATE TABLE p (k text) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN ('a', 'b');
CREATE TABLE p2 PARTITION OF p FOR VALUES IN ('c', NULL);
CREATE TABLE p_rest PARTITION OF p DEFAULT;

--- case: hash partitions
--- from
CREATE TABLE p (k int) PARTITION BY HASH (k);
CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE p1 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 1);
--- rows
INSERT INTO p SELECT generate_series(1, 20);
--- check
SELECT count(*) = 20 FROM p;
--- to
CREATE TABLE p (k int, v text) PARTITION BY HASH (k);
CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE p1 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 1);

--- case: a partition is detached and stays with its rows
--- sensitive
--- from
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
--- rows
INSERT INTO p VALUES (1, 'a'), (11, 'b');
--- check
SELECT count(*) = 1 FROM p;
SELECT v = 'a' FROM p1;
--- to
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 (k int, v text);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
--- rows backward
INSERT INTO p1 VALUES (1, 'a'); INSERT INTO p VALUES (11, 'b');
--- check backward
SELECT count(*) = 2 FROM p;

--- case: a detached partition loses what it had from its parent
--- only: forward
--- sensitive
--- from
CREATE TABLE p (k int NOT NULL, v text CHECK (v <> ''), PRIMARY KEY (k)) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE INDEX p_v ON p (v);
--- rows
INSERT INTO p VALUES (1, 'a');
--- check
SELECT v = 'a' FROM p1;
--- to
CREATE TABLE p (k int NOT NULL, v text CHECK (v <> ''), PRIMARY KEY (k)) PARTITION BY RANGE (k);
CREATE INDEX p_v ON p (v);
CREATE TABLE p1 (k int, v text);

--- case: a table with rows outside the bounds is attached
--- fails forward: 23514
--- from
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 (k int);
--- rows
INSERT INTO p1 VALUES (50);
--- to
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);

--- case: an existing table with other order of columns is attached
--- sensitive
--- from
CREATE TABLE p (k int, v text, w date) PARTITION BY LIST (k);
CREATE TABLE p1 (w date, v text, k int);
CREATE INDEX p_v ON p (v);
CREATE INDEX p1_v_idx ON p1 (v);
--- rows
INSERT INTO p1 VALUES (NULL, 'a', 1);
--- check
SELECT v = 'a' FROM p;
--- to
CREATE TABLE p (k int, v text, w date) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE INDEX p_v ON p (v);
--- rows backward
INSERT INTO p VALUES (1, 'a');
--- check backward
SELECT v = 'a' FROM p1;

--- case: a partition moves to another parent
--- from
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE q (k int) PARTITION BY LIST (k);
CREATE TABLE part PARTITION OF p FOR VALUES IN (1);
--- rows
INSERT INTO p VALUES (1);
--- check
SELECT count(*) = 1 FROM q;
--- to
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE q (k int) PARTITION BY LIST (k);
CREATE TABLE part PARTITION OF q FOR VALUES IN (1);

--- case: bounds widen
--- from
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
--- rows
INSERT INTO p VALUES (5);
--- check
SELECT count(*) = 1 FROM p;
--- to
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (MINVALUE) TO (20);

--- case: bounds of two partitions shift
--- from
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
--- rows
INSERT INTO p VALUES (5), (17);
--- check
SELECT count(*) = 2 FROM p;
--- to
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (15);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (15) TO (20);

--- case: the values of two lists are exchanged
--- from
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
--- to
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (2);
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (1);

--- case: the default partition becomes an ordinary one
--- from
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p DEFAULT;
--- rows
INSERT INTO p VALUES (1);
--- check
SELECT count(*) = 1 FROM p;
--- to
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 PARTITION OF p DEFAULT;

--- case: several levels
--- sensitive
--- from
CREATE TABLE p (k int, at date) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1) PARTITION BY RANGE (at);
CREATE TABLE p1_2020 PARTITION OF p1 FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
--- rows
INSERT INTO p VALUES (1, '2020-05-05');
--- check
SELECT count(*) = 1 FROM p;
--- to
CREATE TABLE p (k int, at date, v text DEFAULT 'v') PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1) PARTITION BY RANGE (at);
CREATE TABLE p1_2020 PARTITION OF p1 FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE p1_2021 PARTITION OF p1 FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') PARTITION BY HASH (v);
CREATE TABLE p1_2021_0 PARTITION OF p1_2021 FOR VALUES WITH (MODULUS 1, REMAINDER 0);

--- case: a level is taken out
--- from
CREATE TABLE p (k int, at int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1) PARTITION BY RANGE (at);
CREATE TABLE leaf PARTITION OF p1 FOR VALUES FROM (0) TO (10);
--- rows
INSERT INTO p VALUES (1, 5);
--- check
SELECT count(*) = 1 FROM p;
--- to
CREATE TABLE p (k int, at int) PARTITION BY LIST (k);
CREATE TABLE leaf PARTITION OF p FOR VALUES IN (1);

--- case: a column of the parent changes its type
--- from
CREATE TABLE p (k int, v int, w varchar(5)) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE INDEX p_v ON p (v);
--- rows
INSERT INTO p VALUES (1, 2, 'x');
--- check
SELECT v = 2 AND w = 'x' FROM p;
--- to
CREATE TABLE p (k int, v bigint, w text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE INDEX p_v ON p (v);

--- case: the key's type changes on an empty table
--- refused forward: unsupported_change | public.p
--- refused backward: unsupported_change | public.p
--- from
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
--- to
CREATE TABLE p (k bigint) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);

--- case: a column of the parent comes and goes with constraints
--- from
CREATE TABLE p (k int, gone text NOT NULL DEFAULT 'g') PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
--- rows
INSERT INTO p VALUES (1, 'a'), (2, 'b');
--- check
SELECT count(*) = 2 FROM p WHERE new = 7;
--- to
CREATE TABLE p (k int, new int NOT NULL DEFAULT 7 CHECK (new > 0)) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);

--- case: primary key of a partitioned table
--- sensitive
--- from
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
--- rows
INSERT INTO p VALUES (1, 1), (2, 1);
--- check
SELECT count(*) = 2 FROM p;
--- to
CREATE TABLE p (k int, v int, PRIMARY KEY (k), UNIQUE (v, k)) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);

--- case: primary key of a partitioned table is made of other columns
--- from
CREATE TABLE p (k int, v int, PRIMARY KEY (k)) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
--- to
CREATE TABLE p (k int, v int, PRIMARY KEY (v, k)) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);

--- case: indexes of the parent
--- from
CREATE TABLE p (k int, v text, w int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20) PARTITION BY LIST (v);
CREATE TABLE p2_a PARTITION OF p2 FOR VALUES IN ('a');
CREATE INDEX p_v ON p (v);
--- to
CREATE TABLE p (k int, v text, w int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20) PARTITION BY LIST (v);
CREATE TABLE p2_a PARTITION OF p2 FOR VALUES IN ('a');
CREATE INDEX p_v ON p (lower(v)) WHERE w > 0;
CREATE INDEX p_w ON p USING brin (w);

--- case: a partition's index of its own
--- from
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
CREATE INDEX p1_v ON p1 (v);
--- to
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
CREATE UNIQUE INDEX p2_v ON p2 (v) WHERE k > 12;

--- case: a partition's index is attached to the parent's
--- from
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE INDEX mine ON p1 (v);
--- to
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE INDEX mine ON p1 (v);
CREATE INDEX ours ON ONLY p (v);
ALTER INDEX ours ATTACH PARTITION mine;

--- case: an index of the parent with an order
--- from
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
--- to
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE INDEX p_v ON p (v, k DESC);

--- case: a partition's index has options of its own
--- refused forward: unsupported_object | p1_v_idx
--- refused backward: unsupported_object | p1_v_idx
--- from
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE INDEX p_v ON p (v);
--- to
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE INDEX p_v ON p (v);
ALTER INDEX p1_v_idx SET (fillfactor = 50);

--- case: a partition's default of its own
--- from
CREATE TABLE p (k int, v text DEFAULT 'p') PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p (v DEFAULT 'two') FOR VALUES FROM (10) TO (20);
--- to
CREATE TABLE p (k int, v text DEFAULT 'q') PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p (v DEFAULT 'one') FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);

--- case: a partition's check and not null of its own
--- sensitive
--- from
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
--- rows
INSERT INTO p VALUES (1, 'a');
--- check
SELECT count(*) = 1 FROM p1;
--- to
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p (v NOT NULL, CONSTRAINT p1_v CHECK (v <> '')) FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p (PRIMARY KEY (k)) FOR VALUES FROM (10) TO (20);

--- case: a check rises from a partition to its parent
--- from
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p (CONSTRAINT c CHECK (v > 0)) FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
--- to
CREATE TABLE p (k int, v int, CONSTRAINT c CHECK (v > 0)) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);

--- case: foreign keys from a partitioned table
--- sensitive
--- from
CREATE TABLE q (id int PRIMARY KEY);
CREATE TABLE p (k int, q int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
--- rows
INSERT INTO q VALUES (1); INSERT INTO p VALUES (1, 1);
--- check
SELECT count(*) = 1 FROM p;
--- to
CREATE TABLE q (id int PRIMARY KEY);
CREATE TABLE p (k int, q int REFERENCES q ON DELETE CASCADE) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);

--- case: foreign keys to a partitioned table
--- sensitive
--- from
CREATE TABLE p (k int PRIMARY KEY) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE c (k int);
--- rows
INSERT INTO p VALUES (1); INSERT INTO c VALUES (1);
--- check
SELECT count(*) = 1 FROM c;
--- to
CREATE TABLE p (k int PRIMARY KEY) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
CREATE TABLE c (k int REFERENCES p);

--- case: a foreign key of one partition alone
--- from
CREATE TABLE q (id int PRIMARY KEY);
CREATE TABLE p (k int, q int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
--- to
CREATE TABLE q (id int PRIMARY KEY);
CREATE TABLE p (k int, q int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p (CONSTRAINT p1_q FOREIGN KEY (q) REFERENCES q) FOR VALUES FROM (0) TO (10);

--- case: triggers of the parent
--- sensitive
--- from
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TRIGGER a BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION f();
--- to
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TRIGGER a AFTER INSERT OR UPDATE OF v ON p FOR EACH ROW WHEN (NEW.v > 0) EXECUTE FUNCTION f('x');
CREATE TRIGGER b AFTER DELETE ON p FOR EACH STATEMENT EXECUTE FUNCTION f();

--- case: a trigger of one partition alone
--- from
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TRIGGER a AFTER INSERT ON p1 FOR EACH ROW EXECUTE FUNCTION f();
--- to
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TRIGGER a AFTER INSERT ON p FOR EACH ROW EXECUTE FUNCTION f();

--- case: a partition's state of the parent's trigger
--- refused forward: unsupported_object | public.p1.a
--- refused backward: unsupported_object | public.p1.a
--- sensitive
--- from
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TRIGGER a AFTER INSERT ON p FOR EACH ROW EXECUTE FUNCTION f();
--- to
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TRIGGER a AFTER INSERT ON p FOR EACH ROW EXECUTE FUNCTION f();
ALTER TABLE p1 DISABLE TRIGGER a;

--- case: the key by expression and collation
--- from
CREATE TABLE a (id int);
--- to
CREATE TABLE a (id int);
CREATE TABLE p (k text, n int) PARTITION BY RANGE (lower(k) COLLATE "C" text_pattern_ops, (n + 1));
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('a', MINVALUE) TO ('m', 5);

--- case: bounds of dates, texts, numerics and booleans
--- from
CREATE TABLE d (k date) PARTITION BY RANGE (k);
CREATE TABLE d1 PARTITION OF d FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
CREATE TABLE b (k boolean) PARTITION BY LIST (k);
CREATE TABLE b0 PARTITION OF b FOR VALUES IN (false);
--- to
CREATE TABLE d (k date) PARTITION BY RANGE (k);
CREATE TABLE d1 PARTITION OF d FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
CREATE TABLE d2 PARTITION OF d FOR VALUES FROM ('2020-02-01') TO ('infinity');
CREATE TABLE b (k boolean) PARTITION BY LIST (k);
CREATE TABLE b0 PARTITION OF b FOR VALUES IN (false);
CREATE TABLE b1 PARTITION OF b FOR VALUES IN (true);
CREATE TABLE t (k text, n numeric) PARTITION BY RANGE (k, n);
CREATE TABLE t1 PARTITION OF t FOR VALUES FROM ('it''s', 1.50) TO ('z', MAXVALUE);
CREATE TABLE z (k timestamptz) PARTITION BY RANGE (k);
CREATE TABLE z1 PARTITION OF z FOR VALUES FROM ('2020-01-01 00:00:00+02') TO ('2020-01-02 00:00:00+02');

--- case: an ordinary table cannot become a partitioned one with its rows
--- refused forward: unsupported_change | public.t
--- refused backward: unsupported_change | public.t
--- from
CREATE TABLE t (k int);
--- rows
INSERT INTO t VALUES (1);
--- to
CREATE TABLE t (k int) PARTITION BY RANGE (k);
CREATE TABLE t1 PARTITION OF t DEFAULT;

--- case: another key of partitions
--- refused forward: unsupported_change | public.p
--- refused backward: unsupported_change | public.p
--- from
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p DEFAULT;
--- to
CREATE TABLE p (k int, v int) PARTITION BY RANGE (v);
CREATE TABLE p1 PARTITION OF p DEFAULT;

--- case: an identity on a partitioned table
--- since: 17
--- sensitive
--- from
CREATE TABLE p (k int, id int NOT NULL) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
--- rows
INSERT INTO p VALUES (1, 1);
--- check
SELECT id = 1 FROM p;
--- to
CREATE TABLE p (k int, id int GENERATED BY DEFAULT AS IDENTITY (START 10)) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);

--- case: views, comments and grants over partitions
--- from
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE VIEW w AS SELECT v FROM p;
GRANT SELECT ON p TO reader;
COMMENT ON TABLE p1 IS 'first';
--- to
CREATE TABLE p (k int, v varchar(10)) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE VIEW w AS SELECT v FROM p;
GRANT SELECT ON p1 TO reader;
COMMENT ON TABLE p IS 'all';
COMMENT ON COLUMN p.v IS 'v';

--- case: a partition with its rows goes
--- from
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
--- rows
INSERT INTO p VALUES (1), (11);
--- check
SELECT k = 11 FROM p;
--- to
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);

--- case: partitions in another schema
--- from
CREATE SCHEMA parts;
CREATE TABLE p (k int) PARTITION BY RANGE (k);
CREATE TABLE parts.p PARTITION OF p FOR VALUES FROM (0) TO (10);
--- to
CREATE SCHEMA parts;
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE parts.p PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE parts.q PARTITION OF p FOR VALUES FROM (10) TO (20);
CREATE INDEX p_v ON p (v);

--- case: options and storage of a partition
--- from
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10) WITH (fillfactor = 50);
--- to
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10) WITH (autovacuum_enabled = off);
ALTER TABLE p1 ALTER COLUMN v SET STORAGE EXTERNAL;
ALTER TABLE p ALTER COLUMN v SET STATISTICS 50;

--- case: enum in the key and the bounds
--- refused forward: unsupported_change | public.p.k
--- refused backward: unsupported_change
--- from
CREATE TYPE e AS ENUM ('a', 'b');
CREATE TABLE p (k e) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN ('a');
--- rows
INSERT INTO p VALUES ('a');
--- check
SELECT k = 'a' FROM p;
--- to
CREATE TYPE e AS ENUM ('a', 'b', 'c');
CREATE TABLE p (k e) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN ('a');
CREATE TABLE p2 PARTITION OF p FOR VALUES IN ('c');

--- case: more hash partitions
--- from
CREATE TABLE p (k int) PARTITION BY HASH (k);
CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE p1 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 1);
--- to
CREATE TABLE p (k int) PARTITION BY HASH (k);
CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 4, REMAINDER 0);
CREATE TABLE p1 PARTITION OF p FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE p2 PARTITION OF p FOR VALUES WITH (MODULUS 4, REMAINDER 2);
CREATE TABLE p3 PARTITION OF p FOR VALUES WITH (MODULUS 4, REMAINDER 3);

--- case: more hash partitions than the rows fit into
--- fails forward: 23514
--- from
CREATE TABLE p (k int) PARTITION BY HASH (k);
CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 1, REMAINDER 0);
--- rows
INSERT INTO p SELECT generate_series(1, 50);
--- to
CREATE TABLE p (k int) PARTITION BY HASH (k);
CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE p1 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 1);

--- case: a new partition whose rows are in the default one
--- fails forward: 23514
--- from
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE p_rest PARTITION OF p DEFAULT;
--- rows
INSERT INTO p VALUES (5);
--- to
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE p5 PARTITION OF p FOR VALUES IN (5);
CREATE TABLE p_rest PARTITION OF p DEFAULT;

--- case: a partition takes the place of another
--- from
CREATE TABLE p (k int, v text) PARTITION BY LIST (k);
CREATE TABLE one PARTITION OF p FOR VALUES IN (1);
CREATE TABLE two (k int, v text);
--- rows
INSERT INTO p VALUES (1, 'old'); INSERT INTO two VALUES (1, 'new');
--- check
SELECT v = 'new' FROM p;
SELECT v = 'old' FROM one;
--- to
CREATE TABLE p (k int, v text) PARTITION BY LIST (k);
CREATE TABLE one (k int, v text);
CREATE TABLE two PARTITION OF p FOR VALUES IN (1);

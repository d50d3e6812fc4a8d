-- Constraints of tables.

--- case: primary key appears
--- sensitive
--- from
CREATE TABLE t (id int, n int);
--- rows
INSERT INTO t VALUES (1, 1), (2, 2);
--- check
SELECT count(*) = 2 FROM t;
--- to
CREATE TABLE t (id int PRIMARY KEY, n int);

--- case: primary key moves to other columns
--- sensitive
--- from
CREATE TABLE t (a int, b int, PRIMARY KEY (a));
--- rows
INSERT INTO t VALUES (1, 1), (2, 1);
--- check
SELECT count(*) = 2 FROM t;
--- to
CREATE TABLE t (a int NOT NULL, b int, PRIMARY KEY (b, a));

--- case: primary key of another name, included columns and fill factor
--- from
CREATE TABLE t (a int PRIMARY KEY, b int);
--- to
CREATE TABLE t (a int, b int, CONSTRAINT key_of_t PRIMARY KEY (a) INCLUDE (b) WITH (fillfactor = 70));

--- case: primary key that a foreign key needs is made of other columns
--- sensitive
--- from
CREATE TABLE p (a int PRIMARY KEY, b int UNIQUE NOT NULL);
CREATE TABLE c (a int REFERENCES p);
--- rows
INSERT INTO p VALUES (1, 10); INSERT INTO c VALUES (1);
--- check
SELECT count(*) = 1 FROM c;
--- to
CREATE TABLE p (a int NOT NULL, b int PRIMARY KEY, CONSTRAINT p_a_key UNIQUE (a));
CREATE TABLE c (a int REFERENCES p (a));

--- case: unique appears where rows are the same
--- fails forward: 23505
--- from
CREATE TABLE t (a int);
--- rows
INSERT INTO t VALUES (1), (1);
--- to
CREATE TABLE t (a int UNIQUE);

--- case: unique nulls not distinct
--- since: 15
--- sensitive
--- from
CREATE TABLE t (a int UNIQUE, b int);
--- rows
INSERT INTO t VALUES (NULL, 1);
--- check
SELECT count(*) = 1 FROM t;
--- to
CREATE TABLE t (a int UNIQUE NULLS NOT DISTINCT, b int, UNIQUE NULLS NOT DISTINCT (a, b));

--- case: unique becomes deferrable
--- from
CREATE TABLE t (a int, CONSTRAINT u UNIQUE (a));
--- to
CREATE TABLE t (a int, CONSTRAINT u UNIQUE (a) DEFERRABLE INITIALLY DEFERRED);

--- case: unique constraint becomes a unique index of the same name
--- from
CREATE TABLE t (a int, CONSTRAINT u UNIQUE (a));
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a int);
CREATE UNIQUE INDEX u ON t (a);

--- case: unique constraints swap names
--- from
CREATE TABLE t (a int, b int, CONSTRAINT x UNIQUE (a), CONSTRAINT y UNIQUE (b));
--- to
CREATE TABLE t (a int, b int, CONSTRAINT y UNIQUE (a), CONSTRAINT x UNIQUE (b));

--- case: a check appears, changes and goes
--- from
CREATE TABLE t (a int CHECK (a > 0), b int, c int, CONSTRAINT k CHECK (b < 10));
--- rows
INSERT INTO t VALUES (1, 2, 3);
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a int, b int, c int CHECK (c > 0), CONSTRAINT k CHECK (b < 20));

--- case: a check that rows break
--- fails forward: 23514
--- from
CREATE TABLE t (a int);
--- rows
INSERT INTO t VALUES (-1);
--- to
CREATE TABLE t (a int CHECK (a > 0));

--- case: a check not valid
--- from
CREATE TABLE t (a int);
--- rows
INSERT INTO t VALUES (-1);
--- check
SELECT a = -1 FROM t;
--- to
CREATE TABLE t (a int);
ALTER TABLE t ADD CONSTRAINT k CHECK (a > 0) NOT VALID;

--- case: a check is validated
--- sensitive
--- from
CREATE TABLE t (a int);
ALTER TABLE t ADD CONSTRAINT k CHECK (a > 0) NOT VALID;
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a int, CONSTRAINT k CHECK (a > 0));

--- case: a check over several columns, on lines, with quotes
--- from
CREATE TABLE t (a int, b text, c date, CONSTRAINT "k k" CHECK (a > 0 AND b <> 'it''s'));
--- to
CREATE TABLE t (a int, b text, c date, CONSTRAINT "k k" CHECK (
  CASE WHEN b IN ('x', 'y') THEN a > 0
       WHEN b ~ '^[a-z]+\d' THEN c > '2000-01-01'
       ELSE b IS NOT NULL END));

--- case: a check that loses its inheritance
--- from
CREATE TABLE t (a int, CONSTRAINT k CHECK (a > 0));
--- to
CREATE TABLE t (a int, CONSTRAINT k CHECK (a > 0) NO INHERIT);

--- case: a check through a function
--- from
CREATE FUNCTION good(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 0';
CREATE TABLE t (a int CHECK (good(a)));
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = 1 FROM t;
--- to
CREATE FUNCTION good(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > $2';
CREATE TABLE t (a int CHECK (good(a, 0)));

--- case: two unnamed checks on one column
--- from
CREATE TABLE t (a int CHECK (a > 0) CHECK (a < 100));
--- to
CREATE TABLE t (a int CHECK (a < 100) CHECK (a > 0) CHECK (a <> 50));

--- case: a foreign key appears
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (p int);
--- rows
INSERT INTO p VALUES (1); INSERT INTO c VALUES (1), (NULL);
--- check
SELECT count(*) = 2 FROM c;
--- to
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (p int REFERENCES p);

--- case: a foreign key that rows break
--- fails forward: 23503
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (p int);
--- rows
INSERT INTO c VALUES (1);
--- to
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (p int REFERENCES p);

--- case: every action of a foreign key
--- sensitive
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (a int REFERENCES p, b int REFERENCES p ON DELETE CASCADE, c int REFERENCES p ON UPDATE RESTRICT, d int DEFAULT 0 REFERENCES p ON DELETE SET NULL);
--- to
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (a int REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE, b int REFERENCES p ON DELETE RESTRICT, c int REFERENCES p ON UPDATE SET NULL, d int DEFAULT 0 REFERENCES p ON DELETE SET DEFAULT);

--- case: set null of some columns
--- since: 15
--- sensitive
--- from
CREATE TABLE p (a int, b int, PRIMARY KEY (a, b));
CREATE TABLE c (x int NOT NULL, y int, z int, CONSTRAINT fk FOREIGN KEY (x, y) REFERENCES p ON DELETE SET NULL (y), CONSTRAINT fk2 FOREIGN KEY (z, y) REFERENCES p);
--- to
CREATE TABLE p (a int, b int, PRIMARY KEY (a, b));
CREATE TABLE c (x int NOT NULL, y int, z int DEFAULT 1, CONSTRAINT fk FOREIGN KEY (x, y) REFERENCES p, CONSTRAINT fk2 FOREIGN KEY (z, y) REFERENCES p ON DELETE SET DEFAULT (z));

--- case: match full
--- from
CREATE TABLE p (a int, b int, UNIQUE (a, b));
CREATE TABLE c (x int, y int, CONSTRAINT fk FOREIGN KEY (x, y) REFERENCES p (a, b));
--- to
CREATE TABLE p (a int, b int, UNIQUE (a, b));
CREATE TABLE c (x int, y int, CONSTRAINT fk FOREIGN KEY (x, y) REFERENCES p (a, b) MATCH FULL);

--- case: a foreign key becomes deferrable in place
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (a int REFERENCES p, b int REFERENCES p DEFERRABLE);
--- rows
INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 1);
--- check
SELECT count(*) = 1 FROM c;
--- to
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (a int REFERENCES p DEFERRABLE INITIALLY DEFERRED, b int REFERENCES p);

--- case: a foreign key not valid
--- sensitive
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (p int);
--- rows
INSERT INTO c VALUES (7);
--- check
SELECT p = 7 FROM c;
--- to
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (p int);
ALTER TABLE c ADD CONSTRAINT fk FOREIGN KEY (p) REFERENCES p NOT VALID;

--- case: a foreign key to another table
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE q (id int PRIMARY KEY);
CREATE TABLE c (p int, CONSTRAINT fk FOREIGN KEY (p) REFERENCES p);
--- to
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE q (id int PRIMARY KEY);
CREATE TABLE c (p int, CONSTRAINT fk FOREIGN KEY (p) REFERENCES q);

--- case: foreign keys in a circle appear
--- from
CREATE TABLE a (id int PRIMARY KEY, b int);
CREATE TABLE b (id int PRIMARY KEY, c int);
CREATE TABLE c (id int PRIMARY KEY, a int);
--- rows
INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1); INSERT INTO c VALUES (1, 1);
--- check
SELECT count(*) = 1 FROM a JOIN b ON a.b = b.id JOIN c ON b.c = c.id;
--- to
CREATE TABLE a (id int PRIMARY KEY, b int);
CREATE TABLE b (id int PRIMARY KEY, c int);
CREATE TABLE c (id int PRIMARY KEY, a int REFERENCES a);
ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b;
ALTER TABLE b ADD FOREIGN KEY (c) REFERENCES c;

--- case: tables in a circle vanish
--- from
CREATE TABLE keep (id int PRIMARY KEY);
CREATE TABLE a (id int PRIMARY KEY, b int, keep int REFERENCES keep);
CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a);
ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b;
--- to
CREATE TABLE keep (id int PRIMARY KEY);

--- case: a table refers to itself
--- from
CREATE TABLE t (id int PRIMARY KEY, up int);
--- rows
INSERT INTO t VALUES (1, NULL), (2, 1);
--- check
SELECT count(*) = 2 FROM t;
--- to
CREATE TABLE t (id int PRIMARY KEY, up int REFERENCES t ON DELETE CASCADE);

--- case: types of a circle change together
--- from
CREATE TABLE a (id int PRIMARY KEY, b int);
CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a);
ALTER TABLE a ADD CONSTRAINT fk FOREIGN KEY (b) REFERENCES b;
--- rows
INSERT INTO a VALUES (1, NULL); INSERT INTO b VALUES (1, 1); UPDATE a SET b = 1;
--- check
SELECT count(*) = 1 FROM a JOIN b ON a.b = b.id;
--- to
CREATE TABLE a (id text PRIMARY KEY, b text);
CREATE TABLE b (id text PRIMARY KEY, a text REFERENCES a);
ALTER TABLE a ADD CONSTRAINT fk FOREIGN KEY (b) REFERENCES b;

--- case: an exclusion constraint
--- from
CREATE TABLE t (during tsrange, n int);
--- rows
INSERT INTO t VALUES ('[2020-01-01, 2020-02-01)', 1), ('[2020-02-01, 2020-03-01)', 1);
--- check
SELECT count(*) = 2 FROM t;
--- to
CREATE TABLE t (during tsrange, n int, EXCLUDE USING gist (during WITH &&));

--- case: an exclusion constraint with a predicate and another operator
--- from
CREATE TABLE t (c circle, n int, b box, CONSTRAINT x EXCLUDE USING gist (c WITH &&));
--- to
CREATE TABLE t (c circle, n int, b box, CONSTRAINT x EXCLUDE USING gist (c WITH &&, b WITH ~=) INCLUDE (n) WHERE (n > 0) DEFERRABLE INITIALLY DEFERRED);

--- case: an exclusion constraint by btree_gist
--- from
CREATE EXTENSION btree_gist;
CREATE TABLE t (room int, during tstzrange);
--- rows
INSERT INTO t VALUES (1, '[2020-01-01, 2020-02-01)'), (2, '[2020-01-01, 2020-02-01)');
--- check
SELECT count(*) = 2 FROM t;
--- to
CREATE EXTENSION btree_gist;
CREATE TABLE t (room int, during tstzrange, CONSTRAINT free EXCLUDE USING gist (room WITH =, during WITH &&));

--- case: an exclusion constraint over an expression on a btree
--- from
CREATE TABLE t (a text, CONSTRAINT x EXCLUDE (lower(a) WITH =));
--- to
CREATE TABLE t (a text, CONSTRAINT x EXCLUDE USING hash (a WITH =));

--- case: type of a column in an exclusion constraint
--- from
CREATE TABLE t (r int4range, CONSTRAINT x EXCLUDE USING gist (r WITH &&));
--- rows
INSERT INTO t VALUES ('[1,5)');
--- check
SELECT count(*) = 1 FROM t;
--- to
CREATE TABLE t (r int4range NOT NULL, CONSTRAINT x EXCLUDE USING gist (r WITH -|-));

--- case: a constraint is clustered on
--- from
CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE);
ALTER TABLE t CLUSTER ON t_pkey;
--- to
CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE);
ALTER TABLE t CLUSTER ON t_b_key;

--- case: a unique constraint on a column whose type changes
--- sensitive
--- from
CREATE TABLE p (code varchar(10) UNIQUE);
CREATE TABLE c (code varchar(10) REFERENCES p (code));
--- rows
INSERT INTO p VALUES ('x'); INSERT INTO c VALUES ('x');
--- check
SELECT count(*) = 1 FROM c JOIN p USING (code);
--- to
CREATE TABLE p (code text UNIQUE);
CREATE TABLE c (code text REFERENCES p (code));

--- case: comments and defaults stay when a constraint is made again
--- from
CREATE TABLE t (a int DEFAULT 1, CONSTRAINT k CHECK (a > 0));
COMMENT ON CONSTRAINT k ON t IS 'positive';
--- to
CREATE TABLE t (a int DEFAULT 1, CONSTRAINT k CHECK (a > 1));
COMMENT ON CONSTRAINT k ON t IS 'positive';

--- case: not enforced
--- since: 18
--- sensitive
--- from
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 0), CONSTRAINT fk FOREIGN KEY (a) REFERENCES p);
--- to
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 0) NOT ENFORCED, CONSTRAINT fk FOREIGN KEY (a) REFERENCES p NOT ENFORCED);

--- case: a key without overlaps
--- since: 18
--- sensitive
--- from
CREATE EXTENSION btree_gist;
CREATE TABLE t (id int, valid daterange);
--- rows
INSERT INTO t VALUES (1, '[2020-01-01, 2021-01-01)'), (1, '[2021-01-01, 2022-01-01)');
--- check
SELECT count(*) = 2 FROM t;
--- to
CREATE EXTENSION btree_gist;
CREATE TABLE t (id int, valid daterange, PRIMARY KEY (id, valid WITHOUT OVERLAPS));

--- case: a foreign key by period
--- since: 18
--- sensitive
--- from
CREATE EXTENSION btree_gist;
CREATE TABLE p (id int, valid daterange, PRIMARY KEY (id, valid WITHOUT OVERLAPS));
CREATE TABLE c (p int, valid daterange);
--- to
CREATE EXTENSION btree_gist;
CREATE TABLE p (id int, valid daterange, PRIMARY KEY (id, valid WITHOUT OVERLAPS));
CREATE TABLE c (p int, valid daterange, FOREIGN KEY (p, PERIOD valid) REFERENCES p (id, PERIOD valid));

--- case: unique becomes without overlaps
--- since: 18
--- sensitive
--- from
CREATE EXTENSION btree_gist;
CREATE TABLE t (id int, valid daterange, CONSTRAINT u UNIQUE (id, valid));
--- to
CREATE EXTENSION btree_gist;
CREATE TABLE t (id int, valid daterange, CONSTRAINT u UNIQUE (id, valid WITHOUT OVERLAPS));

--- case: not null has a name
--- since: 18
--- sensitive
--- from
CREATE TABLE t (a int NOT NULL, b int, c int CONSTRAINT must NOT NULL);
--- rows
INSERT INTO t VALUES (1, 2, 3);
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a int CONSTRAINT present NOT NULL, b int CONSTRAINT there NOT NULL, c int NOT NULL);

--- case: not null not valid
--- since: 18
--- sensitive
--- from
CREATE TABLE t (id int, a int);
--- rows
INSERT INTO t VALUES (1, NULL);
--- check
SELECT a IS NULL FROM t;
--- to
CREATE TABLE t (id int, a int);
ALTER TABLE t ADD CONSTRAINT t_a_present NOT NULL a NOT VALID;

--- case: not null not valid is validated
--- since: 18
--- sensitive
--- from
CREATE TABLE t (id int, a int);
ALTER TABLE t ADD CONSTRAINT t_a_present NOT NULL a NOT VALID;
--- rows
INSERT INTO t VALUES (1, 1);
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (id int, a int CONSTRAINT t_a_present NOT NULL);

--- case: not null without inheritance
--- since: 18
--- sensitive
--- from
CREATE TABLE t (a int NOT NULL);
--- to
CREATE TABLE t (a int NOT NULL NO INHERIT);

--- case: comment on a not null
--- since: 18
--- sensitive
--- from
CREATE TABLE t (a int CONSTRAINT must NOT NULL);
--- to
CREATE TABLE t (a int CONSTRAINT must NOT NULL);
COMMENT ON CONSTRAINT must ON t IS 'always';

--- case: a column of a primary key may not be null and then may
--- sensitive
--- from
CREATE TABLE t (a int, b int, PRIMARY KEY (a, b));
--- rows
INSERT INTO t VALUES (1, 1);
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a int, b int);

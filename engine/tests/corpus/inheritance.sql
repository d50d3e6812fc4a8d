-- Inheritance without partitions. Whether a child declares an inherited column itself cannot be taken back by any
-- statement, so both sides declare it, or the case goes one way.

--- case: a child is new
--- from
CREATE TABLE p (a int, b text);
--- rows
INSERT INTO p VALUES (1, 'x');
--- check
SELECT count(*) = 1 FROM p;
--- to
CREATE TABLE p (a int, b text);
CREATE TABLE c (d date) INHERITS (p);

--- case: a table becomes a child
--- from
CREATE TABLE p (a int, b text);
CREATE TABLE c (a int, b text, d date);
--- rows
INSERT INTO c VALUES (1, 'x', NULL);
--- check
SELECT count(*) = 1 FROM p;
--- to
CREATE TABLE p (a int, b text);
CREATE TABLE c (a int, b text, d date) INHERITS (p);

--- case: a child leaves its parent
--- sensitive
--- only: forward
--- from
CREATE TABLE p (a int, b text);
CREATE TABLE c (d date) INHERITS (p);
--- rows
INSERT INTO c VALUES (1, 'x', NULL);
--- check
SELECT b = 'x' FROM c;
--- to
CREATE TABLE p (a int, b text);
CREATE TABLE c (a int, b text, d date);

--- case: the parent gains a column
--- from
CREATE TABLE p (a int);
CREATE TABLE c (d date) INHERITS (p);
CREATE TABLE g (e int) INHERITS (c);
--- rows
INSERT INTO g VALUES (1, NULL, 2);
--- check
SELECT b = 'new' FROM g;
--- to
CREATE TABLE p (a int, b text DEFAULT 'new');
CREATE TABLE c (d date) INHERITS (p);
CREATE TABLE g (e int) INHERITS (c);

--- case: the parent gains a column that the child has
--- from
CREATE TABLE p (a int);
CREATE TABLE c (b text) INHERITS (p);
--- rows
INSERT INTO c VALUES (1, 'mine');
--- check
SELECT b = 'mine' FROM p;
--- to
CREATE TABLE p (a int, b text);
CREATE TABLE c (b text) INHERITS (p);

--- case: a column sinks from the parent to the child
--- only: forward
--- from
CREATE TABLE p (a int, b text);
CREATE TABLE c () INHERITS (p);
--- rows
INSERT INTO c VALUES (1, 'mine');
--- check
SELECT b = 'mine' FROM c;
--- to
CREATE TABLE p (a int);
CREATE TABLE c (b text) INHERITS (p);

--- case: two parents
--- sensitive
--- from
CREATE TABLE p (a int, x int);
CREATE TABLE q (a int, y int);
CREATE TABLE c (z int) INHERITS (p);
--- rows
INSERT INTO c VALUES (1, 2, 3);
--- check
SELECT a = 1 AND z = 3 FROM c;
--- to
CREATE TABLE p (a int, x int);
CREATE TABLE q (a int, y int);
CREATE TABLE c (z int, y int) INHERITS (p, q);

--- case: from one parent to another
--- from
CREATE TABLE p (a int);
CREATE TABLE q (a int);
CREATE TABLE c (a int, b int) INHERITS (p);
--- rows
INSERT INTO c VALUES (1, 2);
--- check
SELECT count(*) = 1 FROM q;
--- to
CREATE TABLE p (a int);
CREATE TABLE q (a int);
CREATE TABLE c (a int, b int) INHERITS (q);

--- case: checks of the parent
--- sensitive
--- from
CREATE TABLE p (a int, CONSTRAINT k CHECK (a > 0));
CREATE TABLE c () INHERITS (p);
--- rows
INSERT INTO c VALUES (5);
--- check
SELECT a = 5 FROM p;
--- to
CREATE TABLE p (a int, CONSTRAINT k CHECK (a > 1), CONSTRAINT alone CHECK (a < 100) NO INHERIT);
CREATE TABLE c (CONSTRAINT mine CHECK (a < 50)) INHERITS (p);

--- case: not null of parent and child
--- sensitive
--- from
CREATE TABLE p (a int, b int NOT NULL);
CREATE TABLE c (d int) INHERITS (p);
--- rows
INSERT INTO c VALUES (1, 2, 3);
--- check
SELECT a = 1 FROM c;
--- to
CREATE TABLE p (a int NOT NULL, b int);
CREATE TABLE c (d int NOT NULL) INHERITS (p);

--- case: default of a child
--- from
CREATE TABLE p (a int DEFAULT 1, b int);
CREATE TABLE c (a int DEFAULT 2, b int) INHERITS (p);
--- to
CREATE TABLE p (a int DEFAULT 3, b int DEFAULT 4);
CREATE TABLE c (a int, b int DEFAULT 5) INHERITS (p);

--- case: type of an inherited column
--- from
CREATE TABLE p (a int, b varchar(5));
CREATE TABLE c (d int) INHERITS (p);
CREATE INDEX c_a ON c (a);
CREATE VIEW v AS SELECT a FROM c;
--- rows
INSERT INTO c VALUES (1, 'x', 2);
--- check
SELECT a = 1 AND b = 'x' FROM c;
--- to
CREATE TABLE p (a bigint, b text);
CREATE TABLE c (d int) INHERITS (p);
CREATE INDEX c_a ON c (a);
CREATE VIEW v AS SELECT a FROM c;

--- case: the parent goes and the child stays
--- sensitive
--- only: forward
--- from
CREATE TABLE p (a int, b text);
CREATE TABLE c (d date) INHERITS (p);
--- rows
INSERT INTO c VALUES (1, 'x', NULL);
--- check
SELECT a = 1 FROM c;
--- to
CREATE TABLE c (a int, b text, d date);

--- case: a grandchild becomes a child
--- from
CREATE TABLE p (a int);
CREATE TABLE c (b int) INHERITS (p);
CREATE TABLE g (a int, b int, x int) INHERITS (c);
--- rows
INSERT INTO g VALUES (1, 2, 3);
--- check
SELECT b = 2 FROM g;
--- to
CREATE TABLE p (a int);
CREATE TABLE c (b int) INHERITS (p);
CREATE TABLE g (a int, b int, x int) INHERITS (p);

--- case: a column leaves the parent and its children
--- from
CREATE TABLE p (a int, b text);
CREATE TABLE c (d date) INHERITS (p);
--- rows
INSERT INTO c VALUES (1, 'x', NULL);
--- check
SELECT a = 1 FROM c;
--- to
CREATE TABLE p (a int);
CREATE TABLE c (d date) INHERITS (p);

--- case: a column leaves the parent and stays in the child
--- from
CREATE TABLE p (a int, b text);
CREATE TABLE c (b text, d date) INHERITS (p);
--- rows
INSERT INTO c VALUES (1, 'x', NULL);
--- check
SELECT b = 'x' FROM c;
--- to
CREATE TABLE p (a int);
CREATE TABLE c (b text, d date) INHERITS (p);

CREATE TABLE t (a varchar(10) CHECK (a IN ('x', 'y')), b numeric(10,2) CHECK (b IN (1, 2)));
CREATE INDEX t_a ON t (a) WHERE a IN ('x', 'y');
CREATE VIEW v AS SELECT a FROM t WHERE a IN ('x', 'y');
CREATE TABLE u (a varchar(10) CHECK (a IN ('x', 'y')), c varchar GENERATED ALWAYS AS (CASE WHEN a IN ('x','y') THEN 'z' END) STORED);

CREATE TABLE t (a int, b int); CREATE STATISTICS x ON a, b FROM t;

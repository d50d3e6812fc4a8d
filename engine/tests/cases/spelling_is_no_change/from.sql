CREATE TABLE t (id int4, a varchar(10) DEFAULT 'x', b numeric(10, 2) CHECK (b IN (1, 2)), c bool DEFAULT 't', d timestamptz DEFAULT CURRENT_TIMESTAMP);
CREATE VIEW v AS SELECT * FROM t WHERE a LIKE 'x%' OR b BETWEEN 1 AND 2;

CREATE TABLE t (id int, a text, b text);
CREATE VIEW grows AS SELECT id FROM t;
CREATE VIEW shrinks AS SELECT id, a FROM t;
CREATE VIEW above AS SELECT id FROM shrinks;
CREATE VIEW opt WITH (security_barrier) AS SELECT id FROM t;

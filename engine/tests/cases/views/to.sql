CREATE TABLE t (id int, a text, b text);
CREATE VIEW grows AS SELECT id, a FROM t WHERE id IN (1, 2);
CREATE VIEW shrinks AS SELECT id FROM t;
CREATE VIEW above AS SELECT id FROM shrinks;
CREATE VIEW opt AS SELECT id FROM t;
COMMENT ON COLUMN grows.a IS 'a column of a view';

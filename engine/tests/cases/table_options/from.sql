CREATE TABLE t (id int, a text) WITH (fillfactor = 70, autovacuum_enabled = false);
ALTER TABLE t ALTER a SET STORAGE EXTERNAL;

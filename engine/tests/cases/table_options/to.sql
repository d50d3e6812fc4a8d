CREATE UNLOGGED TABLE t (id int, a text COMPRESSION pglz) WITH (fillfactor = 80, toast.autovacuum_enabled = false);
ALTER TABLE t ALTER a SET STATISTICS 500;
CREATE UNLOGGED TABLE u (id serial, a text STORAGE PLAIN) WITH (fillfactor = 50);

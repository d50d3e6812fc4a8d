CREATE TABLE t (id int, a text DEFAULT 'x', b int, c int NOT NULL);

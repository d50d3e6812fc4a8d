CREATE TABLE t (id int NOT NULL, a text, b int DEFAULT 1 + 2, c int);

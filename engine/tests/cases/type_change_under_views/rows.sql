INSERT INTO t (id, n) VALUES (1, 10), (2, 20);

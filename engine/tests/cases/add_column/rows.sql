INSERT INTO t SELECT generate_series(1, 10);

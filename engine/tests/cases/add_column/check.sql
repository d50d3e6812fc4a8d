SELECT count(*) = 10 AND bool_and(b = 7) FROM t

SELECT a = 42 AND b = 'short' AND c = '2020-01-01' AND d = '7' FROM t

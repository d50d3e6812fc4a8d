SELECT a = 'a' AND b = 2 FROM t

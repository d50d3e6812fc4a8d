INSERT INTO t VALUES ('happy', '{sad,happy}');

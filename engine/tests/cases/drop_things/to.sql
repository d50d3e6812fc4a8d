CREATE TABLE t (id int PRIMARY KEY, c int);
CREATE TABLE kept (id int PRIMARY KEY, gone_id int);

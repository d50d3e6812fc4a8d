CREATE TABLE t (a int DEFAULT 1, b varchar(10), c date, d text COLLATE "C");

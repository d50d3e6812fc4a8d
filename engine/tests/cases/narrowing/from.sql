CREATE TABLE t (a text DEFAULT '1', b varchar(20), c timestamptz, d bigint);

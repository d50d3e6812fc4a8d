CREATE AGGREGATE x (int) (sfunc = int4pl, stype = int);

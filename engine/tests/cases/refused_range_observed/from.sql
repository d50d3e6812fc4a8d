CREATE TYPE x AS RANGE (subtype = int);

CREATE TYPE x AS (a int);

-- What does not end, or fills something.

-- case: endless_function
-- expect: scratch_limit
-- words: schema.sql:2 | was not done after
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN LOOP END LOOP; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: endless_function_in_a_check
-- expect: scratch_limit
-- words: schema.sql:3 | was not done after
CREATE FUNCTION f() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN LOOP END LOOP; END $$;
CREATE TABLE t (a int);
ALTER TABLE t ADD CONSTRAINT c CHECK (a > f());
-- case: endless_function_in_an_index
-- expect: scratch_limit
-- words: schema.sql:4 | was not done after
CREATE TABLE t (a int);
CREATE FUNCTION f(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN LOOP END LOOP; END $$;
CREATE FUNCTION g() RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (1) RETURNING a';
CREATE INDEX i ON t (f(1), a);
-- case: endless_function_in_an_index_over_rows
-- expect: scratch_limit
-- words: was not done after
CREATE TABLE t (a int);
CREATE FUNCTION f(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN LOOP END LOOP; END $$;
CREATE FUNCTION g() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.t VALUES (1); RETURN 1; END';
CREATE MATERIALIZED VIEW m AS SELECT g() AS a;
CREATE INDEX i ON t (f(a));
-- case: endless_function_in_a_default
-- expect: scratch_limit
-- words: schema.sql:3 | was not done after
CREATE TABLE t (a int);
CREATE FUNCTION f() RETURNS int STABLE LANGUAGE plpgsql AS $$ BEGIN LOOP END LOOP; END $$;
ALTER TABLE t ADD COLUMN b int DEFAULT f();
-- case: endless_function_in_a_generated_column
-- expect: scratch_limit
-- words: was not done after
CREATE TABLE t (a int);
CREATE FUNCTION f() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN LOOP END LOOP; END $$;
ALTER TABLE t ADD COLUMN b int GENERATED ALWAYS AS (f()) STORED;
-- case: function_that_will_not_be_cancelled
-- expect: scratch_limit
-- words: schema.sql:2 | was not done after
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN LOOP BEGIN PERFORM pg_sleep(3600); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: function_that_lifts_the_limit
-- expect: scratch_limit
-- words: was not done after
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'SET statement_timeout = 0'; LOOP END LOOP; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: endless_recursive_query
-- expect: scratch_limit
-- words: schema.sql:1
CREATE MATERIALIZED VIEW m AS WITH RECURSIVE r(a) AS (SELECT 1 UNION ALL SELECT a FROM r) SELECT count(*) FROM r;
-- case: sleep
-- expect: scratch_limit
-- words: schema.sql:1 | was not done after
CREATE MATERIALIZED VIEW m AS SELECT 1 AS a FROM pg_sleep(3600);
-- case: functions_without_end
-- expect: desired_rejected
-- words: stack depth limit exceeded
CREATE FUNCTION f(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN public.f($1 + 1); END $$;
CREATE MATERIALIZED VIEW m AS SELECT f(1) AS a;
-- case: rows_that_fill_the_disk
-- expect: scratch_limit
-- words: schema.sql:1 | grew beyond
CREATE MATERIALIZED VIEW m AS SELECT generate_series(1, 1000000000) AS a, repeat('x', 1500) AS b;
-- case: large_objects_that_fill_the_disk
-- expect: scratch_limit
-- words: schema.sql:2 | grew beyond
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN LOOP PERFORM lo_from_bytea(0, convert_to(string_agg(md5(i::text), ''), 'UTF8')) FROM generate_series(1, 20000) AS s(i); END LOOP; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: one_value_that_fills_the_memory
-- expect: scratch_limit
-- words: schema.sql:1 | needed more memory
CREATE MATERIALIZED VIEW m AS SELECT repeat('x', 1000000000) AS a;
-- case: values_that_fill_the_memory
-- expect: scratch_limit
-- words: schema.sql:2 | needed more memory
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ DECLARE a text[] := '{}'; BEGIN LOOP a := a || repeat('x', 100000000); END LOOP; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;

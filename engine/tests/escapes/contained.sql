-- What is admitted and then runs, as a role that may do nothing but make objects in one empty database.

-- case: read_a_file
-- expect: statement_not_admitted
-- words: permission denied for function pg_read_file
CREATE MATERIALIZED VIEW m AS SELECT pg_read_file('{canary}') AS a;
-- case: read_a_file_in_bytes
-- expect: statement_not_admitted
-- words: permission denied for function pg_read_binary_file
CREATE MATERIALIZED VIEW m AS SELECT pg_read_binary_file('{canary}') AS a;
-- case: list_a_folder
-- expect: statement_not_admitted
-- words: permission denied for function pg_ls_dir
CREATE MATERIALIZED VIEW m AS SELECT pg_ls_dir('/') AS a;
-- case: look_at_a_file
-- expect: statement_not_admitted
-- words: permission denied for function pg_stat_file
CREATE MATERIALIZED VIEW m AS SELECT (pg_stat_file('{canary}')).size AS a;
-- case: large_object_import
-- expect: statement_not_admitted
-- words: permission denied for function lo_import
CREATE MATERIALIZED VIEW m AS SELECT lo_import('{canary}') AS a;
-- case: large_object_export
-- expect: statement_not_admitted
-- words: permission denied for function lo_export
CREATE MATERIALIZED VIEW m AS SELECT lo_export(lo_from_bytea(0, 'x'), '{file}') AS a;
-- case: copy_program_in_a_function
-- expect: statement_not_admitted
-- words: schema.sql:2 | COPY
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''cat > {file}'''; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: copy_program_in_a_function_of_older_servers
-- expect: statement_not_admitted
-- words: COPY
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'COPY (SELECT 1) TO ''{file}'''; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: copy_program_in_a_folded_check
-- expect: statement_not_admitted
-- words: COPY
CREATE FUNCTION v() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''cat > {file}'''; RETURN 1; END $$;
CREATE FUNCTION f() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT public.v()';
CREATE TABLE t (a int);
ALTER TABLE t ADD CONSTRAINT c CHECK (a > f());
-- case: copy_program_in_a_default
-- expect: statement_not_admitted
-- words: COPY
CREATE FUNCTION v() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''cat > {file}'''; RETURN 1; END $$;
CREATE FUNCTION f() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT public.v()';
CREATE TABLE t (a int);
ALTER TABLE t ADD COLUMN b int DEFAULT f();
-- case: copy_program_in_a_partition_bound
-- expect: statement_not_admitted
-- words: COPY
CREATE FUNCTION v() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''cat > {file}'''; RETURN 1; END $$;
CREATE FUNCTION f() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT public.v()';
CREATE TABLE t (a int) PARTITION BY LIST (a);
CREATE TABLE u PARTITION OF t FOR VALUES IN (f());
-- case: alter_system_in_a_function
-- expect: desired_rejected
-- words: schema.sql:2 | ALTER SYSTEM cannot be executed from a function
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER SYSTEM SET work_mem = ''1MB'''; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: superuser_in_a_function
-- expect: statement_not_admitted
-- words: schema.sql:2
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'CREATE ROLE boss SUPERUSER'; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: become_superuser_in_a_function
-- expect: statement_not_admitted
-- words: schema.sql:2
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER ROLE CURRENT_USER SUPERUSER'; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: set_role_in_a_function
-- expect: statement_not_admitted
-- words: schema.sql:2
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'SET ROLE ptah_scratch_admin'; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: role_setting_of_a_function
-- expect: statement_not_admitted
-- words: schema.sql
CREATE FUNCTION f() RETURNS int LANGUAGE sql SET role = 'ptah_scratch_admin' AS 'SELECT 1';
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: event_trigger_in_a_function
-- expect: statement_not_admitted
-- words: schema.sql:3
CREATE FUNCTION e() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'CREATE EVENT TRIGGER x ON ddl_command_end EXECUTE FUNCTION e()'; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: subscription_in_a_function
-- expect: statement_not_admitted
-- words: schema.sql:2
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'CREATE SUBSCRIPTION s CONNECTION ''host=127.0.0.1 port={port} dbname=x'' PUBLICATION p WITH (connect = false)'; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: c_function_by_path
-- expect: statement_not_admitted
-- words: permission denied for language c
CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/lib/x86_64-linux-gnu/libc.so.6', 'system';
-- case: internal_function_by_another_name
-- expect: statement_not_admitted
-- words: permission denied for language internal
CREATE FUNCTION f(text) RETURNS text LANGUAGE internal AS 'pg_read_file_all';
-- case: library_in_a_function
-- expect: statement_not_admitted
-- words: schema.sql:2 | access to library
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'LOAD ''/lib/x86_64-linux-gnu/libc.so.6'''; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: untrusted_language_by_extension
-- expect: missing_extension
-- words: schema.sql:1 | the scratch server lacks extension plperlu
CREATE EXTENSION plperlu;
CREATE FUNCTION f() RETURNS text LANGUAGE plperlu AS 'return `id > {file}`;';
-- case: python
-- expect: missing_extension
-- words: schema.sql:1 | the scratch server lacks extension plpython3u
CREATE EXTENSION plpython3u;
CREATE FUNCTION f() RETURNS text LANGUAGE plpython3u AS 'open("{file}", "w")';
-- case: function_in_pg_catalog
-- expect: statement_not_admitted
-- words: permission denied for schema pg_catalog
CREATE FUNCTION pg_catalog.lower(name) RETURNS text LANGUAGE sql AS 'SELECT 1::text';
-- case: table_in_pg_catalog
-- expect: statement_not_admitted
-- words: pg_catalog
CREATE TABLE pg_catalog.pg_planted (a int);
-- case: trigger_on_a_catalog
-- expect: statement_not_admitted
-- words: permission denied
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER x AFTER INSERT ON pg_catalog.pg_class FOR EACH ROW EXECUTE FUNCTION f();
-- case: rule_on_a_catalog
-- expect: statement_not_admitted
-- words: permission denied
CREATE RULE r AS ON INSERT TO pg_catalog.pg_class DO NOTHING;
-- case: passwords_of_roles
-- expect: statement_not_admitted
-- words: permission denied for table pg_authid
CREATE MATERIALIZED VIEW m AS SELECT rolpassword FROM pg_catalog.pg_authid;
-- case: settings_of_the_server
-- expect: statement_not_admitted
-- words: permission denied
CREATE MATERIALIZED VIEW m AS SELECT setting FROM pg_catalog.pg_file_settings;
-- case: host_based_authentication
-- expect: statement_not_admitted
-- words: permission denied
CREATE MATERIALIZED VIEW m AS SELECT count(*) FROM pg_hba_file_rules;
-- case: end_other_sessions
-- expect: planned
-- words: materialized view public.m
CREATE MATERIALIZED VIEW m AS SELECT count(*) FROM pg_stat_activity WHERE usename = 'ptah_scratch_admin' AND query <> '';
-- case: drop_the_database
-- expect: desired_rejected
-- words: schema.sql:2 | DROP DATABASE cannot be executed from a function
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DROP DATABASE scratch_0'; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: dblink_may_be_named
-- expect: planned
CREATE EXTENSION dblink;
CREATE VIEW v AS SELECT a FROM dblink('host=127.0.0.1 port={port} user=x password=y dbname=z', 'SELECT 1') AS t(a int);
-- case: dblink_cannot_be_executed
-- expect: statement_not_admitted
-- words: permission denied for function dblink
CREATE EXTENSION dblink;
CREATE MATERIALIZED VIEW m AS SELECT a FROM dblink('host=127.0.0.1 port={port} user=x password=y dbname=z', 'SELECT 1') AS t(a int);
-- case: dblink_connect_cannot_be_executed
-- expect: statement_not_admitted
-- words: permission denied for function dblink_connect
CREATE EXTENSION dblink WITH SCHEMA public;
CREATE FUNCTION f() RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT public.dblink_connect('host=127.0.0.1 port={port} user=x password=y') $$;
CREATE TABLE t (a text);
ALTER TABLE t ADD CONSTRAINT c CHECK (a <> f());
-- case: postgres_fdw_in_a_function
-- expect: statement_not_admitted
-- words: permission denied for foreign-data wrapper postgres_fdw
CREATE EXTENSION postgres_fdw;
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host ''127.0.0.1'', port ''{port}'')'; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: file_fdw_in_a_function
-- expect: statement_not_admitted
-- words: permission denied for foreign-data wrapper file_fdw
CREATE EXTENSION file_fdw;
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'CREATE SERVER s FOREIGN DATA WRAPPER file_fdw'; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: extension_in_a_function
-- expect: statement_not_admitted
-- words: permission denied to create extension "dblink"
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'CREATE EXTENSION dblink'; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;
-- case: extension_that_writes_files
-- until: 16
-- expect: statement_not_admitted
-- words: permission denied for function pg_file_write
CREATE EXTENSION adminpack;
CREATE MATERIALIZED VIEW m AS SELECT pg_catalog.pg_file_write('{file}', 'x', false) AS a;
-- case: extension_that_reads_pages
-- expect: statement_not_admitted
-- words: permission denied for function get_raw_page
CREATE EXTENSION pageinspect;
CREATE MATERIALIZED VIEW m AS SELECT get_raw_page('pg_catalog.pg_authid', 0) AS a;
-- case: extension_script_that_calls_what_is_declared
-- expect: planned
CREATE FUNCTION public.cube_distance(text, text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'CREATE ROLE boss SUPERUSER'; RETURN 1; END $$;
CREATE EXTENSION cube;
CREATE EXTENSION earthdistance;
-- case: extension_with_a_path_for_a_name
-- expect: missing_extension
-- words: schema.sql:1 | the scratch server lacks extension
CREATE EXTENSION "../../../../tmp/evil";
-- case: xml_reads_a_file
-- expect: planned
-- words: materialized view public.m
CREATE MATERIALIZED VIEW m AS SELECT XMLPARSE(DOCUMENT '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file://{canary}">]><a>&x;</a>')::text AS a;
-- case: notify_in_a_function
-- expect: planned
-- words: materialized view public.m
CREATE MATERIALIZED VIEW m AS SELECT 1 AS a FROM pg_notify('ptah', 'x');
-- case: advisory_locks
-- expect: planned
-- words: materialized view public.m
CREATE MATERIALIZED VIEW m AS SELECT 1 AS a FROM pg_advisory_lock(1237737229);
-- case: signal_other_sessions
-- expect: statement_not_admitted
-- words: schema.sql:1 | to terminate
CREATE MATERIALIZED VIEW m AS SELECT pg_terminate_backend(pid) AS a FROM pg_stat_activity WHERE usename = 'ptah_scratch_admin' AND pid <> pg_backend_pid();
-- case: settings_that_outlive_the_session
-- expect: planned
CREATE FUNCTION v() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  EXECUTE 'ALTER ROLE ptah_scratch_loader SET search_path TO evil, public, pg_catalog';
  EXECUTE 'ALTER ROLE ptah_scratch_loader SET statement_timeout TO 1';
  EXECUTE 'ALTER ROLE ptah_scratch_loader PASSWORD ''evil''';
  EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only TO on', current_database());
  RETURN 1; END $$;
CREATE FUNCTION f() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT public.v()';
CREATE TABLE t (a int);
ALTER TABLE t ADD CONSTRAINT c CHECK (a > f());
-- case: settings_of_the_session
-- expect: planned
CREATE FUNCTION v() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  PERFORM set_config('search_path', 'evil, public, pg_catalog', false);
  PERFORM set_config('quote_all_identifiers', 'on', false);
  RETURN 1; END $$;
CREATE FUNCTION f() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT public.v()';
CREATE TABLE t (a int);
ALTER TABLE t ADD CONSTRAINT c CHECK (a > f());
-- case: type_and_relation_in_the_temporary_schema
-- expect: planned
CREATE FUNCTION v() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  EXECUTE 'CREATE TEMPORARY TABLE pg_class (oid oid)';
  EXECUTE 'CREATE DOMAIN pg_temp.text AS pg_catalog.int4';
  RETURN 1; END $$;
CREATE FUNCTION f() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT public.v()';
CREATE TABLE t (a int);
ALTER TABLE t ADD CONSTRAINT c CHECK (a > f());
-- case: operators_that_shadow
-- expect: planned
CREATE SCHEMA evil;
CREATE FUNCTION evil.v() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  EXECUTE 'CREATE OR REPLACE FUNCTION evil.eq(text, text) RETURNS boolean LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION ''''called''''; END''';
  PERFORM set_config('search_path', 'evil, pg_catalog', false);
  RETURN 1; END $$;
CREATE FUNCTION evil.f() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT evil.v()';
CREATE TABLE t (a int);
ALTER TABLE t ADD CONSTRAINT c CHECK (a > evil.f());

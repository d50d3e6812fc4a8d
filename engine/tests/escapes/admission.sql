-- Statements that declare nothing: refused by name before any server sees them.
-- Each case: `-- case: name`, `-- expect: code`, `-- words: what the message must say`, then the SQL.

-- case: copy_from_file
-- expect: statement_not_admitted
-- words: schema.sql:2: COPY is not admitted
CREATE TABLE t (a text);
COPY t FROM '{canary}';
-- case: copy_to_file
-- expect: statement_not_admitted
-- words: schema.sql:1: COPY is not admitted
COPY (SELECT 'x') TO '{file}';
-- case: copy_from_program
-- expect: statement_not_admitted
-- words: schema.sql:2: COPY is not admitted
CREATE TABLE t (a text);
COPY t FROM PROGRAM 'id > {file}';
-- case: copy_to_program
-- expect: statement_not_admitted
-- words: schema.sql:1: COPY is not admitted
COPY (SELECT 'x') TO PROGRAM 'cat > {file}';
-- case: select_into
-- expect: statement_not_admitted
-- words: is not admitted
SELECT pg_read_file('{canary}') AS a INTO t;
-- case: create_table_as
-- expect: statement_not_admitted
-- words: CREATE TABLE AS is not admitted
CREATE TABLE t AS SELECT pg_read_file('{canary}') AS a;
-- case: do_block
-- expect: statement_not_admitted
-- words: DO is not admitted
DO $$ BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''id > {file}'''; END $$;
-- case: call
-- expect: statement_not_admitted
-- words: CALL is not admitted
CREATE PROCEDURE p() LANGUAGE sql AS 'SELECT 1';
CALL p();
-- case: load
-- expect: statement_not_admitted
-- words: LOAD is not admitted
LOAD '/tmp/evil.so';
-- case: alter_system
-- expect: statement_not_admitted
-- words: ALTER SYSTEM is not admitted
ALTER SYSTEM SET shared_preload_libraries = '/tmp/evil.so';
-- case: set_role
-- expect: statement_not_admitted
-- words: SET ROLE is not admitted
SET ROLE ptah_scratch_admin;
-- case: set_local_role
-- expect: statement_not_admitted
-- words: is not admitted
SET LOCAL ROLE ptah_scratch_admin;
-- case: set_setting
-- expect: statement_not_admitted
-- words: SET is not admitted
SET session_replication_role = replica;
-- case: set_config
-- expect: statement_not_admitted
-- words: SELECT is not admitted
SELECT pg_catalog.set_config('role', 'ptah_scratch_admin', false);
-- case: set_config_with_a_call
-- expect: statement_not_admitted
-- words: SELECT is not admitted
SELECT pg_catalog.set_config('search_path', pg_read_file('{canary}'), false);
-- case: create_superuser
-- expect: statement_not_admitted
-- words: CREATE ROLE is not admitted
CREATE ROLE boss SUPERUSER LOGIN PASSWORD 'x';
-- case: alter_own_role
-- expect: statement_not_admitted
-- words: ALTER ROLE is not admitted
ALTER ROLE ptah_scratch_loader SUPERUSER;
-- case: create_database
-- expect: statement_not_admitted
-- words: CREATE DATABASE is not admitted
CREATE DATABASE d;
-- case: alter_database
-- expect: statement_not_admitted
-- words: ALTER DATABASE is not admitted
ALTER DATABASE scratch_0 SET search_path = evil;
-- case: event_trigger
-- expect: statement_not_admitted
-- words: CREATE EVENT TRIGGER is not admitted
CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f();
-- case: subscription
-- expect: statement_not_admitted
-- words: CREATE SUBSCRIPTION is not admitted
CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1 port={port} dbname=x' PUBLICATION p;
-- case: publication
-- expect: statement_not_admitted
-- words: CREATE PUBLICATION is not admitted
CREATE PUBLICATION p FOR ALL TABLES;
-- case: foreign_server
-- expect: statement_not_admitted
-- words: CREATE SERVER is not admitted
CREATE EXTENSION postgres_fdw;
CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '{port}');
-- case: foreign_table
-- expect: statement_not_admitted
-- words: CREATE FOREIGN TABLE is not admitted
CREATE FOREIGN TABLE t (a text) SERVER s OPTIONS (filename '{canary}');
-- case: foreign_data_wrapper
-- expect: statement_not_admitted
-- words: CREATE FOREIGN DATA WRAPPER is not admitted
CREATE FOREIGN DATA WRAPPER w;
-- case: user_mapping
-- expect: statement_not_admitted
-- words: CREATE USER MAPPING is not admitted
CREATE USER MAPPING FOR PUBLIC SERVER s OPTIONS (password 'x');
-- case: import_foreign_schema
-- expect: statement_not_admitted
-- words: IMPORT FOREIGN SCHEMA is not admitted
IMPORT FOREIGN SCHEMA public FROM SERVER s INTO public;
-- case: untrusted_language
-- expect: statement_not_admitted
-- words: CREATE LANGUAGE is not admitted
CREATE LANGUAGE plpython3u;
-- case: notify
-- expect: statement_not_admitted
-- words: NOTIFY is not admitted
NOTIFY c, 'x';
-- case: listen
-- expect: statement_not_admitted
-- words: LISTEN is not admitted
LISTEN c;
-- case: lock_table
-- expect: statement_not_admitted
-- words: LOCK is not admitted
CREATE TABLE t (a int);
LOCK TABLE t;
-- case: prepare
-- expect: statement_not_admitted
-- words: PREPARE is not admitted
PREPARE p AS SELECT pg_read_file('{canary}');
-- case: declare_cursor
-- expect: statement_not_admitted
-- words: DECLARE is not admitted
DECLARE c CURSOR FOR SELECT pg_sleep(1000);
-- case: explain_analyze
-- expect: statement_not_admitted
-- words: EXPLAIN is not admitted
EXPLAIN ANALYZE SELECT pg_read_file('{canary}');
-- case: with_that_writes
-- expect: statement_not_admitted
-- words: is not admitted
WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x;
-- case: values
-- expect: statement_not_admitted
-- words: is not admitted
VALUES (pg_read_file('{canary}'));
-- case: table_command
-- expect: statement_not_admitted
-- words: is not admitted
TABLE pg_authid;
-- case: checkpoint
-- expect: statement_not_admitted
-- words: CHECKPOINT is not admitted
CHECKPOINT;
-- case: tablespace
-- expect: statement_not_admitted
-- words: CREATE TABLESPACE is not admitted
CREATE TABLESPACE s LOCATION '/tmp';
-- case: access_method
-- expect: statement_not_admitted
-- words: CREATE ACCESS METHOD is not admitted
CREATE ACCESS METHOD m TYPE INDEX HANDLER bthandler;
-- case: transform_or_cast
-- expect: statement_not_admitted
-- words: CREATE CAST is not admitted
CREATE CAST (text AS int4) WITHOUT FUNCTION;
-- case: operator
-- expect: statement_not_admitted
-- words: CREATE OPERATOR is not admitted
CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = name, FUNCTION = f);
-- case: extension_from_elsewhere
-- expect: statement_not_admitted
-- words: CREATE EXTENSION is not admitted
CREATE EXTENSION citext VERSION '1.0' CASCADE;
-- case: extension_update
-- expect: statement_not_admitted
-- words: ALTER EXTENSION is not admitted
ALTER EXTENSION plpgsql UPDATE;
-- case: security_label
-- expect: statement_not_admitted
-- words: SECURITY LABEL is not admitted
SECURITY LABEL ON ROLE ptah_scratch_loader IS 'x';
-- case: reassign_owned
-- expect: statement_not_admitted
-- words: REASSIGN is not admitted
REASSIGN OWNED BY ptah_scratch_admin TO ptah_scratch_loader;
-- case: grant_a_role_of_the_server
-- expect: statement_not_admitted
-- words: schema.sql:1
GRANT pg_execute_server_program TO CURRENT_USER;
-- case: grant_a_role_that_reads_files
-- expect: statement_not_admitted
-- words: schema.sql:1
GRANT pg_read_server_files TO ptah_scratch_loader;
-- case: psql_shell
-- expect: desired_syntax
-- words: schema.sql:1
\! id > {file}
-- case: psql_copy
-- expect: desired_syntax
-- words: schema.sql:2
CREATE TABLE t (a text);
\copy t FROM '{canary}'
-- case: psql_include
-- expect: desired_syntax
-- words: schema.sql:1
\i {canary}
-- case: psql_gexec
-- expect: desired_syntax
-- words: schema.sql:1
SELECT 'DROP TABLE t' \gexec
-- case: psql_restrict_that_is_no_token
-- expect: desired_syntax
-- words: schema.sql:1
\restrict a; DROP TABLE t
\unrestrict a

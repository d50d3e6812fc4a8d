-- Privileges and default privileges.

--- case: on a table
--- from
CREATE TABLE t (a int);
GRANT SELECT ON t TO reader;
--- to
CREATE TABLE t (a int);
GRANT INSERT, UPDATE, DELETE ON t TO reader;

--- case: all, and then all but one
--- sensitive
--- from
CREATE TABLE t (a int);
GRANT ALL ON t TO reader;
--- to
CREATE TABLE t (a int);
GRANT ALL ON t TO reader;
REVOKE TRUNCATE ON t FROM reader;

--- case: the grant option
--- from
CREATE TABLE t (a int);
GRANT SELECT ON t TO reader;
GRANT UPDATE ON t TO reader WITH GRANT OPTION;
--- to
CREATE TABLE t (a int);
GRANT SELECT ON t TO reader WITH GRANT OPTION;
GRANT UPDATE ON t TO reader;

--- case: to everybody
--- from
CREATE TABLE t (a int);
GRANT SELECT ON t TO PUBLIC;
--- to
CREATE TABLE t (a int);
GRANT INSERT ON t TO PUBLIC;

--- case: on columns
--- from
CREATE TABLE t (a int, b int, c int);
GRANT SELECT (a, b) ON t TO reader;
--- to
CREATE TABLE t (a int, b int, c int);
GRANT SELECT (b), UPDATE (c), REFERENCES (a) ON t TO reader;
GRANT SELECT (a) ON t TO PUBLIC;

--- case: from columns to the table
--- from
CREATE TABLE t (a int, b int);
GRANT SELECT (a), INSERT (a, b) ON t TO reader;
--- to
CREATE TABLE t (a int, b int);
GRANT SELECT, INSERT ON t TO reader;

--- case: on a column that changes its type and one that goes
--- from
CREATE TABLE t (a int, b int, c text);
GRANT SELECT (a, b) ON t TO reader;
--- to
CREATE TABLE t (a bigint, c text);
GRANT SELECT (a), UPDATE (a) ON t TO reader;

--- case: on views and materialized views
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
CREATE MATERIALIZED VIEW m AS SELECT a FROM t;
GRANT SELECT ON v TO reader;
--- to
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
CREATE MATERIALIZED VIEW m AS SELECT a FROM t;
GRANT SELECT (a), INSERT ON v TO reader;
GRANT SELECT ON m TO reader WITH GRANT OPTION;

--- case: on sequences
--- from
CREATE SEQUENCE s;
CREATE TABLE t (id serial);
GRANT ALL ON s TO reader;
--- to
CREATE SEQUENCE s;
CREATE TABLE t (id serial);
GRANT USAGE ON SEQUENCE s, t_id_seq TO reader;

--- case: everybody may no longer execute
--- from
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE PROCEDURE p(int) LANGUAGE sql AS 'SELECT 1';
--- to
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE PROCEDURE p(int) LANGUAGE sql AS 'SELECT 1';
REVOKE ALL ON FUNCTION f() FROM PUBLIC;
REVOKE EXECUTE ON PROCEDURE p(int) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE p(int) TO reader;

--- case: a function is made again with its privileges
--- from
CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS 'SELECT 1';
REVOKE ALL ON FUNCTION f(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION f(int) TO reader WITH GRANT OPTION;
--- to
CREATE FUNCTION f(b int) RETURNS text LANGUAGE sql AS 'SELECT ''1''';
REVOKE ALL ON FUNCTION f(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION f(int) TO reader WITH GRANT OPTION;

--- case: on types and domains
--- from
CREATE TYPE e AS ENUM ('a');
CREATE DOMAIN d AS int;
CREATE TYPE c AS (x int);
GRANT USAGE ON TYPE e TO reader;
--- to
CREATE TYPE e AS ENUM ('a');
CREATE DOMAIN d AS int;
CREATE TYPE c AS (x int);
REVOKE USAGE ON TYPE e FROM PUBLIC;
GRANT USAGE ON DOMAIN d TO reader WITH GRANT OPTION;
REVOKE USAGE ON TYPE c FROM PUBLIC;

--- case: on schemas
--- sensitive
--- from
CREATE SCHEMA s;
GRANT USAGE ON SCHEMA s TO reader;
CREATE TABLE s.t (a int);
--- to
CREATE SCHEMA s;
GRANT ALL ON SCHEMA s TO reader WITH GRANT OPTION;
GRANT USAGE ON SCHEMA s TO PUBLIC;
CREATE TABLE s.t (a int);

--- case: maintain
--- since: 17
--- sensitive
--- from
CREATE TABLE t (a int);
GRANT ALL ON t TO reader;
--- to
CREATE TABLE t (a int);
GRANT SELECT, MAINTAIN ON t TO reader;

--- case: on all tables of a schema
--- from
CREATE SCHEMA s;
CREATE TABLE s.t (a int);
CREATE TABLE s.u (a int);
--- to
CREATE SCHEMA s;
CREATE TABLE s.t (a int);
CREATE TABLE s.u (a int);
GRANT SELECT ON ALL TABLES IN SCHEMA s TO reader;
CREATE TABLE s.w (a int);

--- case: a new object with privileges
--- from
CREATE TABLE t (a int);
--- to
CREATE TABLE t (a int);
CREATE TABLE u (a int, b serial);
GRANT SELECT (a), UPDATE (b) ON u TO reader;
GRANT USAGE ON SEQUENCE u_b_seq TO reader;
CREATE VIEW v AS SELECT a FROM u;
GRANT SELECT ON v TO PUBLIC;
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
REVOKE EXECUTE ON FUNCTION f() FROM PUBLIC;

--- case: default privileges in a schema
--- from
CREATE SCHEMA s;
CREATE TABLE s.t (a int);
--- to
CREATE SCHEMA s;
CREATE TABLE s.t (a int);
ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT SELECT ON TABLES TO reader;

--- case: default privileges of several kinds
--- from
CREATE SCHEMA s;
ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT SELECT ON TABLES TO reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT USAGE ON SEQUENCES TO reader;
CREATE TABLE t (a int);
--- to
CREATE SCHEMA s;
ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT SELECT, INSERT ON TABLES TO reader WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT EXECUTE ON FUNCTIONS TO reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT USAGE ON TYPES TO reader;
CREATE TABLE t (a int);

--- case: default privileges everywhere
--- only: forward
--- sensitive
--- from
CREATE TABLE t (a int);
--- to
CREATE TABLE t (a int);
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reader;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE USAGE ON TYPES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO reader;

--- case: default privileges for the owner by name
--- from
CREATE TABLE t (a int);
ALTER DEFAULT PRIVILEGES FOR ROLE app IN SCHEMA public GRANT SELECT ON TABLES TO reader;
--- to
CREATE TABLE t (a int);
ALTER DEFAULT PRIVILEGES FOR ROLE app IN SCHEMA public GRANT ALL ON TABLES TO PUBLIC;

--- case: default privileges before a table that is already there
--- from
CREATE SCHEMA s;
CREATE TABLE s.t (a int);
--- to
CREATE SCHEMA s;
ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT SELECT ON TABLES TO reader;
CREATE TABLE s.t (a int);
CREATE TABLE s.u (a int);

--- case: default privileges after a new table
--- only: forward
--- from
CREATE SCHEMA s;
CREATE TABLE s.t (a int);
--- to
CREATE SCHEMA s;
CREATE TABLE s.t (a int);
CREATE TABLE s.u (a int);
CREATE FUNCTION s.f() RETURNS int LANGUAGE sql AS 'SELECT 1';
ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT ALL ON TABLES TO reader;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

--- case: default privileges stand while an object is made again
--- from
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reader;
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
REVOKE SELECT ON v FROM reader;
--- to
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reader;
CREATE TABLE t (a bigint);
CREATE VIEW v AS SELECT a FROM t;
REVOKE SELECT ON v FROM reader;

--- case: revoked by default and granted to one
--- from
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
--- to
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
GRANT EXECUTE ON FUNCTION f() TO reader;
CREATE FUNCTION g() RETURNS int LANGUAGE sql AS 'SELECT 1';
GRANT EXECUTE ON FUNCTION g() TO PUBLIC;

--- case: privileges on partitions
--- from
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
GRANT SELECT ON p TO reader;
--- to
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
GRANT SELECT ON p, p1 TO reader;
GRANT UPDATE (k) ON p1 TO reader;

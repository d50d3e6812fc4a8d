-- The same schema in other words: no change.

--- case: types
--- same
--- from
CREATE TABLE t (a int, b varchar(5), c timestamptz, d decimal(5,2), e float8, f char, g bool, h timestamp(3));
--- to
CREATE TABLE t (a integer, b character varying(5), c timestamp with time zone, d numeric(5,2), e double precision, f character(1), g boolean, h timestamp(3) without time zone);

--- case: expressions
--- sensitive
--- same
--- from
CREATE TABLE t (a int CHECK (a IN (1, 2)), b text DEFAULT 'x', c boolean DEFAULT true, d timestamptz DEFAULT CURRENT_TIMESTAMP, e text CHECK (e LIKE 'a%'), f int CHECK (f BETWEEN 1 AND 5));
--- to
CREATE TABLE t (a int CHECK (a = ANY (ARRAY[1, 2])), b text DEFAULT 'x'::text, c boolean DEFAULT 't', d timestamptz DEFAULT CURRENT_TIMESTAMP, e text CHECK (e ~~ 'a%'::text), f int CHECK ((f >= 1) AND (f <= 5)));

--- case: constraints within and after the table
--- sensitive
--- same
--- from
CREATE TABLE p (id int PRIMARY KEY, a int UNIQUE, b int CHECK (b > 0), c int NOT NULL);
CREATE TABLE c (p int REFERENCES p ON DELETE CASCADE);
--- to
CREATE TABLE p (id int, a int, b int, c int);
ALTER TABLE p ADD PRIMARY KEY (id);
ALTER TABLE p ADD CONSTRAINT p_a_key UNIQUE (a), ADD CONSTRAINT p_b_check CHECK (b > 0), ALTER COLUMN c SET NOT NULL;
CREATE TABLE c (p int);
ALTER TABLE c ADD CONSTRAINT c_p_fkey FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE NO ACTION;

--- case: a serial written out
--- same
--- from
CREATE TABLE t (id serial PRIMARY KEY);
--- to
CREATE SEQUENCE t_id_seq AS integer;
CREATE TABLE t (id integer NOT NULL DEFAULT nextval('t_id_seq'::regclass), CONSTRAINT t_pkey PRIMARY KEY (id));
ALTER SEQUENCE t_id_seq OWNED BY t.id;

--- case: indexes
--- same
--- from
CREATE TABLE t (a int, b text);
CREATE INDEX i ON t (a);
CREATE INDEX j ON t (lower(b)) WHERE a > 0;
--- to
CREATE TABLE t (a int, b text);
CREATE INDEX i ON public.t USING btree (a int4_ops ASC NULLS LAST);
CREATE INDEX j ON public.t USING btree (lower(b) text_ops) WHERE (a > 0);

--- case: partitions attached and created so
--- sensitive
--- same
--- from
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE INDEX p_v ON p (v);
--- to
CREATE TABLE p1 (k int, v text);
CREATE TABLE p (k int, v text) PARTITION BY RANGE (k);
ALTER TABLE p ATTACH PARTITION p1 FOR VALUES FROM (0) TO (10);
CREATE INDEX p_v ON p (v);

--- case: views
--- sensitive
--- same
--- from
CREATE TABLE t (a int, b text);
CREATE VIEW v AS SELECT a, b FROM t WHERE a > 0;
--- to
CREATE TABLE t (a int, b text);
CREATE OR REPLACE VIEW public.v (a, b) AS SELECT t.a, t.b FROM public.t WHERE (t.a > 0);

--- case: built up and altered
--- sensitive
--- same
--- from
CREATE TABLE t (a bigint NOT NULL, c text DEFAULT 'c');
CREATE TYPE e AS ENUM ('a', 'b');
CREATE DOMAIN d AS int DEFAULT 1 CHECK (VALUE > 0);
--- to
CREATE TABLE u (a int, b int);
ALTER TABLE u RENAME TO t;
ALTER TABLE t ALTER COLUMN a TYPE bigint, ALTER COLUMN a SET NOT NULL, DROP COLUMN b, ADD COLUMN IF NOT EXISTS c text DEFAULT 'c';
CREATE TYPE e AS ENUM ('b');
ALTER TYPE e ADD VALUE 'a' BEFORE 'b';
CREATE DOMAIN d AS int;
ALTER DOMAIN d SET DEFAULT 1;
ALTER DOMAIN d ADD CHECK (VALUE > 0);

--- case: what a dump writes around its statements
--- same
--- from
CREATE TABLE t (a int);
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
--- to
SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SET check_function_bodies = false;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE FUNCTION public.f() RETURNS integer
    LANGUAGE sql
    AS $$SELECT 1$$;
CREATE TABLE public.t (
    a integer
);

--- case: privileges
--- same
--- from
CREATE TABLE t (a int);
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
GRANT SELECT, INSERT ON t TO reader;
--- to
CREATE TABLE t (a int);
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
GRANT ALL ON t TO app;
GRANT EXECUTE ON FUNCTION f() TO PUBLIC, app;
GRANT INSERT ON t TO reader;
GRANT SELECT ON t TO reader;
GRANT DELETE ON t TO reader;
REVOKE DELETE ON t FROM reader;

-- Extensions and what stands on them. One that is not declared is left alone, so a new one goes one way.

--- case: an extension is new with a column of its type
--- only: forward
--- from
CREATE TABLE t (a text);
--- rows
INSERT INTO t VALUES ('Ab');
--- check
SELECT a = 'aB' FROM t;
--- to
CREATE EXTENSION citext;
CREATE TABLE t (a citext);

--- case: hstore and its index
--- from
CREATE EXTENSION hstore;
CREATE TABLE t (a hstore);
--- to
CREATE EXTENSION hstore;
CREATE TABLE t (a hstore DEFAULT 'a=>1'::hstore);
CREATE INDEX i ON t USING gin (a);
CREATE VIEW v AS SELECT a -> 'a' AS x FROM t;

--- case: trigrams
--- from
CREATE EXTENSION pg_trgm;
CREATE TABLE t (a text);
CREATE INDEX i ON t (a);
--- to
CREATE EXTENSION pg_trgm;
CREATE TABLE t (a text);
CREATE INDEX i ON t USING gin (a gin_trgm_ops, lower(a) gin_trgm_ops);
CREATE VIEW v AS SELECT a FROM t WHERE a % 'word';

--- case: unaccent behind a function
--- from
CREATE EXTENSION unaccent;
CREATE TABLE t (a text);
--- to
CREATE EXTENSION unaccent;
CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$SELECT public.unaccent('public.unaccent'::regdictionary, $1)$$;
CREATE TABLE t (a text, p text GENERATED ALWAYS AS (plain(a)) STORED);
CREATE INDEX i ON t (plain(a));

--- case: an extension in a schema of its own
--- only: forward
--- from
CREATE SCHEMA ext;
CREATE TABLE t (a text);
--- to
CREATE SCHEMA ext;
CREATE EXTENSION citext WITH SCHEMA ext;
CREATE TABLE t (a text, b ext.citext UNIQUE, CHECK (b <> 'x'::ext.citext));

--- case: a second extension that nothing uses
--- only: forward
--- from
CREATE EXTENSION hstore;
CREATE TABLE t (id int);
--- to
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION hstore;
CREATE TABLE t (id int);

--- case: a column leaves the type of an extension
--- from
CREATE EXTENSION citext;
CREATE TABLE t (a citext UNIQUE);
CREATE VIEW v AS SELECT a FROM t WHERE a = 'x';
--- rows
INSERT INTO t VALUES ('Ab');
--- check
SELECT a = 'Ab' FROM t;
--- to
CREATE EXTENSION citext;
CREATE TABLE t (a text UNIQUE);
CREATE VIEW v AS SELECT a FROM t WHERE a = 'x';

-- Several schemas, references between them, and names of every sort.

--- case: a schema is new
--- only: forward
--- from
CREATE TABLE t (a int);
--- to
CREATE SCHEMA s;
CREATE TABLE s.t (a int);
CREATE TABLE t (a int);

--- case: a schema without objects
--- from
CREATE SCHEMA s;
CREATE TABLE t (a int);
CREATE TABLE s.t (a int);
--- to
CREATE SCHEMA s;
CREATE TABLE t (a int);

--- case: one name in three schemas
--- from
CREATE SCHEMA s;
CREATE SCHEMA r;
CREATE TABLE t (a int);
CREATE TABLE s.t (a int, b int);
CREATE TABLE r.t (c int);
CREATE INDEX i ON t (a);
CREATE INDEX i ON s.t (a);
--- to
CREATE SCHEMA s;
CREATE SCHEMA r;
CREATE TABLE t (a bigint);
CREATE TABLE s.t (a int, b int);
CREATE TABLE r.t (c int, a int);
CREATE INDEX i ON t (a);
CREATE INDEX i ON s.t (b);
CREATE INDEX i ON r.t (c);

--- case: a table in another schema of the same name
--- from
CREATE SCHEMA s;
CREATE TABLE t (a int);
--- to
CREATE SCHEMA s;
CREATE TABLE s.t (a int);

--- case: references across schemas
--- sensitive
--- from
CREATE SCHEMA s;
CREATE SCHEMA r;
CREATE TYPE r.e AS ENUM ('a');
CREATE FUNCTION r.f() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE TABLE s.p (id int PRIMARY KEY);
CREATE TABLE t (id int REFERENCES s.p, e r.e);
CREATE VIEW r.v AS SELECT t.id FROM t JOIN s.p USING (id);
--- to
CREATE SCHEMA s;
CREATE SCHEMA r;
CREATE TYPE r.e AS ENUM ('a', 'b');
CREATE FUNCTION r.f() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE TABLE s.p (id bigint PRIMARY KEY DEFAULT r.f());
CREATE TABLE t (id bigint REFERENCES s.p, e r.e);
CREATE VIEW r.v AS SELECT t.id FROM t JOIN s.p USING (id);
CREATE VIEW s.w AS SELECT id FROM r.v;

--- case: names that are key words
--- from
CREATE TABLE "select" ("from" int, "where" text, "user" int);
CREATE VIEW "view" AS SELECT "from" FROM "select";
--- to
CREATE TABLE "select" ("from" bigint, "where" text, "order" int DEFAULT 1, CONSTRAINT "check" CHECK ("order" > 0));
CREATE INDEX "index" ON "select" ("order", "where");
CREATE VIEW "view" AS SELECT "from", "order" FROM "select";
CREATE FUNCTION "table"("in" int) RETURNS int LANGUAGE sql AS 'SELECT "in"';
CREATE TYPE "type" AS ENUM ('null');

--- case: names with quotes, dots, spaces and line ends
--- from
CREATE SCHEMA "a.b";
CREATE TABLE "a.b"."c.d" ("e.f" int, " " text, "g""h" int);
--- to
CREATE SCHEMA "a.b";
CREATE TABLE "a.b"."c.d" ("e.f" bigint, " " text, "g""h" int UNIQUE, "i
j" int);
CREATE INDEX "x""y" ON "a.b"."c.d" (" ");
CREATE TABLE "a.b.c" ("d" int);

--- case: names of other scripts
--- from
CREATE TABLE "таблица" ("колонка" int, "列" text);
CREATE TYPE "état" AS ENUM ('été');
--- to
CREATE TABLE "таблица" ("колонка" int PRIMARY KEY, "列" text DEFAULT '値', "😀" int);
CREATE TYPE "état" AS ENUM ('été', 'hiver');
CREATE INDEX "indice_é" ON "таблица" ("列");

--- case: names of 63 bytes
--- from
CREATE TABLE a_table_whose_name_is_exactly_as_long_as_the_server_allows_aaaa (a_column_whose_name_is_exactly_as_long_as_the_server_allows_aaa int);
CREATE TABLE "ééééééééééééééééééééééééééééééé" (a int);
--- to
CREATE TABLE a_table_whose_name_is_exactly_as_long_as_the_server_allows_aaaa (a_column_whose_name_is_exactly_as_long_as_the_server_allows_aaa int UNIQUE CHECK (a_column_whose_name_is_exactly_as_long_as_the_server_allows_aaa > 0), id serial);
CREATE TABLE "ééééééééééééééééééééééééééééééé" (a int PRIMARY KEY, b int REFERENCES "ééééééééééééééééééééééééééééééé");

--- case: names that differ in case alone
--- from
CREATE TABLE t (a int, "A" int);
CREATE TABLE "T" (a int);
--- to
CREATE TABLE t (a bigint, "A" int);
CREATE TABLE "T" (a int, "A" text);
CREATE VIEW "V" AS SELECT a, "A" FROM t;
CREATE VIEW v AS SELECT "A" AS a FROM "T";

--- case: names as of the system's
--- from
CREATE TABLE pg_thing (oid int);
CREATE TABLE "user" (name text);
--- to
CREATE TABLE pg_thing (oid int, tableoid_ int);
CREATE TABLE "user" (name text, "current_user" text);
CREATE TABLE "numeric" (a numeric);
CREATE TYPE "time" AS (a time);
CREATE FUNCTION now() RETURNS int LANGUAGE sql AS 'SELECT 1';

--- case: operators and functions that hide the server's
--- from
CREATE SCHEMA s;
CREATE FUNCTION s.lower(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE TABLE t (a text, CHECK (s.lower(a) <> ''));
--- to
CREATE SCHEMA s;
CREATE FUNCTION s.lower(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION upper(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE TABLE t (a text, CHECK (lower(a) <> ''));
CREATE INDEX i ON t (public.upper(a));

--- case: one name for objects of many kinds
--- from
CREATE TABLE x (x int CONSTRAINT x CHECK (x > 0));
CREATE FUNCTION x() RETURNS int LANGUAGE sql AS 'SELECT 1';
--- to
CREATE TABLE x (x bigint CONSTRAINT x CHECK (x > 1));
CREATE FUNCTION x() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION x(x x) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE STATISTICS x ON (x + 1) FROM x;
CREATE POLICY x ON x USING (x > 0);
CREATE RULE x AS ON DELETE TO x DO INSTEAD NOTHING;
CREATE COLLATION x (provider = libc, locale = 'C');

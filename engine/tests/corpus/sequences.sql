-- Sequences that stand alone or belong to a column.

--- case: every option of a sequence
--- from
CREATE SEQUENCE s;
--- rows
SELECT nextval('s');
--- check
SELECT last_value = 1 FROM s;
--- to
CREATE SEQUENCE s INCREMENT BY 5 MINVALUE 1 MAXVALUE 1000 START WITH 10 CACHE 7 CYCLE;

--- case: type of a sequence
--- sensitive
--- from
CREATE SEQUENCE s AS smallint;
--- rows
SELECT nextval('s'), nextval('s');
--- check
SELECT last_value = 2 FROM s;
--- to
CREATE SEQUENCE s AS bigint;

--- case: type of a sequence with a limit of its own
--- from
CREATE SEQUENCE s AS int MAXVALUE 500;
--- to
CREATE SEQUENCE s AS bigint MAXVALUE 500 MINVALUE -5;

--- case: a sequence counts down
--- from
CREATE SEQUENCE s;
--- to
CREATE SEQUENCE s INCREMENT BY -1 MAXVALUE 100 MINVALUE -100 START WITH 100;

--- case: a sequence gets an owner
--- from
CREATE SEQUENCE s;
CREATE TABLE t (id int);
--- rows
SELECT nextval('s');
--- check
SELECT last_value = 1 FROM s;
--- to
CREATE SEQUENCE s;
CREATE TABLE t (id int);
ALTER SEQUENCE s OWNED BY t.id;

--- case: a sequence moves to another owner
--- from
CREATE TABLE t (id int);
CREATE TABLE u (id int, n int);
CREATE SEQUENCE s OWNED BY t.id;
--- rows
SELECT nextval('s'), nextval('s');
--- check
SELECT last_value = 2 FROM s;
--- to
CREATE TABLE t (id int);
CREATE TABLE u (id int, n int);
CREATE SEQUENCE s OWNED BY u.n;

--- case: the owner goes and the sequence stays
--- from
CREATE TABLE t (id int);
CREATE TABLE u (id int);
CREATE SEQUENCE s OWNED BY t.id;
--- rows
SELECT nextval('s'), nextval('s');
--- check
SELECT last_value = 2 FROM s;
--- to
CREATE TABLE u (id int);
CREATE SEQUENCE s;

--- case: a default moves to another sequence
--- from
CREATE SEQUENCE a;
CREATE TABLE t (id int DEFAULT nextval('a'));
--- to
CREATE SEQUENCE b;
CREATE TABLE t (id int DEFAULT nextval('b'));

--- case: a default through text and through regclass
--- from
CREATE SEQUENCE s;
CREATE TABLE t (id int DEFAULT nextval('s'::text));
--- to
CREATE SEQUENCE s;
CREATE TABLE t (id int DEFAULT nextval('s'::regclass));

--- case: an unlogged sequence
--- since: 15
--- sensitive
--- from
CREATE SEQUENCE s;
--- to
CREATE UNLOGGED SEQUENCE s;

--- case: sequences of quoted and long names
--- from
CREATE SEQUENCE "My Seq";
CREATE TABLE "My Table" ("My Id" int DEFAULT nextval('"My Seq"'));
--- to
CREATE SEQUENCE "My Seq" CACHE 2;
CREATE TABLE "My Table" ("My Id" bigint DEFAULT nextval('"My Seq"'), a_column_whose_name_is_as_long_as_any_name_may_be_in_this_server serial);

--- case: a sequence in another schema
--- from
CREATE SCHEMA s;
CREATE SEQUENCE s.n;
CREATE TABLE t (id int DEFAULT nextval('s.n'));
--- to
CREATE SCHEMA s;
CREATE SEQUENCE s.n;
CREATE SEQUENCE n;
CREATE TABLE t (id int DEFAULT nextval('n'));

--- case: comments and grants of a sequence
--- from
CREATE SEQUENCE s;
GRANT USAGE ON SEQUENCE s TO reader;
--- to
CREATE SEQUENCE s;
COMMENT ON SEQUENCE s IS 'numbers';
GRANT SELECT, UPDATE ON SEQUENCE s TO reader WITH GRANT OPTION;
GRANT USAGE ON SEQUENCE s TO PUBLIC;

--- case: a sequence used by a function and a view
--- from
CREATE SEQUENCE s;
CREATE VIEW v AS SELECT last_value FROM s;
--- to
CREATE SEQUENCE s START WITH 5 INCREMENT BY 2;
CREATE VIEW v AS SELECT last_value, nextval('s'::regclass) AS n FROM s;

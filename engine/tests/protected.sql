-- Ways in which a plan can touch the protected table `users`: what there is, `-- to`, what is declared.
-- `objects` is what the refusal names; nothing where the plan leaves the table alone and is made.

-- case: column_added
-- objects: public.users, public.users.name
CREATE TABLE users (id int);
-- to
CREATE TABLE users (id int, name text);
-- case: column_dropped
-- objects: public.users, public.users.name
CREATE TABLE users (id int, name text);
-- to
CREATE TABLE users (id int);
-- case: column_of_another_type
-- objects: public.users, public.users.id
CREATE TABLE users (id int);
-- to
CREATE TABLE users (id bigint);
-- case: default_changed
-- objects: public.users, public.users.id
CREATE TABLE users (id int DEFAULT 1);
-- to
CREATE TABLE users (id int DEFAULT 2);
-- case: storage_option
-- objects: public.users
CREATE TABLE users (id int);
-- to
CREATE TABLE users (id int) WITH (fillfactor = 70);
-- case: dropped
-- objects: public.users
CREATE TABLE users (id int); CREATE TABLE keep (id int);
-- to
CREATE TABLE keep (id int);
-- case: renamed_by_drop_and_create
-- objects: public.users
CREATE TABLE users (id int);
-- to
CREATE TABLE people (id int);
-- case: made
-- objects: public.users
CREATE TABLE keep (id int);
-- to
CREATE TABLE keep (id int); CREATE TABLE users (id int);
-- case: index
-- objects: public.users
CREATE TABLE users (id int);
-- to
CREATE TABLE users (id int); CREATE INDEX i ON users (id);
-- case: index_dropped
-- objects: public.users
CREATE TABLE users (id int); CREATE INDEX i ON users (id);
-- to
CREATE TABLE users (id int);
-- case: constraint
-- objects: public.users, public.users.c
CREATE TABLE users (id int);
-- to
CREATE TABLE users (id int, CONSTRAINT c CHECK (id > 0));
-- case: foreign_key_of_its_own
-- objects: public.users, public.users.fk
CREATE TABLE users (id int); CREATE TABLE other (id int PRIMARY KEY);
-- to
CREATE TABLE users (id int, CONSTRAINT fk FOREIGN KEY (id) REFERENCES other (id)); CREATE TABLE other (id int PRIMARY KEY);
-- case: foreign_key_from_another_table
-- objects: public.users
CREATE TABLE users (id int PRIMARY KEY); CREATE TABLE other (id int);
-- to
CREATE TABLE users (id int PRIMARY KEY); CREATE TABLE other (id int, CONSTRAINT fk FOREIGN KEY (id) REFERENCES users (id));
-- case: foreign_key_from_a_new_table
-- objects: public.users
CREATE TABLE users (id int PRIMARY KEY);
-- to
CREATE TABLE users (id int PRIMARY KEY); CREATE TABLE other (id int REFERENCES users (id));
-- case: foreign_key_from_another_table_dropped
-- objects: public.users
CREATE TABLE users (id int PRIMARY KEY); CREATE TABLE other (id int, CONSTRAINT fk FOREIGN KEY (id) REFERENCES users (id));
-- to
CREATE TABLE users (id int PRIMARY KEY); CREATE TABLE other (id int);
-- case: table_that_refers_to_it_dropped
-- objects: public.users
CREATE TABLE users (id int PRIMARY KEY); CREATE TABLE other (id int, CONSTRAINT fk FOREIGN KEY (id) REFERENCES users (id));
-- to
CREATE TABLE users (id int PRIMARY KEY);
-- case: trigger
-- objects: public.users, public.users.t
CREATE TABLE users (id int); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
-- to
CREATE TABLE users (id int); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER t BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION f();
-- case: function_of_its_trigger
-- objects: public.users
CREATE TABLE users (id int); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER t BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION f();
-- to
CREATE TABLE users (id int); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER t BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION f();
-- case: enum_of_its_column
-- objects: public.users
CREATE TYPE e AS ENUM ('a'); CREATE TABLE users (id e);
-- to
CREATE TYPE e AS ENUM ('a', 'b'); CREATE TABLE users (id e);
-- case: enum_of_its_column_made_again
-- objects: public.users, public.users.id
CREATE TYPE e AS ENUM ('a', 'b'); CREATE TABLE users (id e);
-- to
CREATE TYPE e AS ENUM ('b'); CREATE TABLE users (id e);
-- case: sequence_of_its_default
-- objects: public.users
CREATE SEQUENCE s; CREATE TABLE users (id bigint DEFAULT nextval('s'));
-- to
CREATE SEQUENCE s INCREMENT BY 5; CREATE TABLE users (id bigint DEFAULT nextval('s'));
-- case: grant
-- objects: public.users
CREATE TABLE users (id int);
-- to
CREATE TABLE users (id int); GRANT SELECT ON users TO reader;
-- case: comment
-- objects: public.users
CREATE TABLE users (id int);
-- to
CREATE TABLE users (id int); COMMENT ON TABLE users IS 'x';
-- case: view_over_it_dropped
-- objects: public.users
CREATE TABLE users (id int); CREATE VIEW v AS SELECT id FROM users;
-- to
CREATE TABLE users (id int);
-- case: view_over_it_made
-- objects: 
CREATE TABLE users (id int);
-- to
CREATE TABLE users (id int); CREATE VIEW v AS SELECT id FROM users;
-- case: another_table
-- objects: 
CREATE TABLE users (id int); CREATE TABLE other (id int);
-- to
CREATE TABLE users (id int); CREATE TABLE other (id int, a int);
-- case: another_table_that_refers_to_it
-- objects: 
CREATE TABLE users (id int PRIMARY KEY); CREATE TABLE other (id int REFERENCES users (id));
-- to
CREATE TABLE users (id int PRIMARY KEY); CREATE TABLE other (id int REFERENCES users (id), a int);

CREATE SCHEMA application;
CREATE SCHEMA "Other One";
COMMENT ON SCHEMA application IS 'application';
GRANT USAGE ON SCHEMA application TO reader;
CREATE TYPE application.kind AS ENUM ('x');
CREATE TABLE application.t (id int PRIMARY KEY, k application.kind);
CREATE TABLE t (id int PRIMARY KEY, k application.kind REFERENCES "Other One"."Weird ""Table" ("a.b"));
CREATE TABLE "Other One"."Weird ""Table" ("a.b" application.kind UNIQUE, "select" int);
CREATE INDEX "i.x" ON "Other One"."Weird ""Table" ("select");

-- safe | schema "Other One" is new
CREATE SCHEMA "Other One";
-- safe | enum application.kind is new
CREATE TYPE application.kind AS ENUM ('x');
-- safe | table "Other One"."Weird ""Table" is new
CREATE TABLE "Other One"."Weird ""Table" (
  "a.b" application.kind,
  "select" integer,
  CONSTRAINT "Weird ""Table_a.b_key" UNIQUE ("a.b")
);
-- safe | column application.t.k is new
ALTER TABLE application.t ADD COLUMN k application.kind;
-- safe | column public.t.k is new
ALTER TABLE public.t ADD COLUMN k application.kind;
-- warning | constraint public.t.t_k_fkey is new; rows that break it make it fail
ALTER TABLE public.t ADD CONSTRAINT t_k_fkey FOREIGN KEY (k) REFERENCES "Other One"."Weird ""Table"("a.b");
-- safe | index "Other One"."i.x" is new
CREATE INDEX "i.x" ON "Other One"."Weird ""Table" USING btree ("select");
-- safe | changes the comment on schema application
COMMENT ON SCHEMA application IS 'application';
-- warning | reader gains privileges on schema application
GRANT USAGE ON SCHEMA application TO reader;

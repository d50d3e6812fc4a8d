CREATE TYPE mood AS ENUM ('sad', 'fine', 'happy');
CREATE TABLE t (m mood DEFAULT 'fine', ms mood[]);
CREATE INDEX t_m ON t (m) WHERE m = 'sad';
CREATE VIEW v AS SELECT m FROM t;
CREATE FUNCTION f(m mood) RETURNS text LANGUAGE sql AS $$ SELECT m::text $$;
COMMENT ON TYPE mood IS 'how it is';

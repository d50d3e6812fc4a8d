CREATE SCHEMA a;
CREATE SCHEMA b;
CREATE TYPE a."Mood" AS ENUM ('sad', 'it''s');
CREATE DOMAIN b.pos AS int DEFAULT '1' NOT NULL CHECK (VALUE > 0);
COMMENT ON DOMAIN b.pos IS 'positive';
CREATE TYPE b.pair AS (m a."Mood", p b.pos);
COMMENT ON TYPE b.pair IS 'two';
CREATE TYPE b.fr AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = float8mi);
COMMENT ON TYPE b.fr IS 'floats';
CREATE SEQUENCE b.s AS bigint START WITH 5;
COMMENT ON SEQUENCE b.s IS 'seq';
CREATE TABLE b.t (
  id bigint NOT NULL DEFAULT nextval('b.s'::regclass) PRIMARY KEY,
  m a."Mood" NOT NULL,
  ms a."Mood"[] NOT NULL,
  p b.pair NOT NULL,
  d double precision NOT NULL,
  c varchar(20) COLLATE "C" NOT NULL,
  n int,
  e text NOT NULL,
  CONSTRAINT u UNIQUE (c),
  CONSTRAINT t_check CHECK (id > 0),
  CONSTRAINT t_check_2 CHECK (id < 1000),
  CHECK (d > 0)
) WITH (fillfactor = 70);
ALTER SEQUENCE b.s OWNED BY b.t.id;
COMMENT ON TABLE b.t IS 'a table';
COMMENT ON COLUMN b.t.e IS 'an expression';
CREATE UNIQUE INDEX ON b.t (lower(e));
CREATE INDEX ix ON b.t (e text_pattern_ops) WHERE e <> ')';
COMMENT ON INDEX b.ix IS 'partial';

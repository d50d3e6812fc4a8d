CREATE TABLE users (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name varchar(50) NOT NULL DEFAULT 'nobody',
  "Mixed Case" text COLLATE "C",
  age int CHECK (age > 0),
  created timestamptz NOT NULL DEFAULT now(),
  full_name text GENERATED ALWAYS AS (name || '!') STORED,
  UNIQUE (name)
);
COMMENT ON TABLE users IS 'people, it''s';
COMMENT ON COLUMN users."Mixed Case" IS 'odd';
CREATE TABLE orders (
  id serial PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  note text
);
CREATE INDEX orders_note ON orders (lower(note)) WHERE note IS NOT NULL;
CREATE UNIQUE INDEX "Odd Index" ON orders (user_id DESC NULLS LAST, note text_pattern_ops);

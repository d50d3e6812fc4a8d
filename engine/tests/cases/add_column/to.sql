CREATE TABLE t (id int PRIMARY KEY, a text, b int NOT NULL DEFAULT 7, c timestamptz DEFAULT now());
COMMENT ON COLUMN t.a IS 'new';

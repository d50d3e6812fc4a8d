CREATE TYPE mood AS ENUM ('angry', 'sad', 'so-so', 'happy', 'it''s "great"');
CREATE TABLE t (m mood DEFAULT 'sad');

CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE t (m mood DEFAULT 'sad');

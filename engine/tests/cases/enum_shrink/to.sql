CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE TABLE t (m mood DEFAULT 'happy' CHECK (m <> 'sad'));

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE t (m mood DEFAULT 'ok' CHECK (m <> 'sad'));

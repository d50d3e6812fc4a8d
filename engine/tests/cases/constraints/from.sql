CREATE TABLE p (id int PRIMARY KEY, code text, a int, b int);
CREATE TABLE c (id int PRIMARY KEY, p_id int CONSTRAINT fk REFERENCES p, q int CONSTRAINT chk CHECK (q IN (1, 2)));

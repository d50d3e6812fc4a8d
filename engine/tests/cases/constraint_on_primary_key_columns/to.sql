CREATE TABLE p (a int, b int, CONSTRAINT renamed PRIMARY KEY (a));
CREATE TABLE c (a int REFERENCES p);
CREATE VIEW v AS SELECT a, count(*), b FROM p GROUP BY a;

CREATE TABLE base (id int PRIMARY KEY);
CREATE VIEW thing AS SELECT id FROM base;
CREATE INDEX swap ON base (id);

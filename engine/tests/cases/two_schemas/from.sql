CREATE SCHEMA application;
CREATE TABLE application.t (id int PRIMARY KEY);
CREATE TABLE t (id int PRIMARY KEY);

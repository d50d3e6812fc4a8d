CREATE TABLE base (a int); CREATE TABLE x () INHERITS (base);

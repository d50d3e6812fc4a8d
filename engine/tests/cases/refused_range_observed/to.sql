CREATE TABLE y (id int);

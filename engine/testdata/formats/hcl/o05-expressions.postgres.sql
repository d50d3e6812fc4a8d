CREATE SCHEMA one;
COMMENT ON SCHEMA one IS 'schema one';
CREATE SCHEMA two;
COMMENT ON SCHEMA two IS 'schema two';
CREATE TABLE one.t (c_a varchar(10) NOT NULL DEFAULT upper('x'), c_b varchar(20));
COMMENT ON TABLE one.t IS 'has A, B only';
CREATE INDEX i ON one.t (c_a DESC, c_b);

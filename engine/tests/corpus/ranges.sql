-- Range types.

--- case: a range type is new
--- from
CREATE TABLE t (id int);
--- to
CREATE TYPE r AS RANGE (subtype = float8, subtype_diff = float8mi);
CREATE TABLE t (id int, r r, m r_multirange);

--- case: a range type with names of its own
--- sensitive
--- from
CREATE TYPE r AS RANGE (subtype = text);
--- to
CREATE TYPE r AS RANGE (subtype = text, collation = "C", subtype_opclass = text_pattern_ops, multirange_type_name = many_r);

--- case: the subtype of an unused range
--- from
CREATE TYPE r AS RANGE (subtype = int4);
--- to
CREATE TYPE r AS RANGE (subtype = int8);

--- case: the subtype of a range under a column
--- from
CREATE TYPE r AS RANGE (subtype = int4);
CREATE TABLE t (id int, r r);
--- rows
INSERT INTO t VALUES (1, '[1,5)');
--- check
SELECT r = '[1,5)' FROM t;
--- to
CREATE TYPE r AS RANGE (subtype = int8);
CREATE TABLE t (id int, r r);

--- case: a difference function of one's own
--- from
CREATE FUNCTION diff(x time, y time) RETURNS float8 LANGUAGE sql STRICT IMMUTABLE AS 'SELECT extract(epoch FROM (x - y))::float8';
CREATE TYPE r AS RANGE (subtype = time);
--- to
CREATE FUNCTION diff(x time, y time) RETURNS float8 LANGUAGE sql STRICT IMMUTABLE AS 'SELECT extract(epoch FROM (x - y))::float8';
CREATE TYPE r AS RANGE (subtype = time, subtype_diff = diff);
CREATE TABLE t (during r, EXCLUDE USING gist (during WITH &&));

--- case: a range over a domain and an enum
--- from
CREATE TYPE e AS ENUM ('a', 'b');
CREATE TYPE r AS RANGE (subtype = e);
--- to
CREATE TYPE e AS ENUM ('a', 'b', 'c');
CREATE DOMAIN d AS int;
CREATE TYPE r AS RANGE (subtype = e);
CREATE TYPE s AS RANGE (subtype = d);

--- case: an enum under a range loses a label
--- from
CREATE TYPE e AS ENUM ('a', 'b', 'c');
CREATE TYPE r AS RANGE (subtype = e);
CREATE TABLE t (r r);
--- rows
INSERT INTO t VALUES ('[a,b]');
--- check
SELECT r = '[a,b]' FROM t;
--- to
CREATE TYPE e AS ENUM ('a', 'b');
CREATE TYPE r AS RANGE (subtype = e);
CREATE TABLE t (r r);

--- case: functions over a multirange
--- sensitive
--- from
CREATE TYPE r AS RANGE (subtype = int4);
CREATE FUNCTION f(r_multirange) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT isempty($1)';
--- to
CREATE TYPE r AS RANGE (subtype = int4, multirange_type_name = rs);
CREATE FUNCTION f(rs) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT isempty($1)';

--- case: comments and grants of a range
--- from
CREATE TYPE r AS RANGE (subtype = int4);
--- to
CREATE TYPE r AS RANGE (subtype = int4);
COMMENT ON TYPE r IS 'range';
COMMENT ON TYPE r_multirange IS 'ranges';
GRANT USAGE ON TYPE r TO reader;

--- case: a range goes
--- from
CREATE TABLE t (id int);
CREATE TYPE r AS RANGE (subtype = int4);
CREATE TABLE u (r r);
--- to
CREATE TABLE t (id int);

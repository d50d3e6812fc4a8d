-- Rules.

--- case: a rule is new
--- from
CREATE TABLE t (a int);
--- to
CREATE TABLE t (a int);
CREATE TABLE log (a int, at timestamptz DEFAULT now());
CREATE RULE r AS ON INSERT TO t DO ALSO INSERT INTO log VALUES (NEW.a);

--- case: instead and also
--- from
CREATE TABLE t (a int);
CREATE TABLE u (a int);
CREATE RULE r AS ON DELETE TO t DO ALSO DELETE FROM u WHERE a = OLD.a;
--- to
CREATE TABLE t (a int);
CREATE TABLE u (a int);
CREATE RULE r AS ON DELETE TO t DO INSTEAD DELETE FROM u WHERE a = OLD.a;

--- case: a condition
--- from
CREATE TABLE t (a int);
CREATE RULE r AS ON UPDATE TO t DO INSTEAD NOTHING;
--- to
CREATE TABLE t (a int);
CREATE RULE r AS ON UPDATE TO t WHERE OLD.a <> NEW.a DO INSTEAD NOTHING;

--- case: several statements
--- sensitive
--- from
CREATE TABLE t (a int);
CREATE TABLE u (a int);
CREATE RULE r AS ON INSERT TO t DO ALSO INSERT INTO u VALUES (NEW.a);
--- to
CREATE TABLE t (a int);
CREATE TABLE u (a int);
CREATE RULE r AS ON INSERT TO t DO ALSO (INSERT INTO u VALUES (NEW.a); UPDATE u SET a = a + 1 WHERE a = NEW.a);

--- case: a view that can be written to
--- sensitive
--- from
CREATE TABLE t (a int, b text);
CREATE VIEW v AS SELECT a FROM t;
CREATE RULE ins AS ON INSERT TO v DO INSTEAD INSERT INTO t (a) VALUES (NEW.a);
--- to
CREATE TABLE t (a int, b text);
CREATE VIEW v AS SELECT a, b FROM t;
CREATE RULE ins AS ON INSERT TO v DO INSTEAD INSERT INTO t (a, b) VALUES (NEW.a, NEW.b) RETURNING a, b;
CREATE RULE del AS ON DELETE TO v DO INSTEAD DELETE FROM t WHERE a = OLD.a;

--- case: states
--- from
CREATE TABLE t (a int);
CREATE RULE r AS ON UPDATE TO t DO INSTEAD NOTHING;
CREATE RULE s AS ON DELETE TO t DO INSTEAD NOTHING;
ALTER TABLE t DISABLE RULE s;
--- to
CREATE TABLE t (a int);
CREATE RULE r AS ON UPDATE TO t DO INSTEAD NOTHING;
CREATE RULE s AS ON DELETE TO t DO INSTEAD NOTHING;
ALTER TABLE t DISABLE RULE r;
ALTER TABLE t ENABLE ALWAYS RULE s;

--- case: the type of a column under a rule
--- from
CREATE TABLE t (a int);
CREATE TABLE log (a int);
CREATE RULE r AS ON INSERT TO t WHERE NEW.a > 0 DO ALSO INSERT INTO log VALUES (NEW.a);
COMMENT ON RULE r ON t IS 'logs';
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = 1 FROM log;
--- to
CREATE TABLE t (a bigint);
CREATE TABLE log (a bigint);
CREATE RULE r AS ON INSERT TO t WHERE NEW.a > 0 DO ALSO INSERT INTO log VALUES (NEW.a);
COMMENT ON RULE r ON t IS 'logs';

--- case: a rule with a comment whose view is made again
--- from
CREATE TABLE t (a int);
CREATE VIEW v AS SELECT a FROM t;
CREATE RULE r AS ON INSERT TO v DO INSTEAD NOTHING;
COMMENT ON RULE r ON v IS 'nothing';
--- to
CREATE TABLE t (a bigint);
CREATE VIEW v AS SELECT a FROM t;
CREATE RULE r AS ON INSERT TO v DO INSTEAD NOTHING;
COMMENT ON RULE r ON v IS 'nothing';

--- case: a notification
--- from
CREATE TABLE t (a int);
CREATE RULE r AS ON INSERT TO t DO ALSO NOTIFY t_changed;
--- to
CREATE TABLE t (a int);
CREATE RULE r AS ON INSERT TO t DO ALSO NOTIFY "T changed";

--- case: a rule goes with a table that it writes to
--- from
CREATE TABLE t (a int);
CREATE TABLE log (a int);
CREATE RULE r AS ON INSERT TO t DO ALSO INSERT INTO log VALUES (NEW.a);
--- to
CREATE TABLE t (a int);

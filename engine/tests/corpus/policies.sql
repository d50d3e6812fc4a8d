-- Row security.

--- case: row security is enabled with a policy
--- from
CREATE TABLE t (a int, who name);
--- rows
INSERT INTO t VALUES (1, 'app');
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a int, who name);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON t USING (who = current_user);

--- case: forced
--- from
CREATE TABLE t (a int);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON t USING (true);
--- rows
INSERT INTO t VALUES (1);
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a int);
ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON t USING (true);

--- case: forced but not enabled
--- from
CREATE TABLE t (a int);
--- to
CREATE TABLE t (a int);
ALTER TABLE t FORCE ROW LEVEL SECURITY;

--- case: enabled without a policy
--- from
CREATE TABLE t (a int);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
--- to
CREATE TABLE t (a int);

--- case: permissive to restrictive
--- from
CREATE TABLE t (a int);
CREATE POLICY p ON t USING (a > 0);
--- to
CREATE TABLE t (a int);
CREATE POLICY p ON t AS RESTRICTIVE USING (a > 0);

--- case: another command
--- from
CREATE TABLE t (a int);
CREATE POLICY p ON t FOR SELECT USING (a > 0);
CREATE POLICY q ON t FOR INSERT WITH CHECK (a > 0);
--- to
CREATE TABLE t (a int);
CREATE POLICY p ON t FOR DELETE USING (a > 0);
CREATE POLICY q ON t FOR UPDATE USING (a > 1) WITH CHECK (a > 0);

--- case: roles in place
--- from
CREATE TABLE t (a int);
CREATE POLICY p ON t TO reader USING (a > 0);
CREATE POLICY q ON t USING (a > 0);
--- to
CREATE TABLE t (a int);
CREATE POLICY p ON t TO PUBLIC USING (a > 0);
CREATE POLICY q ON t TO reader, app USING (a > 0);

--- case: expressions in place
--- from
CREATE TABLE t (a int, b text);
CREATE POLICY p ON t USING (a > 0) WITH CHECK (a > 1);
COMMENT ON POLICY p ON t IS 'p';
--- to
CREATE TABLE t (a int, b text);
CREATE POLICY p ON t USING (a > 0 AND b = current_setting('app.who', true)) WITH CHECK (a IN (1, 2, 3));
COMMENT ON POLICY p ON t IS 'q';

--- case: a check appears beside using and goes
--- from
CREATE TABLE t (a int);
CREATE POLICY p ON t USING (a > 0);
--- to
CREATE TABLE t (a int);
CREATE POLICY p ON t USING (a > 0) WITH CHECK (a > 5);

--- case: through another table
--- sensitive
--- from
CREATE TABLE t (a int, team int);
CREATE TABLE members (who name, team int);
CREATE POLICY p ON t USING (true);
--- to
CREATE TABLE t (a int, team int);
CREATE TABLE members (who name, team int);
CREATE POLICY p ON t USING (EXISTS (SELECT FROM members m WHERE m.team = t.team AND m.who = current_user));

--- case: the type of a column under a policy
--- sensitive
--- from
CREATE TABLE t (a int, who varchar(20));
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON t TO reader USING (who = 'x') WITH CHECK (a > 0);
COMMENT ON POLICY p ON t IS 'kept';
--- rows
INSERT INTO t VALUES (1, 'x');
--- check
SELECT who = 'x' FROM t;
--- to
CREATE TABLE t (a bigint, who text);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON t TO reader USING (who = 'x') WITH CHECK (a > 0);
COMMENT ON POLICY p ON t IS 'kept';

--- case: a column of another table under a policy
--- from
CREATE TABLE members (who varchar(20), team int);
CREATE TABLE t (team int);
CREATE POLICY p ON t USING (team IN (SELECT team FROM members WHERE who = current_user));
--- to
CREATE TABLE members (who text, team bigint);
CREATE TABLE t (team int);
CREATE POLICY p ON t USING (team IN (SELECT team FROM members WHERE who = current_user));

--- case: a column goes together with its policy
--- from
CREATE TABLE t (a int, who text);
CREATE POLICY p ON t USING (who = 'x');
CREATE POLICY q ON t USING (a > 0 OR who = 'y');
--- rows
INSERT INTO t VALUES (1, 'x');
--- check
SELECT a = 1 FROM t;
--- to
CREATE TABLE t (a int);
CREATE POLICY q ON t USING (a > 0);

--- case: policies of one name on two tables with awkward names
--- from
CREATE TABLE t (a int);
CREATE TABLE u (a int);
CREATE POLICY "P p" ON t USING (a > 0);
--- to
CREATE TABLE t (a int);
CREATE TABLE u (a int);
CREATE POLICY "P p" ON t USING (a > 1);
CREATE POLICY "P p" ON u USING (a > 0);

--- case: on a partitioned table and on a partition
--- from
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
ALTER TABLE p ENABLE ROW LEVEL SECURITY;
CREATE POLICY x ON p USING (k > 0);
--- to
CREATE TABLE p (k int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
ALTER TABLE p1 ENABLE ROW LEVEL SECURITY;
CREATE POLICY x ON p1 USING (k > 0);

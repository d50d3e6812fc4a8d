CREATE TABLE x (id int); CREATE POLICY p ON x USING (true);

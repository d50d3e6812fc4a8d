SELECT sum(n) = 30 AND sum(twice) = 60 FROM t
SELECT has_table_privilege('reader', 'v2', 'SELECT')
SELECT obj_description('v2'::regclass) = 'kept'

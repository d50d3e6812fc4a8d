-- What the catalogs say of everything that a declaration can make, a line each.
WITH own AS (
  SELECT n.oid, n.nspname FROM pg_namespace n
  WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
), member AS (
  SELECT classid, objid FROM pg_depend WHERE deptype = 'e'
), rel AS (
  SELECT c.*, format('%I.%I', o.nspname, c.relname) AS name FROM pg_class c JOIN own o ON o.oid = c.relnamespace
  WHERE NOT EXISTS (SELECT FROM member m WHERE m.classid = 'pg_class'::regclass AND m.objid = c.oid)
), typ AS (
  SELECT t.*, format('%I.%I', o.nspname, t.typname) AS name FROM pg_type t JOIN own o ON o.oid = t.typnamespace
  WHERE NOT EXISTS (SELECT FROM member m WHERE m.classid = 'pg_type'::regclass AND m.objid = t.oid)
), line AS (
  SELECT format('schema %I acl %s', o.nspname, n.nspacl) AS line FROM own o JOIN pg_namespace n USING (oid)
  UNION ALL
  SELECT format('relation %s kind %s persistence %s security %s options %s partition %s acl %s', name, relkind,
      relpersistence, relrowsecurity, reloptions, pg_get_partkeydef(oid), relacl)
    FROM rel WHERE relkind IN ('r', 'p', 'v', 'm', 'c', 'S')
  UNION ALL
  SELECT format('column %s.%I number %s type %s default %s not null %s identity %s generated %s collation %s',
      r.name, a.attname, a.attnum, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), a.attnotnull,
      a.attidentity, a.attgenerated, (SELECT collname FROM pg_collation WHERE oid = a.attcollation))
    FROM rel r JOIN pg_attribute a ON a.attrelid = r.oid
    LEFT JOIN pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum
    WHERE a.attnum > 0 AND NOT a.attisdropped AND r.relkind IN ('r', 'p', 'v', 'm', 'c')
  UNION ALL
  SELECT format('constraint %I on %s %s', c.conname, coalesce(r.name, t.name), pg_get_constraintdef(c.oid))
    FROM pg_constraint c LEFT JOIN rel r ON r.oid = c.conrelid LEFT JOIN typ t ON t.oid = c.contypid
    WHERE (r.oid IS NOT NULL OR t.oid IS NOT NULL) AND c.contype <> 'n'
  UNION ALL
  SELECT format('index %s', pg_get_indexdef(i.indexrelid)) FROM pg_index i JOIN rel r ON r.oid = i.indrelid
  UNION ALL
  SELECT format('view %s %s', name, pg_get_viewdef(oid)) FROM rel WHERE relkind IN ('v', 'm')
  UNION ALL
  SELECT format('function %s acl %s', pg_get_functiondef(p.oid), p.proacl) FROM pg_proc p JOIN own o ON o.oid = p.pronamespace
    WHERE p.prokind IN ('f', 'p') AND NOT EXISTS (
      SELECT FROM member m WHERE m.classid = 'pg_proc'::regclass AND m.objid = p.oid)
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'i')
  UNION ALL
  SELECT format('trigger %s', pg_get_triggerdef(t.oid)) FROM pg_trigger t JOIN rel r ON r.oid = t.tgrelid
    WHERE NOT t.tgisinternal
  UNION ALL
  SELECT format('policy %I on %I.%I %s %s to %s using %s check %s', policyname, schemaname, tablename, permissive, cmd,
      roles, qual, with_check) FROM pg_policies
  UNION ALL
  SELECT format('sequence %s type %s start %s increment %s from %s to %s cache %s cycle %s owner %s', r.name,
      format_type(s.seqtypid, NULL), s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle,
      (SELECT format('%s.%I', d.refobjid::regclass, a.attname) FROM pg_depend d
        JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
        WHERE d.objid = r.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')))
    FROM pg_sequence s JOIN rel r ON r.oid = s.seqrelid
  UNION ALL
  SELECT format('enum %s %s', t.name, (SELECT array_agg(enumlabel ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid))
    FROM typ t WHERE typtype = 'e'
  UNION ALL
  SELECT format('domain %s over %s default %s not null %s', name, format_type(typbasetype, typtypmod), typdefault, typnotnull)
    FROM typ WHERE typtype = 'd'
  UNION ALL
  SELECT format('range %s of %s class %s canonical %s difference %s', t.name, format_type(g.rngsubtype, NULL),
      (SELECT opcname FROM pg_opclass WHERE oid = g.rngsubopc), g.rngcanonical, g.rngsubdiff)
    FROM pg_range g JOIN typ t ON t.oid = g.rngtypid
  UNION ALL
  SELECT format('extension %I in %I', e.extname, e.extnamespace::regnamespace::text) FROM pg_extension e
  UNION ALL
  SELECT format('comment on %s %s: %s', i.type, i.identity, d.description) FROM pg_description d,
      LATERAL pg_identify_object(d.classoid, d.objoid, d.objsubid) i
    WHERE i.identity IS NOT NULL AND d.classoid <> 'pg_extension'::regclass AND (i.schema IN (SELECT nspname FROM own)
      OR i.type IN ('policy', 'trigger', 'table constraint') OR i.type = 'schema' AND i.name IN (SELECT nspname FROM own))
      AND d.description <> 'standard public schema'
      AND NOT EXISTS (SELECT FROM member m WHERE m.classid = d.classoid AND m.objid = d.objoid)
)
SELECT string_agg(replace(line, E'\n', '\n'), E'\n' ORDER BY line COLLATE "C") FROM line

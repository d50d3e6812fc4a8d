//! What the engine does not handle.

/// What is in scope and of a kind that is not handled: kind, name.
pub(in crate::catalog) const UNSUPPORTED: &str = "
WITH s AS (SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname::text = ANY($1)),
rel AS (SELECT c.*, s.nspname FROM pg_catalog.pg_class c JOIN s ON s.oid = c.relnamespace),
found(classid, objid, kind, nsp, name) AS (
  SELECT 1259::oid, oid, 'foreign table', nspname, relname::text FROM rel WHERE relkind = 'f'
  UNION ALL SELECT 1259, oid, 'typed table', nspname, relname::text FROM rel WHERE relkind = 'r' AND reloftype <> 0
  UNION ALL SELECT 1259, oid, 'table or index in a tablespace', nspname, relname::text FROM rel
    WHERE relkind IN ('r', 'p', 'm', 'i', 'I') AND reltablespace <> 0
  UNION ALL SELECT 1259, oid, 'table of another access method', nspname, relname::text FROM rel
    WHERE relkind IN ('r', 'm') AND relam <> 2
  UNION ALL SELECT 1259, rel.oid, 'settings of a materialized view''s column', nspname, relname::text || '.' || a.attname::text
    FROM rel JOIN pg_catalog.pg_attribute a ON a.attrelid = rel.oid JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    WHERE relkind IN ('v', 'm') AND a.attnum > 0 AND (a.attoptions IS NOT NULL OR a.attstattarget >= 0
      OR a.attcompression <> '' OR (relkind = 'm' AND a.attstorage <> t.typstorage))
  UNION ALL SELECT 2620, g.oid, 'trigger of a partition that fires otherwise than its table''s', nspname,
    relname::text || '.' || g.tgname::text FROM rel JOIN pg_catalog.pg_trigger g ON g.tgrelid = rel.oid
    JOIN pg_catalog.pg_trigger o ON o.oid = g.tgparentid WHERE g.tgenabled <> o.tgenabled AND NOT o.tgisinternal
  UNION ALL SELECT 1259, rel.oid, 'index of a partition with options of its own', nspname, rel.relname::text FROM rel
    JOIN pg_catalog.pg_inherits h ON h.inhrelid = rel.oid JOIN pg_catalog.pg_class o ON o.oid = h.inhparent
    WHERE rel.relkind IN ('i', 'I') AND rel.reloptions IS DISTINCT FROM o.reloptions
  UNION ALL SELECT 1247, t.oid, 'base type', s.nspname, t.typname::text FROM s
    JOIN pg_catalog.pg_type t ON t.typnamespace = s.oid
    WHERE t.typtype = 'b' AND NOT EXISTS (SELECT FROM pg_catalog.pg_type e WHERE e.oid = t.typelem AND e.typarray = t.oid)
  UNION ALL SELECT 1255, p.oid, CASE WHEN p.prokind = 'w' THEN 'window function'
    ELSE 'function in language ' || l.lanname::text END, s.nspname, p.proname::text
    FROM s JOIN pg_catalog.pg_proc p ON p.pronamespace = s.oid JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    WHERE p.prokind <> 'a' AND (p.prokind = 'w' OR l.lanname NOT IN ('sql', 'plpgsql'))
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 1255 AND d.objid = p.oid AND d.deptype = 'i')
  UNION ALL SELECT 2607, o.oid, 'conversion', s.nspname, o.conname::text FROM s JOIN pg_catalog.pg_conversion o ON o.connamespace = s.oid
  UNION ALL SELECT 2617, o.oid, 'operator', s.nspname, o.oprname::text FROM s JOIN pg_catalog.pg_operator o ON o.oprnamespace = s.oid
  UNION ALL SELECT 2616, o.oid, 'operator class', s.nspname, o.opcname::text FROM s JOIN pg_catalog.pg_opclass o ON o.opcnamespace = s.oid
  UNION ALL SELECT 2753, o.oid, 'operator family', s.nspname, o.opfname::text FROM s JOIN pg_catalog.pg_opfamily o ON o.opfnamespace = s.oid
  UNION ALL SELECT 3602, o.oid, 'text search configuration', s.nspname, o.cfgname::text FROM s JOIN pg_catalog.pg_ts_config o ON o.cfgnamespace = s.oid
  UNION ALL SELECT 3600, o.oid, 'text search dictionary', s.nspname, o.dictname::text FROM s JOIN pg_catalog.pg_ts_dict o ON o.dictnamespace = s.oid
  UNION ALL SELECT 3601, o.oid, 'text search parser', s.nspname, o.prsname::text FROM s JOIN pg_catalog.pg_ts_parser o ON o.prsnamespace = s.oid
  UNION ALL SELECT 3764, o.oid, 'text search template', s.nspname, o.tmplname::text FROM s JOIN pg_catalog.pg_ts_template o ON o.tmplnamespace = s.oid
)
SELECT DISTINCT kind, nsp::text, name FROM found f
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
  WHERE d.classid = f.classid AND d.objid = f.objid AND d.deptype = 'e') ORDER BY 2, 3, 1";

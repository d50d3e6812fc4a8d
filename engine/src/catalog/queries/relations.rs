//! Schemas, extensions, relations and their columns.

/// `oid, nspname, mine, owner`
pub(in crate::catalog) const SCHEMAS: &str = "
SELECT n.oid, n.nspname::text, pg_catalog.has_schema_privilege(n.oid, 'CREATE') AS mine,
  pg_catalog.pg_get_userbyid(n.nspowner)::text AS owner
FROM pg_catalog.pg_namespace n WHERE n.nspname::text = ANY($1)";

/// Whether the user may make schemas.
pub(in crate::catalog) const MAY_CREATE_SCHEMAS: &str =
    "SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')";

/// Every extension but the one that is always there.
pub(in crate::catalog) const EXTENSIONS: &str = "
SELECT e.oid, e.extname::text, n.nspname::text, e.extversion
FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
WHERE e.extname <> 'plpgsql'";

/// Tables, views, materialized views and sequences.
pub(in crate::catalog) const RELATIONS: &str = "
SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence = 'u' AS unlogged,
  COALESCE((SELECT pg_catalog.array_agg(o ORDER BY o) FROM
    (SELECT pg_catalog.unnest(c.reloptions) UNION ALL SELECT 'toast.' || pg_catalog.unnest(x.reloptions)
      FROM pg_catalog.pg_class x WHERE x.oid = c.reltoastrelid) AS all_options(o)), '{}') AS options,
  CASE WHEN c.relkind IN ('v', 'm') THEN pg_catalog.pg_get_viewdef(c.oid) END AS definition,
  c.reltype, COALESCE(t.typarray, 0::oid) AS typarray,
  pg_catalog.pg_has_role(c.relowner, 'USAGE') AS mine,
  EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 1259 AND d.objid = c.oid AND d.deptype = 'i'
    AND d.refclassid = 1259) AS internal,
  c.relkind = 'S' OR pg_catalog.has_any_column_privilege(c.oid, 'REFERENCES') AS referable,
  pg_catalog.pg_get_userbyid(c.relowner)::text AS owner, pg_catalog.pg_get_partkeydef(c.oid) AS partition_key,
  c.relrowsecurity, c.relforcerowsecurity, c.relispopulated,
  CASE WHEN c.relispartition THEN pg_catalog.pg_get_expr(c.relpartbound, c.oid) END AS bound,
  CASE c.relreplident WHEN 'n' THEN 'NOTHING' WHEN 'f' THEN 'FULL' END AS replica_identity
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_type t ON t.oid = c.reltype
WHERE n.nspname::text = ANY($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 1259 AND d.objid = c.oid AND d.deptype = 'e')";

/// Who inherits from whom, tables and indexes alike, with one side in scope: child, parent, and how each is called.
pub(in crate::catalog) const INHERITS: &str = "
SELECT i.inhrelid, i.inhparent, c.relispartition, c.relkind IN ('i', 'I') AS of_indexes,
  cn.nspname::text || '.' || c.relname::text AS child, pn.nspname::text || '.' || p.relname::text AS parent,
  cn.nspname::text = ANY($1) AS child_in, pn.nspname::text = ANY($1) AS parent_in
FROM pg_catalog.pg_inherits i
JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid JOIN pg_catalog.pg_namespace cn ON cn.oid = c.relnamespace
JOIN pg_catalog.pg_class p ON p.oid = i.inhparent JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace
WHERE (cn.nspname::text = ANY($1) OR pn.nspname::text = ANY($1)) AND c.relkind IN ('r', 'p', 'i', 'I')
ORDER BY i.inhrelid, i.inhseqno";

/// Columns of tables and views and attributes of composite types, with the default or generation expression.
pub(in crate::catalog) const COLUMNS: &str = "
SELECT a.attrelid, a.attnum, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod) AS data_type,
  CASE WHEN a.attcollation <> t.typcollation AND a.attcollation <> 0 THEN
    pg_catalog.quote_ident(cn.nspname) || '.' || pg_catalog.quote_ident(co.collname) END AS collation,
  a.attnotnull, a.attidentity::text, a.attgenerated::text,
  CASE WHEN a.attstorage <> t.typstorage THEN CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL'
    WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END END AS storage,
  CASE a.attcompression WHEN 'p' THEN 'pglz' WHEN 'l' THEN 'lz4' END AS compression,
  CASE WHEN a.attstattarget >= 0 THEN a.attstattarget::int4 END AS statistics,
  d.oid AS default_oid, pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS expression,
  COALESCE((SELECT pg_catalog.array_agg(o ORDER BY o) FROM pg_catalog.unnest(a.attoptions) AS o), '{}') AS options,
  a.attislocal AND a.attinhcount > 0 AS merged,
  CASE t.typstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END AS usual_storage
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation
LEFT JOIN pg_catalog.pg_namespace cn ON cn.oid = co.collnamespace
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE n.nspname::text = ANY($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'c')
  AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum";

/// PostgreSQL 18: NOT NULL constraints.
pub(in crate::catalog) const NOT_NULLS: &str = "
SELECT k.conrelid, k.conkey[1] AS attnum, k.conname::text, NOT k.convalidated AS not_valid, k.connoinherit,
  k.coninhcount > 0 AS inherited, k.oid
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace
WHERE n.nspname::text = ANY($1) AND k.contype = 'n' AND k.conrelid <> 0";

/// Sequences, with the table and column that owns each (`a`) or that they are the identity of (`i`).
pub(in crate::catalog) const SEQUENCES: &str = "
SELECT s.seqrelid, pg_catalog.format_type(s.seqtypid, NULL) AS data_type, s.seqstart, s.seqincrement, s.seqmin, s.seqmax,
  s.seqcache, s.seqcycle, d.deptype::text, d.refobjid, d.refobjsubid
FROM pg_catalog.pg_sequence s JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_depend d ON d.classid = 1259 AND d.objid = s.seqrelid AND d.objsubid = 0
  AND d.refclassid = 1259 AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0
WHERE n.nspname::text = ANY($1)";

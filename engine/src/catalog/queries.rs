//! The readings of PostgreSQL's catalogs. Each takes the schemas in scope as `$1` and leaves out what belongs to
//! an extension. The catalogs are read, not `information_schema`, which hides what a user may not see.

/// `oid, nspname, mine`
pub(super) const SCHEMAS: &str = "
SELECT n.oid, n.nspname::text, pg_catalog.has_schema_privilege(n.oid, 'CREATE') AS mine
FROM pg_catalog.pg_namespace n WHERE n.nspname::text = ANY($1)";

/// Whether the user may make schemas.
pub(super) const MAY_CREATE_SCHEMAS: &str =
    "SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')";

/// Every extension but the one that is always there.
pub(super) const EXTENSIONS: &str = "
SELECT e.oid, e.extname::text, n.nspname::text, e.extversion
FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
WHERE e.extname <> 'plpgsql'";

/// Ordinary tables, views and sequences.
pub(super) const RELATIONS: &str = "
SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence = 'u' AS unlogged,
  COALESCE((SELECT pg_catalog.array_agg(o ORDER BY o) FROM
    (SELECT pg_catalog.unnest(c.reloptions) UNION ALL SELECT 'toast.' || pg_catalog.unnest(x.reloptions)
      FROM pg_catalog.pg_class x WHERE x.oid = c.reltoastrelid) AS all_options(o)), '{}') AS options,
  CASE WHEN c.relkind = 'v' THEN pg_catalog.pg_get_viewdef(c.oid) END AS definition,
  c.reltype, COALESCE(t.typarray, 0::oid) AS typarray,
  pg_catalog.pg_has_role(c.relowner, 'USAGE') AS mine,
  EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 1259 AND d.objid = c.oid AND d.deptype = 'i'
    AND d.refclassid = 1259) AS internal,
  c.relkind = 'S' OR pg_catalog.has_any_column_privilege(c.oid, 'REFERENCES') AS referable
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_type t ON t.oid = c.reltype
WHERE n.nspname::text = ANY($1) AND c.relkind IN ('r', 'v', 'S') AND NOT c.relispartition
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 1259 AND d.objid = c.oid AND d.deptype = 'e')";

/// Columns of tables and views, with the default or generation expression.
pub(super) const COLUMNS: &str = "
SELECT a.attrelid, a.attnum, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod) AS data_type,
  CASE WHEN a.attcollation <> t.typcollation AND a.attcollation <> 0 THEN
    pg_catalog.quote_ident(cn.nspname) || '.' || pg_catalog.quote_ident(co.collname) END AS collation,
  a.attnotnull, a.attidentity::text, a.attgenerated::text,
  CASE WHEN a.attstorage <> t.typstorage THEN CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL'
    WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END END AS storage,
  CASE a.attcompression WHEN 'p' THEN 'pglz' WHEN 'l' THEN 'lz4' END AS compression,
  CASE WHEN a.attstattarget >= 0 THEN a.attstattarget::int4 END AS statistics,
  d.oid AS default_oid, pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS expression
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation
LEFT JOIN pg_catalog.pg_namespace cn ON cn.oid = co.collnamespace
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE n.nspname::text = ANY($1) AND c.relkind IN ('r', 'v') AND NOT c.relispartition
  AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum";

/// PostgreSQL 18: the names of NOT NULL constraints, and a mark on those that are not the usual kind.
pub(super) const NOT_NULL_NAMES: &str = "
SELECT k.conrelid, k.conkey[1] AS attnum, k.conname::text || CASE WHEN k.convalidated THEN '' ELSE ' NOT VALID' END
  || CASE WHEN k.connoinherit THEN ' NO INHERIT' ELSE '' END AS name, k.oid
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace
WHERE n.nspname::text = ANY($1) AND k.contype = 'n'";

/// Sequences, with the table and column that owns each (`a`) or that they are the identity of (`i`).
pub(super) const SEQUENCES: &str = "
SELECT s.seqrelid, pg_catalog.format_type(s.seqtypid, NULL) AS data_type, s.seqstart, s.seqincrement, s.seqmin, s.seqmax,
  s.seqcache, s.seqcycle, d.deptype::text, d.refobjid, d.refobjsubid
FROM pg_catalog.pg_sequence s JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_depend d ON d.classid = 1259 AND d.objid = s.seqrelid AND d.objsubid = 0
  AND d.refclassid = 1259 AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0
WHERE n.nspname::text = ANY($1)";

/// Enum types with their labels.
pub(super) const ENUMS: &str = "
SELECT t.oid, t.typarray, n.nspname::text, t.typname::text, pg_catalog.pg_has_role(t.typowner, 'USAGE') AS mine,
  COALESCE((SELECT pg_catalog.array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
    FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid), '{}') AS labels
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE n.nspname::text = ANY($1) AND t.typtype = 'e'
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 1247 AND d.objid = t.oid AND d.deptype = 'e')";

/// Functions and procedures in languages whose bodies the server keeps.
pub(super) const FUNCTIONS: &str = "
SELECT p.oid, n.nspname::text, p.proname::text, pg_catalog.oidvectortypes(p.proargtypes) AS arguments,
  pg_catalog.pg_get_functiondef(p.oid) AS definition,
  CASE p.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END AS word,
  pg_catalog.pg_get_function_identity_arguments(p.oid) AS signature,
  pg_catalog.concat_ws('|', p.prokind, p.proretset, pg_catalog.format_type(p.prorettype, NULL), p.provariadic,
    pg_catalog.pg_get_function_identity_arguments(p.oid), pg_catalog.pg_get_function_result(p.oid)) AS shape,
  p.pronargdefaults, p.prosecdef, pg_catalog.pg_has_role(p.proowner, 'USAGE') AS mine
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE n.nspname::text = ANY($1) AND p.prokind IN ('f', 'p') AND l.lanname IN ('sql', 'plpgsql')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 1255 AND d.objid = p.oid AND d.deptype = 'e')";

/// Constraints of tables, and the index behind each.
pub(super) const CONSTRAINTS: &str = "
SELECT k.oid, k.conrelid, k.conname::text, k.contype::text, pg_catalog.pg_get_constraintdef(k.oid) AS definition,
  CASE WHEN k.contype IN ('p', 'u') THEN k.conindid ELSE 0::oid END AS conindid,
  fn.nspname::text AS other_schema, f.relname::text AS other_name
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace
LEFT JOIN pg_catalog.pg_class f ON f.oid = k.confrelid AND k.contype = 'f'
LEFT JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
WHERE n.nspname::text = ANY($1) AND k.conrelid <> 0 AND k.contype IN ('p', 'u', 'c', 'f') AND k.conparentid = 0";

/// Indexes that no constraint owns.
pub(super) const INDEXES: &str = "
SELECT i.indexrelid, i.indrelid, n.nspname::text, c.relname::text, pg_catalog.pg_get_indexdef(i.indexrelid) AS definition,
  i.indisunique, i.indisvalid
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname::text = ANY($1)
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))";

/// Triggers that somebody made.
pub(super) const TRIGGERS: &str = "
SELECT t.oid, t.tgrelid, t.tgname::text, pg_catalog.pg_get_triggerdef(t.oid) AS definition, t.tgenabled::text,
  t.tgconstraint
FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname::text = ANY($1) AND NOT t.tgisinternal AND NOT c.relispartition";

/// Triggers that the server made for its own constraints.
pub(super) const INTERNAL_TRIGGERS: &str = "SELECT t.oid FROM pg_catalog.pg_trigger t WHERE t.tgisinternal";

/// The rewrite rule behind each view.
pub(super) const VIEW_RULES: &str = "
SELECT r.oid, r.ev_class FROM pg_catalog.pg_rewrite r WHERE r.rulename = '_RETURN'";

/// Array and other derived types of user-made types.
pub(super) const DERIVED_TYPES: &str = "
SELECT t.oid, t.typelem FROM pg_catalog.pg_type t WHERE t.typelem <> 0 AND t.oid >= 16384";

/// Who needs whom.
pub(super) const DEPENDS: &str = "
SELECT d.classid, d.objid, d.objsubid, d.refclassid, d.refobjid, d.refobjsubid, d.deptype::text
FROM pg_catalog.pg_depend d WHERE d.objid >= 16384 AND d.deptype IN ('n', 'a', 'i', 'e')";

/// How the server itself names an object. (`unnest` of several arrays is syntax, so it takes no schema.)
pub(super) const DESCRIBE: &str = "
SELECT pg_catalog.pg_describe_object(c, o, s) FROM unnest($1::oid[], $2::oid[], $3::int4[]) AS u(c, o, s)";

/// Comments.
pub(super) const COMMENTS: &str = "
SELECT d.classoid, d.objoid, d.objsubid, d.description FROM pg_catalog.pg_description d
WHERE d.classoid IN (1259, 1247, 1255, 2606, 2620, 2615) AND (d.objoid >= 16384 OR d.classoid = 2615)";

/// Privileges of each kind of object: who, what, and whether the server would have granted it by itself.
/// Rows of the owner and of the reading user are left out: they are not declared, they come with owning.
pub(super) const PRIVILEGES: &str = "
WITH o(classid, objid, objsubid, owner, acl, preset) AS (
  SELECT 1259::oid, c.oid, 0, c.relowner, c.relacl,
    pg_catalog.acldefault(CASE c.relkind WHEN 'S' THEN 's'::\"char\" ELSE 'r'::\"char\" END, c.relowner)
    FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'v', 'S') AND c.relacl IS NOT NULL
  UNION ALL SELECT 1259, a.attrelid, a.attnum::int4, c.relowner, a.attacl, NULL
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid WHERE a.attacl IS NOT NULL
  UNION ALL SELECT 1255, p.oid, 0, p.proowner, p.proacl, pg_catalog.acldefault('f', p.proowner)
    FROM pg_catalog.pg_proc p WHERE p.proacl IS NOT NULL
  UNION ALL SELECT 1247, t.oid, 0, t.typowner, t.typacl, pg_catalog.acldefault('T', t.typowner)
    FROM pg_catalog.pg_type t WHERE t.typacl IS NOT NULL
  UNION ALL SELECT 2615, n.oid, 0, n.nspowner, n.nspacl, pg_catalog.acldefault('n', n.nspowner)
    FROM pg_catalog.pg_namespace n WHERE n.nspacl IS NOT NULL
), x AS (
  SELECT o.classid, o.objid, o.objsubid, o.owner, e.grantee, e.privilege_type, e.is_grantable, true AS actual
    FROM o, pg_catalog.aclexplode(o.acl) e
  UNION ALL
  SELECT o.classid, o.objid, o.objsubid, o.owner, e.grantee, e.privilege_type, e.is_grantable, false
    FROM o, pg_catalog.aclexplode(o.preset) e
)
SELECT x.classid, x.objid, x.objsubid, CASE WHEN x.grantee = 0 THEN '' ELSE r.rolname::text END AS role,
  x.privilege_type || CASE WHEN x.is_grantable THEN '*' ELSE '' END AS privilege, x.actual
FROM x LEFT JOIN pg_catalog.pg_roles r ON r.oid = x.grantee
WHERE x.grantee <> x.owner AND (x.grantee = 0 OR r.rolname IS NOT NULL) AND r.rolname IS DISTINCT FROM $1";

/// What is in scope and of a kind that is not handled: kind, name.
pub(super) const UNSUPPORTED: &str = "
WITH s AS (SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname::text = ANY($1)),
rel AS (SELECT c.*, s.nspname FROM pg_catalog.pg_class c JOIN s ON s.oid = c.relnamespace),
found(classid, objid, kind, nsp, name) AS (
  SELECT 1259::oid, oid, CASE relkind WHEN 'p' THEN 'partitioned table' WHEN 'm' THEN 'materialized view'
    WHEN 'f' THEN 'foreign table' END, nspname, relname::text
    FROM rel WHERE relkind IN ('p', 'm', 'f')
  UNION ALL SELECT 1247, reltype, 'composite type', nspname, relname::text FROM rel WHERE relkind = 'c'
  UNION ALL SELECT 1259, oid, 'partition', nspname, relname::text FROM rel WHERE relispartition AND relkind <> 'I' AND relkind <> 'i'
  UNION ALL SELECT 1259, oid, 'inherited table', nspname, relname::text FROM rel WHERE relkind = 'r' AND NOT relispartition
    AND EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhrelid = rel.oid OR i.inhparent = rel.oid)
  UNION ALL SELECT 1259, oid, 'typed table', nspname, relname::text FROM rel WHERE relkind = 'r' AND reloftype <> 0
  UNION ALL SELECT 1259, oid, 'table or index in a tablespace', nspname, relname::text FROM rel
    WHERE relkind IN ('r', 'i') AND reltablespace <> 0
  UNION ALL SELECT 1259, oid, 'table of another access method', nspname, relname::text FROM rel
    WHERE relkind = 'r' AND relam <> 2
  UNION ALL SELECT 1259, oid, 'table with row security', nspname, relname::text FROM rel
    WHERE relrowsecurity OR relforcerowsecurity
  UNION ALL SELECT 1259, oid, 'table whose replica identity is an index', nspname, relname::text FROM rel
    WHERE relreplident = 'i'
  UNION ALL SELECT 1259, rel.oid, 'row-security policy', nspname, relname::text || '.' || p.polname::text
    FROM rel JOIN pg_catalog.pg_policy p ON p.polrelid = rel.oid
  UNION ALL SELECT 1259, rel.oid, 'rule', nspname, relname::text || '.' || r.rulename::text
    FROM rel JOIN pg_catalog.pg_rewrite r ON r.ev_class = rel.oid
    WHERE NOT (r.rulename = '_RETURN' AND rel.relkind IN ('v', 'm'))
  UNION ALL SELECT 1259, rel.oid, 'default of a view column', nspname, relname::text
    FROM rel JOIN pg_catalog.pg_attrdef d ON d.adrelid = rel.oid WHERE rel.relkind = 'v'
  UNION ALL SELECT 1259, rel.oid, 'column with options', nspname, relname::text || '.' || a.attname::text
    FROM rel JOIN pg_catalog.pg_attribute a ON a.attrelid = rel.oid WHERE a.attoptions IS NOT NULL AND relkind IN ('r', 'v')
  UNION ALL SELECT 1259, rel.oid, 'index with statistics targets', nspname, relname::text
    FROM rel JOIN pg_catalog.pg_attribute a ON a.attrelid = rel.oid WHERE a.attstattarget >= 0 AND relkind = 'i'
  UNION ALL SELECT 2606, k.oid, 'exclusion constraint', nspname, relname::text || '.' || k.conname::text
    FROM rel JOIN pg_catalog.pg_constraint k ON k.conrelid = rel.oid WHERE k.contype = 'x'
  UNION ALL SELECT 2606, k.oid, 'constraint whose index has options', rel.nspname, rel.relname::text || '.' || k.conname::text
    FROM rel JOIN pg_catalog.pg_constraint k ON k.conrelid = rel.oid JOIN pg_catalog.pg_class i ON i.oid = k.conindid
    WHERE k.contype IN ('p', 'u') AND i.reloptions IS NOT NULL
  UNION ALL SELECT 3381, x.oid, 'extended statistics', s.nspname, x.stxname::text
    FROM s JOIN pg_catalog.pg_statistic_ext x ON x.stxnamespace = s.oid
  UNION ALL SELECT 1247, t.oid, CASE t.typtype WHEN 'd' THEN 'domain' WHEN 'r' THEN 'range type' ELSE 'base type' END,
    s.nspname, t.typname::text FROM s JOIN pg_catalog.pg_type t ON t.typnamespace = s.oid
    WHERE t.typtype IN ('d', 'r') OR (t.typtype = 'b' AND NOT EXISTS
      (SELECT FROM pg_catalog.pg_type e WHERE e.oid = t.typelem AND e.typarray = t.oid))
  UNION ALL SELECT 1255, p.oid, CASE WHEN p.prokind = 'a' THEN 'aggregate' WHEN p.prokind = 'w' THEN 'window function'
    ELSE 'function in language ' || l.lanname::text END, s.nspname, p.proname::text
    FROM s JOIN pg_catalog.pg_proc p ON p.pronamespace = s.oid JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    WHERE p.prokind IN ('a', 'w') OR (l.lanname NOT IN ('sql', 'plpgsql')
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_range g JOIN pg_catalog.pg_type gt ON gt.oid = g.rngtypid
        WHERE gt.typname = p.proname OR p.proname = gt.typname))
  UNION ALL SELECT 3456, o.oid, 'collation', s.nspname, o.collname::text FROM s JOIN pg_catalog.pg_collation o ON o.collnamespace = s.oid
  UNION ALL SELECT 2607, o.oid, 'conversion', s.nspname, o.conname::text FROM s JOIN pg_catalog.pg_conversion o ON o.connamespace = s.oid
  UNION ALL SELECT 2617, o.oid, 'operator', s.nspname, o.oprname::text FROM s JOIN pg_catalog.pg_operator o ON o.oprnamespace = s.oid
  UNION ALL SELECT 2616, o.oid, 'operator class', s.nspname, o.opcname::text FROM s JOIN pg_catalog.pg_opclass o ON o.opcnamespace = s.oid
  UNION ALL SELECT 2753, o.oid, 'operator family', s.nspname, o.opfname::text FROM s JOIN pg_catalog.pg_opfamily o ON o.opfnamespace = s.oid
  UNION ALL SELECT 3602, o.oid, 'text search configuration', s.nspname, o.cfgname::text FROM s JOIN pg_catalog.pg_ts_config o ON o.cfgnamespace = s.oid
  UNION ALL SELECT 3600, o.oid, 'text search dictionary', s.nspname, o.dictname::text FROM s JOIN pg_catalog.pg_ts_dict o ON o.dictnamespace = s.oid
  UNION ALL SELECT 3601, o.oid, 'text search parser', s.nspname, o.prsname::text FROM s JOIN pg_catalog.pg_ts_parser o ON o.prsnamespace = s.oid
  UNION ALL SELECT 3764, o.oid, 'text search template', s.nspname, o.tmplname::text FROM s JOIN pg_catalog.pg_ts_template o ON o.tmplnamespace = s.oid
  UNION ALL SELECT 826, d.oid, 'default privileges', COALESCE(n.nspname, ''), r.rolname::text
    FROM pg_catalog.pg_default_acl d JOIN pg_catalog.pg_roles r ON r.oid = d.defaclrole
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = d.defaclnamespace
    WHERE (d.defaclnamespace = 0 OR d.defaclnamespace IN (SELECT oid FROM s)) AND r.rolname = current_user
)
SELECT DISTINCT kind, nsp::text, name FROM found f
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
  WHERE d.classid = f.classid AND d.objid = f.objid AND d.deptype = 'e') ORDER BY 2, 3, 1";

/// What hears of every schema change, or loses a table.
pub(super) const NOTES: &str = "
SELECT 'event trigger ' || pg_catalog.quote_ident(evtname) || ' fires on schema changes' FROM pg_catalog.pg_event_trigger
  WHERE evtenabled <> 'D' ORDER BY 1";

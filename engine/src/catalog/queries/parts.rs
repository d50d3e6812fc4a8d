//! What hangs on tables and views.

/// Constraints of tables, and the index behind each.
pub(in crate::catalog) const CONSTRAINTS: &str = "
SELECT k.oid, k.conrelid, k.conname::text, k.contype::text, pg_catalog.pg_get_constraintdef(k.oid) AS definition,
  CASE WHEN k.contype IN ('p', 'u', 'x') THEN k.conindid ELSE 0::oid END AS conindid,
  fn.nspname::text AS other_schema, f.relname::text AS other_name, k.conparentid, k.coninhcount > 0 AS inherited,
  COALESCE((SELECT pg_catalog.array_agg(o ORDER BY o) FROM pg_catalog.unnest(x.reloptions) AS o), '{}') AS index_options
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace
LEFT JOIN pg_catalog.pg_class f ON f.oid = k.confrelid AND k.contype = 'f'
LEFT JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
LEFT JOIN pg_catalog.pg_class x ON x.oid = k.conindid AND k.contype IN ('p', 'u', 'x')
WHERE n.nspname::text = ANY($1) AND k.conrelid <> 0 AND k.contype IN ('p', 'u', 'x', 'c', 'f')
ORDER BY k.oid";

/// Indexes that no constraint owns.
pub(in crate::catalog) const INDEXES: &str = "
SELECT i.indexrelid, i.indrelid, n.nspname::text, c.relname::text, pg_catalog.pg_get_indexdef(i.indexrelid) AS definition,
  i.indisunique, i.indisvalid, c.relkind = 'I' AS partitioned,
  COALESCE((SELECT pg_catalog.array_agg(a.attnum ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = i.indexrelid AND a.attstattarget >= 0), '{}') AS numbers,
  COALESCE((SELECT pg_catalog.array_agg(a.attstattarget::int4 ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = i.indexrelid AND a.attstattarget >= 0), '{}') AS targets
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname::text = ANY($1)
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))";

/// Indexes with an office: that `CLUSTER` follows, or by which replication tells rows apart.
pub(in crate::catalog) const INDEX_OFFICES: &str = "
SELECT i.indrelid, i.indexrelid, c.relname::text, i.indisclustered, i.indisreplident AND t.relreplident = 'i'
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_class t ON t.oid = i.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname::text = ANY($1) AND (i.indisclustered OR i.indisreplident)";

/// Extended statistics objects. The server prints their columns in physical order, which is never compared.
pub(in crate::catalog) const STATISTICS: &str = "
SELECT x.oid, n.nspname::text, x.stxname::text, x.stxrelid,
  'CREATE STATISTICS ' || pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(x.stxname)
    || CASE WHEN x.stxkind @> '{d,f,m}' OR x.stxkind = '{e}' THEN '' ELSE ' (' || pg_catalog.concat_ws(', ',
      CASE WHEN 'd' = ANY(x.stxkind) THEN 'ndistinct' END, CASE WHEN 'f' = ANY(x.stxkind) THEN 'dependencies' END,
      CASE WHEN 'm' = ANY(x.stxkind) THEN 'mcv' END) || ')' END
    || ' ON ' || pg_catalog.concat_ws(', ',
      (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attname)
        FROM pg_catalog.pg_attribute a WHERE a.attrelid = x.stxrelid AND a.attnum = ANY(x.stxkeys)),
      (SELECT pg_catalog.string_agg('(' || e || ')', ', ')
        FROM pg_catalog.unnest(pg_catalog.pg_get_statisticsobjdef_expressions(x.oid)) AS e))
    || ' FROM ' || (SELECT pg_catalog.quote_ident(tn.nspname) || '.' || pg_catalog.quote_ident(t.relname)
      FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace WHERE t.oid = x.stxrelid)
    AS definition,
  CASE WHEN x.stxstattarget >= 0 THEN x.stxstattarget::int4 END AS target,
  pg_catalog.pg_has_role(x.stxowner, 'USAGE') AS mine, pg_catalog.pg_get_userbyid(x.stxowner)::text AS owner
FROM pg_catalog.pg_statistic_ext x JOIN pg_catalog.pg_namespace n ON n.oid = x.stxnamespace
WHERE n.nspname::text = ANY($1)";

/// Rules that somebody made.
pub(in crate::catalog) const RULES: &str = "
SELECT r.oid, r.ev_class, r.rulename::text, pg_catalog.pg_get_ruledef(r.oid) AS definition, r.ev_enabled::text
FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname::text = ANY($1) AND NOT (r.rulename = '_RETURN' AND c.relkind IN ('v', 'm'))";

/// The rewrite rule behind each view.
pub(in crate::catalog) const VIEW_RULES: &str = "
SELECT r.oid, r.ev_class FROM pg_catalog.pg_rewrite r WHERE r.rulename = '_RETURN'";

/// Triggers that somebody made; a clone on a partition names the trigger that it is a clone of.
pub(in crate::catalog) const TRIGGERS: &str = "
SELECT t.oid, t.tgrelid, t.tgname::text, pg_catalog.pg_get_triggerdef(t.oid) AS definition, t.tgenabled::text,
  t.tgconstraint, t.tgparentid
FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname::text = ANY($1) AND NOT t.tgisinternal ORDER BY t.oid";

/// Triggers that the server made for its own constraints.
pub(in crate::catalog) const INTERNAL_TRIGGERS: &str =
    "SELECT t.oid FROM pg_catalog.pg_trigger t WHERE t.tgisinternal";

/// Row-security policies. The reading user's own name stands for whoever reads.
pub(in crate::catalog) const POLICIES: &str = "
SELECT p.oid, p.polrelid, p.polname::text, p.polpermissive,
  CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
  COALESCE((SELECT pg_catalog.array_agg(CASE WHEN r.rolname = current_user AND $2 <> '' THEN $2 ELSE r.rolname::text END
    ORDER BY r.rolname) FROM pg_catalog.pg_roles r WHERE r.oid = ANY(p.polroles)), '{}') AS roles,
  pg_catalog.pg_get_expr(p.polqual, p.polrelid), pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid)
FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname::text = ANY($1)";

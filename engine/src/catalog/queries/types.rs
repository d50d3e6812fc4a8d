//! Types, collations and routines.

/// Collations. The catalog's columns differ from version to version, so they are asked for by name in JSON.
pub(in crate::catalog) const COLLATIONS: &str = "
SELECT o.oid, n.nspname::text, o.collname::text, pg_catalog.pg_has_role(o.collowner, 'USAGE') AS mine,
  pg_catalog.pg_get_userbyid(o.collowner)::text AS owner,
  pg_catalog.concat_ws(', ',
    'provider = ' || CASE o.collprovider WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' END,
    CASE WHEN o.collprovider = 'c' THEN
      'lc_collate = ' || pg_catalog.quote_literal(o.collcollate) || ', lc_ctype = ' || pg_catalog.quote_literal(o.collctype)
    ELSE 'locale = ' || pg_catalog.quote_literal(COALESCE(j.j->>'colllocale', j.j->>'colliculocale', o.collcollate)) END,
    CASE WHEN NOT o.collisdeterministic THEN 'deterministic = false' END,
    'rules = ' || pg_catalog.quote_literal(j.j->>'collicurules')) AS definition
FROM pg_catalog.pg_collation o JOIN pg_catalog.pg_namespace n ON n.oid = o.collnamespace,
LATERAL (SELECT pg_catalog.to_jsonb(o) AS j) j
WHERE n.nspname::text = ANY($1)
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 3456 AND d.objid = o.oid AND d.deptype = 'e')";

/// Enum types, domains, range types and composite types that are no table's: what each is told by.
pub(in crate::catalog) const TYPES: &str = "
SELECT t.oid, t.typarray, n.nspname::text, t.typname::text, t.typtype::text,
  pg_catalog.pg_has_role(t.typowner, 'USAGE') AS mine, pg_catalog.pg_get_userbyid(t.typowner)::text AS owner,
  COALESCE((SELECT pg_catalog.array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
    FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid), '{}') AS labels,
  CASE WHEN t.typtype = 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) END AS base,
  CASE WHEN t.typtype = 'd' AND t.typcollation <> b.typcollation AND t.typcollation <> 0 THEN
    pg_catalog.quote_ident(cn.nspname) || '.' || pg_catalog.quote_ident(co.collname) END AS collation,
  CASE WHEN t.typtype = 'd' THEN COALESCE(pg_catalog.pg_get_expr(t.typdefaultbin, 0),
    pg_catalog.quote_literal(t.typdefault)) END AS preset,
  t.typnotnull, t.typrelid
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_type b ON b.oid = t.typbasetype
LEFT JOIN pg_catalog.pg_collation co ON co.oid = t.typcollation
LEFT JOIN pg_catalog.pg_namespace cn ON cn.oid = co.collnamespace
LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
WHERE n.nspname::text = ANY($1) AND (t.typtype IN ('e', 'd', 'r') OR (t.typtype = 'c' AND c.relkind = 'c'))
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 1247 AND d.objid = t.oid AND d.deptype = 'e')";

/// What range types are made of.
pub(in crate::catalog) const RANGES: &str = "
SELECT r.rngtypid, pg_catalog.concat_ws(', ',
  'SUBTYPE = ' || pg_catalog.format_type(r.rngsubtype, NULL),
  CASE WHEN NOT oc.opcdefault THEN 'SUBTYPE_OPCLASS = ' || pg_catalog.quote_ident(ocn.nspname) || '.'
    || pg_catalog.quote_ident(oc.opcname) END,
  CASE WHEN r.rngcollation <> st.typcollation AND r.rngcollation <> 0 THEN 'COLLATION = '
    || pg_catalog.quote_ident(cn.nspname) || '.' || pg_catalog.quote_ident(co.collname) END,
  CASE WHEN r.rngcanonical <> 0 THEN 'CANONICAL = ' || r.rngcanonical::text END,
  CASE WHEN r.rngsubdiff <> 0 THEN 'SUBTYPE_DIFF = ' || r.rngsubdiff::text END,
  'MULTIRANGE_TYPE_NAME = ' || pg_catalog.quote_ident(mn.nspname) || '.' || pg_catalog.quote_ident(m.typname))
FROM pg_catalog.pg_range r JOIN pg_catalog.pg_type t ON t.oid = r.rngtypid
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
JOIN pg_catalog.pg_type st ON st.oid = r.rngsubtype
JOIN pg_catalog.pg_opclass oc ON oc.oid = r.rngsubopc JOIN pg_catalog.pg_namespace ocn ON ocn.oid = oc.opcnamespace
JOIN pg_catalog.pg_type m ON m.oid = r.rngmultitypid JOIN pg_catalog.pg_namespace mn ON mn.oid = m.typnamespace
LEFT JOIN pg_catalog.pg_collation co ON co.oid = r.rngcollation
LEFT JOIN pg_catalog.pg_namespace cn ON cn.oid = co.collnamespace
WHERE n.nspname::text = ANY($1)";

/// Constraints of domains; those of PostgreSQL 17 that stand for NOT NULL have no definition.
pub(in crate::catalog) const DOMAIN_CONSTRAINTS: &str = "
SELECT k.oid, k.contypid, k.conname::text, CASE WHEN k.contype = 'c' THEN pg_catalog.pg_get_constraintdef(k.oid) END
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace
WHERE n.nspname::text = ANY($1) AND k.contypid <> 0";

/// Functions and procedures in languages whose bodies the server keeps, and aggregates.
pub(in crate::catalog) const FUNCTIONS: &str = "
SELECT p.oid, n.nspname::text, p.proname::text, pg_catalog.oidvectortypes(p.proargtypes) AS arguments,
  CASE WHEN p.prokind <> 'a' THEN pg_catalog.pg_get_functiondef(p.oid) END AS definition,
  CASE p.prokind WHEN 'p' THEN 'PROCEDURE' WHEN 'a' THEN 'AGGREGATE' ELSE 'FUNCTION' END AS word,
  CASE WHEN p.prokind = 'a' AND p.pronargs = 0 THEN '*'
    ELSE pg_catalog.pg_get_function_identity_arguments(p.oid) END AS signature,
  pg_catalog.concat_ws('|', p.prokind, p.proretset, pg_catalog.format_type(p.prorettype, NULL), p.provariadic,
    pg_catalog.pg_get_function_identity_arguments(p.oid), pg_catalog.pg_get_function_result(p.oid)) AS shape,
  p.pronargdefaults, p.prosecdef, pg_catalog.pg_has_role(p.proowner, 'USAGE') AS mine,
  pg_catalog.pg_get_userbyid(p.proowner)::text AS owner
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE n.nspname::text = ANY($1) AND ((p.prokind IN ('f', 'p') AND l.lanname IN ('sql', 'plpgsql')) OR p.prokind = 'a')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 1255 AND d.objid = p.oid AND d.deptype IN ('e', 'i'))";

/// What aggregates are made of, for which the server has no print of its own.
pub(in crate::catalog) const AGGREGATES: &str = "
SELECT p.oid, pg_catalog.concat_ws('|', a.aggkind, a.aggnumdirectargs) AS shape, pg_catalog.concat_ws(', ',
  'SFUNC = ' || a.aggtransfn::text, 'STYPE = ' || pg_catalog.format_type(a.aggtranstype, NULL),
  CASE WHEN a.aggtransspace <> 0 THEN 'SSPACE = ' || a.aggtransspace END,
  CASE WHEN a.aggfinalfn <> 0 THEN 'FINALFUNC = ' || a.aggfinalfn::text END,
  CASE WHEN a.aggfinalextra THEN 'FINALFUNC_EXTRA' END,
  CASE WHEN a.aggfinalfn <> 0 THEN 'FINALFUNC_MODIFY = '
    || CASE a.aggfinalmodify WHEN 'r' THEN 'READ_ONLY' WHEN 's' THEN 'SHAREABLE' ELSE 'READ_WRITE' END END,
  CASE WHEN a.aggcombinefn <> 0 THEN 'COMBINEFUNC = ' || a.aggcombinefn::text END,
  CASE WHEN a.aggserialfn <> 0 THEN 'SERIALFUNC = ' || a.aggserialfn::text END,
  CASE WHEN a.aggdeserialfn <> 0 THEN 'DESERIALFUNC = ' || a.aggdeserialfn::text END,
  'INITCOND = ' || pg_catalog.quote_literal(a.agginitval),
  CASE WHEN a.aggmtransfn <> 0 THEN 'MSFUNC = ' || a.aggmtransfn::text END,
  CASE WHEN a.aggminvtransfn <> 0 THEN 'MINVFUNC = ' || a.aggminvtransfn::text END,
  CASE WHEN a.aggmtranstype <> 0 THEN 'MSTYPE = ' || pg_catalog.format_type(a.aggmtranstype, NULL) END,
  CASE WHEN a.aggmtransspace <> 0 THEN 'MSSPACE = ' || a.aggmtransspace END,
  CASE WHEN a.aggmfinalfn <> 0 THEN 'MFINALFUNC = ' || a.aggmfinalfn::text END,
  CASE WHEN a.aggmfinalextra THEN 'MFINALFUNC_EXTRA' END,
  CASE WHEN a.aggmfinalfn <> 0 THEN 'MFINALFUNC_MODIFY = '
    || CASE a.aggmfinalmodify WHEN 'r' THEN 'READ_ONLY' WHEN 's' THEN 'SHAREABLE' ELSE 'READ_WRITE' END END,
  'MINITCOND = ' || pg_catalog.quote_literal(a.aggminitval),
  CASE WHEN a.aggsortop <> 0 THEN 'SORTOP = OPERATOR(' || (SELECT pg_catalog.quote_ident(on_.nspname) || '.' || o.oprname
    FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace on_ ON on_.oid = o.oprnamespace WHERE o.oid = a.aggsortop) || ')' END,
  CASE p.proparallel WHEN 's' THEN 'PARALLEL = SAFE' WHEN 'r' THEN 'PARALLEL = RESTRICTED' END,
  CASE WHEN a.aggkind = 'h' THEN 'HYPOTHETICAL' END) AS parts
FROM pg_catalog.pg_aggregate a JOIN pg_catalog.pg_proc p ON p.oid = a.aggfnoid
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname::text = ANY($1)";

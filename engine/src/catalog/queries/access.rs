//! Who needs whom, comments, privileges, and what people should know.

/// Array and other derived types of user-made types.
pub(in crate::catalog) const DERIVED_TYPES: &str = "
SELECT t.oid, t.typelem FROM pg_catalog.pg_type t WHERE t.typelem <> 0 AND t.oid >= 16384";

/// Who needs whom.
pub(in crate::catalog) const DEPENDS: &str = "
SELECT d.classid, d.objid, d.objsubid, d.refclassid, d.refobjid, d.refobjsubid, d.deptype::text
FROM pg_catalog.pg_depend d WHERE d.objid >= 16384 AND d.deptype IN ('n', 'a', 'i', 'e')";

/// How the server itself names an object. (`unnest` of several arrays is syntax, so it takes no schema.)
pub(in crate::catalog) const DESCRIBE: &str = "
SELECT pg_catalog.pg_describe_object(c, o, s) FROM unnest($1::oid[], $2::oid[], $3::int4[]) AS u(c, o, s)";

/// Comments.
pub(in crate::catalog) const COMMENTS: &str = "
SELECT d.classoid, d.objoid, d.objsubid, d.description FROM pg_catalog.pg_description d
WHERE d.classoid IN (1259, 1247, 1255, 2606, 2620, 2615, 2618, 3079, 3256, 3381, 3456)
  AND (d.objoid >= 16384 OR d.classoid = 2615)
  -- What an extension says of itself is no declaration.
  AND NOT (d.classoid = 3079 AND EXISTS (SELECT FROM pg_catalog.pg_extension e
    JOIN pg_catalog.pg_available_extensions a ON a.name = e.extname WHERE e.oid = d.objoid AND a.comment = d.description))";

/// Privileges of each kind of object: who, what, and whether the server would have granted it by itself.
/// Rows of the owner and of the reading user are left out: they are not declared, they come with owning.
pub(in crate::catalog) const PRIVILEGES: &str = "
WITH o(classid, objid, objsubid, owner, acl, preset) AS (
  SELECT 1259::oid, c.oid, 0, c.relowner, c.relacl,
    pg_catalog.acldefault(CASE c.relkind WHEN 'S' THEN 's'::\"char\" ELSE 'r'::\"char\" END, c.relowner)
    FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S') AND c.relacl IS NOT NULL
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
WHERE x.grantee <> x.owner AND (x.grantee = 0 OR r.rolname IS NOT NULL) AND r.rolname IS DISTINCT FROM $1
  AND r.rolname IS DISTINCT FROM current_user";

/// Default privileges of each grantee, and what the server would have granted by itself: whose objects, in which schema,
/// of which kind, to whom, what. The reading user is the empty name, as whose objects; as grantee it is left out, like
/// whoever makes the objects.
pub(in crate::catalog) const DEFAULT_PRIVILEGES: &str = "
WITH o AS (
  SELECT CASE WHEN r.rolname = current_user OR r.rolname = $2 THEN '' ELSE r.rolname::text END AS role, COALESCE(n.nspname::text, '') AS nsp,
    d.defaclobjtype AS kind, d.defaclrole, d.defaclacl AS acl,
    CASE WHEN d.defaclnamespace = 0 THEN pg_catalog.acldefault(CASE d.defaclobjtype WHEN 'S' THEN 's' ELSE d.defaclobjtype END,
      d.defaclrole) END AS preset
  FROM pg_catalog.pg_default_acl d JOIN pg_catalog.pg_roles r ON r.oid = d.defaclrole
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = d.defaclnamespace
  WHERE (d.defaclnamespace = 0 OR n.nspname::text = ANY($1)) AND pg_catalog.pg_has_role(d.defaclrole, 'MEMBER')
), x AS (
  SELECT o.role, o.nsp, o.kind, o.defaclrole, e.grantee, e.privilege_type, e.is_grantable, true AS actual
    FROM o, pg_catalog.aclexplode(o.acl) e
  UNION ALL
  SELECT o.role, o.nsp, o.kind, o.defaclrole, e.grantee, e.privilege_type, e.is_grantable, false
    FROM o, pg_catalog.aclexplode(o.preset) e
)
SELECT x.role, x.nsp, CASE x.kind WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'f' THEN 'FUNCTIONS' WHEN 'T' THEN 'TYPES'
    WHEN 'n' THEN 'SCHEMAS' WHEN 'L' THEN 'LARGE OBJECTS' END AS kind,
  CASE WHEN x.grantee = 0 THEN '' ELSE r.rolname::text END AS grantee,
  x.privilege_type || CASE WHEN x.is_grantable THEN '*' ELSE '' END AS privilege, x.actual
FROM x LEFT JOIN pg_catalog.pg_roles r ON r.oid = x.grantee
WHERE x.grantee <> x.defaclrole AND (x.grantee = 0 OR r.rolname IS NOT NULL)
  AND NOT (x.role = '' AND r.rolname IS NOT DISTINCT FROM $2)";

/// What hears of every schema change, or loses a table.
pub(in crate::catalog) const NOTES: &str = "
SELECT 'event trigger ' || pg_catalog.quote_ident(evtname) || ' fires on schema changes' FROM pg_catalog.pg_event_trigger
  WHERE evtenabled <> 'D'
UNION ALL SELECT 'publication ' || pg_catalog.quote_ident(p.pubname) || ' publishes tables of this database'
  FROM pg_catalog.pg_publication p
UNION ALL SELECT 'cast ' || pg_catalog.format_type(c.castsource, NULL) || ' to ' || pg_catalog.format_type(c.casttarget, NULL)
    || ' is left alone' FROM pg_catalog.pg_cast c
  WHERE c.oid >= 16384 AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 2605 AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY 1";

//! Names of PostgreSQL objects and how they are quoted.

use std::fmt;

use serde::{Serialize, Serializer};

/// Every keyword of PostgreSQL 14 to 18 that is not unreserved. Quoting one too many does no harm.
const KEYWORDS: &str = " all analyse analyze and any array as asc asymmetric authorization between bigint binary bit \
boolean both case cast char character check coalesce collate collation column concurrently constraint create cross \
current_catalog current_date current_role current_schema current_time current_timestamp current_user dec decimal \
default deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full \
grant greatest group grouping having ilike in initially inner inout int integer intersect interval into is isnull \
join json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize \
json_table json_value lateral leading least left like limit localtime localtimestamp merge_action national natural \
nchar none normalize not notnull null nullif numeric offset on only or order out outer overlaps overlay placing \
position precision primary real references returning right row select session_user setof similar smallint some \
substring symmetric system_user table tablesample then time timestamp to trailing treat trim true union unique user \
using values varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest \
xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable ";

/// A name as SQL needs it: bare when that is safe, else in double quotes.
#[must_use]
pub fn quote(name: &str) -> String {
    let mut bytes = name.bytes();
    let bare = bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !KEYWORDS.contains(&format!(" {name} "));
    if bare {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// A text as SQL needs it. `standard_conforming_strings` is on in every session of ours.
#[must_use]
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Schema and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// The schema.
    pub schema: String,
    /// The name in it.
    pub name: String,
}

impl Name {
    /// Both parts.
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            schema: schema.into(),
            name: name.into(),
        }
    }

    /// As SQL needs it.
    #[must_use]
    pub fn sql(&self) -> String {
        format!("{}.{}", quote(&self.schema), quote(&self.name))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sql())
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_quoted_exactly_when_it_must_be() {
        for (name, sql) in [
            ("users", "users"),
            ("_a1", "_a1"),
            ("1a", "\"1a\""),
            ("Users", "\"Users\""),
            ("user", "\"user\""),
            ("select", "\"select\""),
            ("a b", "\"a b\""),
            ("a\"b", "\"a\"\"b\""),
            ("", "\"\""),
            ("é", "\"é\""),
            ("name", "name"),
        ] {
            assert_eq!(quote(name), sql);
        }
        assert_eq!(literal("it's \\n"), "'it''s \\n'");
    }
}

//! `policy.exclude`: selectors of what is left alone, on both sides alike.
//!
//! `schema`, `schema.object` or `schema.object.child`, each part with `*` and `?`; a URL that pins one schema has
//! it prepended. `[type=table|view|…]` at the end narrows by kind.

use super::id::Id;
use super::model::Model;
use crate::error::{Code, Error, Result};

/// Compiled selectors.
#[derive(Clone, Debug, Default)]
pub struct Selectors(Vec<Selector>);

#[derive(Clone, Debug)]
struct Selector {
    parts: Vec<String>,
    kinds: Vec<String>,
}

impl Selectors {
    /// # Errors
    /// `invalid_policy` for a selector that is malformed.
    pub fn parse(patterns: &[String], pinned_schema: Option<&str>) -> Result<Self> {
        let mut selectors = Vec::new();
        for pattern in patterns.iter().flat_map(|p| p.split(',')) {
            let invalid = || {
                Error::new(
                    Code::InvalidPolicy,
                    "a selector is schema[.object[.child]], with [type=…] at most at its end",
                )
                .about(pattern)
            };
            let (path, kinds) = match pattern.trim().split_once('[') {
                None => (pattern.trim(), vec![]),
                Some((path, rest)) => {
                    let kinds = rest
                        .strip_suffix(']')
                        .and_then(|r| r.strip_prefix("type="))
                        .ok_or_else(invalid)?;
                    (path, kinds.split('|').map(str::to_owned).collect())
                }
            };
            let mut parts: Vec<String> = pinned_schema.map(str::to_owned).into_iter().collect();
            parts.extend(path.split('.').map(str::to_owned));
            if parts.len() > 3 || parts.iter().any(|p| p.is_empty() || p.contains(['[', ']'])) {
                return Err(invalid());
            }
            selectors.push(Selector { parts, kinds });
        }
        Ok(Self(selectors))
    }

    /// Whether this object, or what it is part of, is left out.
    pub(crate) fn hides(&self, id: &Id, model: &Model) -> bool {
        match id {
            Id::Comment(of) | Id::Owner(of) | Id::Privileges(of, _) => return self.hides(of, model),
            Id::Extension(_) => return false,
            Id::Schema(name) => return self.hides_name("schema", &[name]),
            Id::DefaultPrivileges(d) => {
                return !d.schema.is_empty() && self.hides_name("schema", &[&d.schema]);
            }
            _ => {}
        }
        let Some(name) = id.name() else { return false };
        let (child, kind) = match id {
            Id::Default(_, part) => (Some(part), "column"),
            Id::Column(_, part)
            | Id::DomainConstraint(_, part)
            | Id::Constraint(_, part)
            | Id::Rule(_, part)
            | Id::Trigger(_, part)
            | Id::Policy(_, part) => (Some(part), id.kind()),
            Id::Partition(_) | Id::Inherits(..) | Id::ReplicaIdentity(_) | Id::Cluster(_) => (None, "table"),
            _ => (None, id.kind()),
        };
        let (path, whole) = match child {
            Some(part) => (
                vec![&name.schema, &name.name, part],
                vec![&name.schema, &name.name],
            ),
            None => (vec![&name.schema, &name.name], vec![]),
        };
        if self.hides_name(kind, &path) || (!whole.is_empty() && self.hides_name("table", &whole)) {
            return true;
        }
        // An index is a child of its table as well as a name of its schema.
        match id.table(model) {
            Some(table) if matches!(id, Id::Index(_)) => {
                self.hides_name("table", &[&table.schema, &table.name])
                    || self.hides_name(kind, &[&table.schema, &table.name, &name.name])
            }
            _ => false,
        }
    }

    /// The same for something that is known by its name only.
    pub(crate) fn hides_name<T: AsRef<str>>(&self, kind: &str, path: &[T]) -> bool {
        self.0.iter().any(|selector| {
            // `schema` alone, or `schema.*`, hides whatever the schema holds.
            selector.parts.len() <= path.len()
                && (selector.parts.len() == path.len() || selector.kinds.is_empty())
                && selector
                    .parts
                    .iter()
                    .zip(path)
                    .all(|(pattern, part)| glob(pattern, part.as_ref()))
                && (selector.kinds.is_empty() || selector.kinds.iter().any(|k| k == kind))
        })
    }
}

fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    #[test]
    fn selectors_hide_an_object_with_its_parts_and_nothing_else() {
        let cases: [(&str, Option<&str>, &[&str]); 7] = [
            ("public.t", None, &["table", "column", "default"]),
            ("public.t.a", None, &["column", "default"]),
            ("t.a", Some("public"), &["column", "default"]),
            ("public", None, &["table", "column", "default", "view"]),
            ("public.*[type=view]", None, &["view"]),
            ("*.?", None, &["table", "column", "default"]),
            ("other.*", None, &[]),
        ];
        let t = Name::new("public", "t");
        let ids = [
            Id::Table(t.clone()),
            Id::Column(t.clone(), "a".into()),
            Id::Default(t, "a".into()),
            Id::View(Name::new("public", "vv")),
        ];
        for (pattern, pinned, hidden) in cases {
            let selectors = Selectors::parse(&[pattern.to_owned()], pinned).unwrap();
            let found: Vec<_> = ids
                .iter()
                .filter(|id| selectors.hides(id, &Model::default()))
                .map(Id::kind)
                .collect();
            assert_eq!(found, hidden, "{pattern}");
        }
        for wrong in ["a.b.c.d", "a..b", "", "a[kind=x]", "a[type=x"] {
            assert!(Selectors::parse(&[wrong.to_owned()], None).is_err(), "{wrong}");
        }
        assert!(Selectors::parse(&["a.b.c".to_owned()], Some("public")).is_err());
    }
}

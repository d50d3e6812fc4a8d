//! Collations, types and routines.

use std::collections::HashMap;

use super::super::id::Id;
use super::super::object::{Domain, Function, Object};
use super::super::queries as q;
use super::{CLASS, COLLATION, CONSTRAINT, Growing, PROCEDURE, TYPE};
use crate::connect::Session;
use crate::error::Result;
use crate::name::Name;

pub(super) async fn types(session: &Session, scope: &[String], me: &str, grow: &mut Growing) -> Result<()> {
    for row in session.query(q::COLLATIONS, &[&scope]).await? {
        let id = Id::Collation(Name::new(row.get::<_, &str>(1), row.get::<_, &str>(2)));
        grow.own(&id, row.get(3), row.get(4), me);
        let object = Object::Collation {
            definition: row.get(5),
        };
        grow.add((COLLATION, row.get(0), 0), id, object);
    }
    let mut ranges: HashMap<u32, String> = HashMap::new();
    for row in session.query(q::RANGES, &[&scope]).await? {
        ranges.insert(row.get(0), row.get(1));
    }
    for row in session.query(q::TYPES, &[&scope]).await? {
        let (oid, array, relation): (u32, u32, u32) = (row.get(0), row.get(1), row.get(12));
        let name = Name::new(row.get::<_, &str>(2), row.get::<_, &str>(3));
        let (id, object) = match row.get::<_, &str>(4) {
            "e" => (Id::Enum(name), Object::Enum { labels: row.get(7) }),
            "d" => (
                Id::Domain(name),
                Object::Domain(Domain {
                    data_type: row.get::<_, Option<String>>(8).unwrap_or_default(),
                    collation: row.get(9),
                    default: row.get(10),
                    not_null: row.get(11),
                    not_null_name: None,
                }),
            ),
            "c" => {
                grow.relations.insert(relation, (name.clone(), "c".into()));
                let id = Id::Composite(name);
                grow.ids.insert((CLASS, relation, 0), id.clone());
                (id, Object::Composite { attributes: vec![] })
            }
            _ => {
                let definition = ranges.remove(&oid).unwrap_or_default();
                (Id::Range(name), Object::Range { definition })
            }
        };
        grow.own(&id, row.get(5), row.get(6), me);
        grow.ids.insert((TYPE, array, 0), id.clone());
        grow.add((TYPE, oid, 0), id, object);
    }
    for row in session.query(q::DOMAIN_CONSTRAINTS, &[&scope]).await? {
        let Some(Id::Domain(domain)) = grow.ids.get(&(TYPE, row.get(1), 0)).cloned() else {
            continue;
        };
        match row.get::<_, Option<String>>(3) {
            Some(definition) => {
                let id = Id::DomainConstraint(domain, row.get(2));
                grow.add(
                    (CONSTRAINT, row.get(0), 0),
                    id,
                    Object::DomainConstraint { definition },
                );
            }
            None => {
                let name: String = row.get(2);
                let id = Id::Domain(domain.clone());
                if let Some(Object::Domain(known)) = grow.model.objects.get_mut(&id) {
                    let usual = format!("{}_not_null", domain.name);
                    known.not_null_name = Some(name.clone()).filter(|name| *name != usual);
                }
                let own = Id::DomainConstraint(domain, name);
                grow.stands_behind((CONSTRAINT, row.get(0), 0), id, own);
            }
        }
    }
    Ok(())
}

pub(super) async fn routines(
    session: &Session,
    scope: &[String],
    me: &str,
    grow: &mut Growing,
) -> Result<()> {
    let mut aggregates: HashMap<u32, (String, String)> = HashMap::new();
    for row in session.query(q::AGGREGATES, &[&scope]).await? {
        aggregates.insert(row.get(0), (row.get(1), row.get(2)));
    }
    for row in session.query(q::FUNCTIONS, &[&scope]).await? {
        let oid: u32 = row.get(0);
        let name = Name::new(row.get::<_, &str>(1), row.get::<_, &str>(2));
        let signature: String = row.get(6);
        let mut shape: String = row.get(7);
        let definition = match aggregates.remove(&oid) {
            Some((more, parts)) => {
                shape = format!("{shape}|{more}");
                format!("CREATE OR REPLACE AGGREGATE {name}({signature}) ({parts})")
            }
            None => row.get::<_, Option<String>>(4).unwrap_or_default(),
        };
        let id = Id::Function(name, row.get(3));
        grow.own(&id, row.get(10), row.get(11), me);
        let function = Function {
            definition,
            word: row.get(5),
            signature,
            shape,
            defaults: row.get(8),
            security_definer: row.get(9),
        };
        grow.add((PROCEDURE, oid, 0), id, Object::Function(function));
    }
    Ok(())
}

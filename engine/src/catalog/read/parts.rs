//! What hangs on tables and views: constraints, indexes, triggers, rules, policies, statistics.

use std::collections::HashMap;

use super::super::id::Id;
use super::super::object::{Constraint, Index, Object, Policy};
use super::super::queries as q;
use super::{CLASS, CONSTRAINT, Growing, POLICY, REWRITE, Reading, STATISTICS, TRIGGER};
use crate::connect::Session;
use crate::error::Result;
use crate::name::Name;

pub(super) async fn parts(
    session: &Session,
    reading: &Reading<'_>,
    me: &str,
    grow: &mut Growing,
) -> Result<()> {
    let scope = reading.scope;
    constraints(session, scope, grow).await?;
    indexes(session, scope, grow).await?;
    for row in session.query(q::STATISTICS, &[&scope]).await? {
        let Some((table, _)) = grow.listed(row.get(3)) else {
            continue;
        };
        let id = Id::Statistics(Name::new(row.get::<_, &str>(1), row.get::<_, &str>(2)));
        grow.own(&id, row.get(6), row.get(7), me);
        let object = Object::Statistics {
            table,
            definition: row.get(4),
            target: row.get(5),
        };
        grow.add((STATISTICS, row.get(0), 0), id, object);
    }
    for row in session.query(q::RULES, &[&scope]).await? {
        let Some((table, _)) = grow.listed(row.get(1)) else {
            continue;
        };
        let id = Id::Rule(table, row.get(2));
        let object = Object::Rule {
            definition: row.get(3),
            enabled: row.get(4),
        };
        grow.add((REWRITE, row.get(0), 0), id, object);
    }
    triggers(session, scope, grow).await?;
    for row in session.query(q::POLICIES, &[&scope, &reading.user]).await? {
        let Some((table, _)) = grow.listed(row.get(1)) else {
            continue;
        };
        let id = Id::Policy(table, row.get(2));
        let policy = Policy {
            permissive: row.get(3),
            command: row.get(4),
            roles: row.get(5),
            using: row.get(6),
            check: row.get(7),
        };
        grow.add((POLICY, row.get(0), 0), id, Object::Policy(policy));
    }
    Ok(())
}

async fn constraints(session: &Session, scope: &[String], grow: &mut Growing) -> Result<()> {
    let rows = session.query(q::CONSTRAINTS, &[&scope]).await?;
    let mut own: HashMap<(u32, String), Id> = HashMap::new();
    let mut borrowed = Vec::new();
    for row in &rows {
        let (oid, relation, name, class): (u32, u32, String, String) =
            (row.get(0), row.get(1), row.get(2), row.get(3));
        let references = row.get::<_, Option<&str>>(6).zip(row.get::<_, Option<&str>>(7));
        let object = Object::Constraint(Constraint {
            class,
            definition: row.get(4),
            references: references.map(|(schema, name)| Name::new(schema, name)),
            index_options: row.get(10),
        });
        let Some((table, _)) = grow.listed(relation) else {
            continue;
        };
        let id = Id::Constraint(table, name.clone());
        let (parent, inherited): (u32, bool) = (row.get(8), row.get(9));
        if parent != 0 || inherited {
            borrowed.push((row, id, object));
            continue;
        }
        let index: u32 = row.get(5);
        if index != 0 {
            let behind = id.name().map(|table| Id::Index(Name::new(&table.schema, &name)));
            if let Some(behind) = behind {
                grow.stands_behind((CLASS, index, 0), id.clone(), behind);
            }
        }
        own.insert((relation, name), id.clone());
        grow.add((CONSTRAINT, oid, 0), id, object);
    }
    // What a table has from its parent is the parent's; the parent may come later in the list.
    let mut rest = borrowed.len() + 1;
    while !borrowed.is_empty() && borrowed.len() < rest {
        rest = borrowed.len();
        borrowed.retain(|(row, id, object)| {
            let (oid, relation, parent): (u32, u32, u32) = (row.get(0), row.get(1), row.get(8));
            let name: String = row.get(2);
            let of = if parent == 0 {
                grow.parents
                    .get(&relation)
                    .into_iter()
                    .flatten()
                    .find_map(|parent| own.get(&(*parent, name.clone())))
                    .cloned()
            } else {
                grow.ids.get(&(CONSTRAINT, parent, 0)).cloned()
            };
            let Some(of) = of else { return true };
            own.insert((relation, name), of.clone());
            let index: u32 = row.get(5);
            if index != 0 {
                grow.shadow((CLASS, index, 0), of.clone());
            }
            grow.shadow((CONSTRAINT, oid, 0), of);
            // A foreign key to a partitioned table has a row for each partition there; those go with it.
            if grow.parents.contains_key(&relation) {
                grow.model.inherited.insert(id.clone(), object.clone());
            }
            false
        });
    }
    Ok(())
}

async fn indexes(session: &Session, scope: &[String], grow: &mut Growing) -> Result<()> {
    let rows = session.query(q::INDEXES, &[&scope]).await?;
    let mut attached = Vec::new();
    for row in &rows {
        let Some((table, _)) = grow.relations.get(&row.get(1)).cloned() else {
            continue;
        };
        let id = Id::Index(Name::new(row.get::<_, &str>(2), row.get::<_, &str>(3)));
        let (numbers, targets): (Vec<i16>, Vec<i32>) = (row.get(8), row.get(9));
        let object = Object::Index(Index {
            table,
            definition: row.get(4),
            unique: row.get(5),
            valid: row.get(6),
            partitioned: row.get(7),
            statistics: numbers.into_iter().zip(targets).collect(),
        });
        let oid: u32 = row.get(0);
        if grow.parents.contains_key(&oid) {
            attached.push((oid, id, object));
        } else {
            grow.add((CLASS, oid, 0), id, object);
        }
    }
    for (oid, id, object) in attached {
        let mut top = oid;
        while let Some(parent) = grow.parents.get(&top).and_then(|parents| parents.first()) {
            top = *parent;
        }
        if let Some(of) = grow.ids.get(&(CLASS, top, 0)).cloned() {
            grow.shadow((CLASS, oid, 0), of);
        }
        grow.model.inherited.insert(id, object);
    }
    for row in session.query(q::INDEX_OFFICES, &[&scope]).await? {
        let Some((table, _)) = grow.listed(row.get(0)) else {
            continue;
        };
        let index: String = row.get(2);
        let of = grow.ids.get(&(CLASS, row.get(1), 0)).cloned();
        let mut offices = Vec::new();
        if row.get(3) {
            let object = Object::Cluster { index: index.clone() };
            offices.push((Id::Cluster(table.clone()), object));
        }
        if row.get(4) {
            let how = format!("USING INDEX {}", crate::name::quote(&index));
            offices.push((Id::ReplicaIdentity(table), Object::ReplicaIdentity { how }));
        }
        for (id, object) in offices {
            grow.model.objects.insert(id.clone(), object);
            grow.model.needs.entry(id).or_default().extend(of.clone());
        }
    }
    Ok(())
}

async fn triggers(session: &Session, scope: &[String], grow: &mut Growing) -> Result<()> {
    let mut clones = Vec::new();
    for row in session.query(q::TRIGGERS, &[&scope]).await? {
        let (oid, parent): (u32, u32) = (row.get(0), row.get(6));
        if parent != 0 {
            clones.push((oid, parent));
            continue;
        }
        let Some((table, kind)) = grow.listed(row.get(1)) else {
            continue;
        };
        let id = Id::Trigger(table, row.get(2));
        let constraint: u32 = row.get(5);
        if constraint != 0 {
            grow.ids.insert((CONSTRAINT, constraint, 0), id.clone());
        }
        let object = Object::Trigger {
            definition: row.get(3),
            enabled: row.get(4),
            on_view: kind == "v",
        };
        grow.add((TRIGGER, oid, 0), id, object);
    }
    // A clone has a higher number than what it is a clone of, and the rows are in that order.
    for (oid, parent) in clones {
        if let Some(of) = grow.ids.get(&(TRIGGER, parent, 0)).cloned() {
            grow.shadow((TRIGGER, oid, 0), of);
        }
    }
    Ok(())
}

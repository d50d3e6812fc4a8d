//! The order in which changes hold at every step.
//!
//! Each change is a node; what the server recorded as needs gives the edges. Promises: the same changes give the
//! same order; a circle is refused, never cut.

use std::collections::{BTreeMap, BTreeSet};

use super::change::Changes;
use super::edges::edges;
use crate::catalog::{Id, Model, Object};
use crate::error::{Code, Error, Result};

/// What happens to an object. The order of the variants is the order among nodes that do not need each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Act {
    Drop,
    /// A type steps aside for a new one of its name.
    Aside,
    Alter,
    Create,
    /// A type that stepped aside is dropped.
    Clear,
}

/// One change, and the changes that happen within it.
pub(super) type Node = (Act, Id);

/// Nodes in order, each with the identities that it covers besides its own.
pub(super) struct Ordered {
    pub(super) nodes: Vec<Node>,
    pub(super) covers: BTreeMap<Node, BTreeSet<Id>>,
}

/// # Errors
/// `unsupported_change` when needs go in a circle.
pub(super) fn order(changes: &Changes, from: &Model, to: &Model) -> Result<Ordered> {
    let carriers = Carriers {
        changes,
        from,
        to,
        reach: Reach { model: to },
    };
    let mut covers: BTreeMap<Node, BTreeSet<Id>> = BTreeMap::new();
    let mut carrier: BTreeMap<Node, Node> = BTreeMap::new();
    let sets = [
        (Act::Drop, &changes.dropped),
        (Act::Aside, &changes.retyped),
        (Act::Alter, &changes.altered),
        (Act::Create, &changes.created),
        (Act::Clear, &changes.retyped),
    ];
    for (act, ids) in sets {
        for id in ids {
            let node = (act, id.clone());
            let by = carriers.of(&node);
            covers.entry(by.clone()).or_default().insert(id.clone());
            carrier.insert(node, by);
        }
    }
    let edges = edges(changes, from, to, &carrier);
    sort(covers, &edges)
}

struct Carriers<'a> {
    changes: &'a Changes,
    from: &'a Model,
    to: &'a Model,
    reach: Reach<'a>,
}

impl Carriers<'_> {
    /// The node within which this one happens: itself, or the statement that takes it along.
    fn of(&self, node: &Node) -> Node {
        let (act, id) = node;
        match act {
            // Whatever the plan makes is made under the default privileges that were observed, and by its user.
            _ if matches!(id, Id::DefaultPrivileges(_) | Id::Owner(_)) => (Act::Clear, id.clone()),
            Act::Drop => self.dropping(id).map_or_else(
                || node.clone(),
                |by| {
                    if self.changes.retyped.contains(&by) {
                        (Act::Clear, by)
                    } else {
                        self.of(&(Act::Drop, by))
                    }
                },
            ),
            Act::Create => self.creating(id).map_or_else(
                || node.clone(),
                |by| {
                    if self.changes.retyped.contains(&by) {
                        (Act::Aside, by)
                    } else {
                        self.of(&(Act::Create, by))
                    }
                },
            ),
            Act::Aside | Act::Alter | Act::Clear => node.clone(),
        }
    }

    fn dropping(&self, id: &Id) -> Option<Id> {
        let dropped = &self.changes.dropped;
        let gone = |id: &Id| dropped.contains(id) || self.changes.retyped.contains(id);
        // The relation that this is a part of.
        let whole = id
            .table(self.from)
            .into_iter()
            .flat_map(|name| {
                [
                    Id::Table(name.clone()),
                    Id::View(name.clone()),
                    Id::MaterializedView(name.clone()),
                ]
            })
            .find(|whole| whole != id && dropped.contains(whole));
        match id {
            Id::Sequence(name) => match self.from.objects.get(&Id::SequenceOwner(name.clone())) {
                Some(Object::SequenceOwner { table, column }) => {
                    Some(Id::Column(table.clone(), column.clone())).filter(|c| dropped.contains(c))
                }
                _ => None,
            },
            // An owner that goes while its sequence stays is let go of beforehand, by a statement of its own.
            Id::SequenceOwner(name) => Some(Id::Sequence(name.clone())).filter(|s| dropped.contains(s)),
            Id::Comment(of) | Id::Owner(of) | Id::Privileges(of, _) => {
                whole.or_else(|| Some((**of).clone()).filter(gone)).or_else(|| {
                    let needs = self.from.needs.get(id).into_iter().flatten();
                    needs.filter(|need| gone(need)).min().cloned()
                })
            }
            Id::DomainConstraint(..) => id.parent().filter(gone),
            Id::Default(..) => whole.or_else(|| id.parent().filter(|c| dropped.contains(c))),
            Id::Table(_) | Id::View(_) | Id::MaterializedView(_) => None,
            // Tables that refer to each other let go of each other first.
            Id::Constraint(table, _) if self.refers_back(id, table) => None,
            _ => whole,
        }
    }

    /// Whether a foreign key leads to a table that is dropped as well and, by foreign keys, back to this one.
    fn refers_back(&self, id: &Id, table: &crate::name::Name) -> bool {
        let next = |id: &Id| match self.from.objects.get(id) {
            Some(Object::Constraint(c)) => c.references.clone(),
            _ => None,
        };
        let mut queue: Vec<crate::name::Name> = next(id).into_iter().filter(|t| t != table).collect();
        let mut seen: BTreeSet<crate::name::Name> = BTreeSet::new();
        while let Some(name) = queue.pop() {
            if name == *table {
                return true;
            }
            if !self.changes.dropped.contains(&Id::Table(name.clone())) || !seen.insert(name.clone()) {
                continue;
            }
            let from = Id::Constraint(name.clone(), String::new());
            let keys = self.from.objects.range(from..).map(|(id, _)| id);
            let own = keys.take_while(|id| matches!(id, Id::Constraint(t, _) if *t == name));
            queue.extend(own.filter_map(next));
        }
        false
    }

    fn creating(&self, id: &Id) -> Option<Id> {
        let created = &self.changes.created;
        match id {
            Id::Column(table, _) | Id::Partition(table) | Id::Inherits(table, _) => {
                Some(Id::Table(table.clone())).filter(|t| created.contains(t))
            }
            Id::Default(..) => {
                let column = id.parent().filter(|c| created.contains(c))?;
                (!self.reach.circles(id, &column)).then_some(column)
            }
            Id::DomainConstraint(domain, _) => {
                let domain = Id::Domain(domain.clone());
                let inside = created.contains(&domain) || self.changes.retyped.contains(&domain);
                let Some(Object::DomainConstraint { definition }) = self.to.objects.get(id) else {
                    return None;
                };
                (inside && !definition.ends_with(" NOT VALID")).then_some(domain)
            }
            Id::Constraint(table, _) => {
                let table = Id::Table(table.clone());
                let Some(Object::Constraint(constraint)) = self.to.objects.get(id) else {
                    return None;
                };
                (created.contains(&table)
                    && constraint.class != "f"
                    && constraint.index_options.is_empty()
                    && !constraint.definition.ends_with(" NOT VALID")
                    && !constraint.definition.ends_with(" NOT ENFORCED")
                    && !self.reach.circles(id, &table))
                .then_some(table)
            }
            _ => None,
        }
    }
}

struct Reach<'a> {
    model: &'a Model,
}

impl Reach<'_> {
    /// Whether something that `part` needs needs `whole` in turn, so that `part` cannot be made within it.
    fn circles(&self, part: &Id, whole: &Id) -> bool {
        let table = whole.table(self.model);
        let inside = |id: &Id| id.table(self.model) == table && !matches!(id, Id::Trigger(..) | Id::Index(_));
        let mut queue: Vec<&Id> = self
            .model
            .needs
            .get(part)
            .into_iter()
            .flatten()
            .filter(|id| !inside(id))
            .collect();
        let mut seen: BTreeSet<&Id> = BTreeSet::new();
        while let Some(id) = queue.pop() {
            if inside(id) {
                return true;
            }
            if seen.insert(id) {
                queue.extend(self.model.needs.get(id).into_iter().flatten());
            }
        }
        false
    }
}

fn sort(covers: BTreeMap<Node, BTreeSet<Id>>, edges: &BTreeSet<(Node, Node)>) -> Result<Ordered> {
    let mut waits: BTreeMap<&Node, usize> = covers.keys().map(|node| (node, 0)).collect();
    let mut follows: BTreeMap<&Node, Vec<&Node>> = BTreeMap::new();
    for (before, after) in edges {
        *waits.entry(after).or_default() += 1;
        follows.entry(before).or_default().push(after);
    }
    // Drops go from the outermost kind inwards, so their order among equals is reversed.
    let key = |node: &Node| {
        (
            node.0,
            if node.0 == Act::Drop {
                u8::MAX - rank(&node.1)
            } else {
                rank(&node.1)
            },
        )
    };
    let mut ready: BTreeSet<((Act, u8), &Node)> = waits
        .iter()
        .filter(|(_, n)| **n == 0)
        .map(|(node, _)| (key(node), *node))
        .collect();
    let mut nodes = Vec::with_capacity(covers.len());
    while let Some((_, node)) = ready.pop_first() {
        nodes.push(node.clone());
        for after in follows.get(node).into_iter().flatten() {
            if let Some(n) = waits.get_mut(*after) {
                *n -= 1;
                if *n == 0 {
                    ready.insert((key(after), *after));
                }
            }
        }
    }
    if nodes.len() < covers.len() {
        let stuck = covers
            .keys()
            .find(|node| !nodes.contains(node))
            .map(|(_, id)| id.describe())
            .unwrap_or_default();
        let message = format!("{stuck} and what it needs go in a circle; change them in two steps");
        return Err(Error::new(Code::UnsupportedChange, message).about(stuck));
    }
    Ok(Ordered { nodes, covers })
}

/// The order of the variants of [`Id`].
fn rank(id: &Id) -> u8 {
    match id {
        Id::Schema(_) => 0,
        Id::Extension(_) => 1,
        Id::Collation(_) => 2,
        Id::Enum(_) => 3,
        Id::Domain(_) => 4,
        Id::Composite(_) => 5,
        Id::Range(_) => 6,
        Id::Sequence(_) => 7,
        Id::Function(..) => 8,
        Id::Table(_) => 9,
        Id::Partition(_) => 10,
        Id::Inherits(..) => 11,
        Id::Column(..) => 12,
        Id::Default(..) => 13,
        Id::SequenceOwner(_) => 14,
        Id::DomainConstraint(..) => 15,
        // Keys before the foreign keys that point at them; the needs see to that.
        Id::Constraint(..) => 16,
        Id::Index(_) => 17,
        Id::ReplicaIdentity(_) => 18,
        Id::Cluster(_) => 19,
        Id::View(_) => 20,
        Id::MaterializedView(_) => 21,
        Id::Statistics(_) => 22,
        Id::Rule(..) => 23,
        Id::Trigger(..) => 24,
        Id::Policy(..) => 25,
        Id::Comment(_) => 26,
        Id::Owner(_) => 27,
        Id::Privileges(..) => 28,
        Id::DefaultPrivileges(_) => 29,
    }
}

//! The order in which changes hold at every step.
//!
//! Each change is a node; what the server recorded as needs gives the edges. Promises: the same changes give the
//! same order; a circle is refused, never cut.

use std::collections::{BTreeMap, BTreeSet};

use super::change::Changes;
use crate::catalog::{Id, Model, Object};
use crate::error::{Code, Error, Result};

/// What happens to an object. The order of the variants is the order among nodes that do not need each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Act {
    Drop,
    Alter,
    Create,
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
        reach: Reach::new(to),
    };
    let mut covers: BTreeMap<Node, BTreeSet<Id>> = BTreeMap::new();
    let mut carrier: BTreeMap<Node, Node> = BTreeMap::new();
    let sets = [
        (Act::Drop, &changes.dropped),
        (Act::Alter, &changes.altered),
        (Act::Create, &changes.created),
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
            Act::Drop => self
                .dropping(id)
                .map_or_else(|| node.clone(), |by| self.of_drop(by)),
            Act::Alter => match id {
                Id::Column(..) => match self.retyping(id) {
                    Some(by) => (Act::Alter, by),
                    None => node.clone(),
                },
                _ => node.clone(),
            },
            Act::Create => match self.creating(id) {
                Some(by) => self.of(&(Act::Create, by)),
                None => node.clone(),
            },
        }
    }

    fn of_drop(&self, by: Id) -> Node {
        if self.changes.retyped.contains(&by) {
            (Act::Alter, by)
        } else {
            self.of(&(Act::Drop, by))
        }
    }

    fn dropping(&self, id: &Id) -> Option<Id> {
        let dropped = &self.changes.dropped;
        let gone = |id: &Id| dropped.contains(id) || self.changes.retyped.contains(id);
        let table = id
            .table(self.from)
            .cloned()
            .map(Id::Table)
            .filter(|t| t != id && dropped.contains(t));
        match id {
            Id::Sequence(name) => match self.from.objects.get(&Id::SequenceOwner(name.clone())) {
                Some(Object::SequenceOwner { table, column }) => {
                    Some(Id::Column(table.clone(), column.clone())).filter(|c| dropped.contains(c))
                }
                _ => None,
            },
            // An owner that goes while its sequence stays is let go of beforehand, by a statement of its own.
            Id::SequenceOwner(name) => Some(Id::Sequence(name.clone())).filter(|s| dropped.contains(s)),
            Id::Trigger(name, _) => {
                table.or_else(|| Some(Id::View(name.clone())).filter(|v| dropped.contains(v)))
            }
            Id::Comment(of) | Id::Privileges(of, _) => match &**of {
                Id::Column(name, _) if dropped.contains(&Id::View(name.clone())) => {
                    Some(Id::View(name.clone()))
                }
                of => table.or_else(|| Some(of.clone()).filter(gone)),
            },
            Id::Default(..) => table.or_else(|| id.parent().filter(|c| dropped.contains(c))),
            Id::Column(..) | Id::Constraint(..) | Id::Index(_) => table,
            _ => None,
        }
    }

    /// The enum whose replacement changes this column's type on its way, when nothing else about it changes.
    fn retyping(&self, id: &Id) -> Option<Id> {
        let same = self.from.objects.get(id) == self.to.objects.get(id);
        let needs = self.to.needs.get(id)?;
        self.changes
            .retyped
            .iter()
            .find(|e| same && needs.contains(*e))
            .cloned()
    }

    fn creating(&self, id: &Id) -> Option<Id> {
        let created = &self.changes.created;
        match id {
            Id::Column(table, _) => Some(Id::Table(table.clone())).filter(|t| created.contains(t)),
            Id::Default(..) => {
                let column = id.parent().filter(|c| created.contains(c))?;
                (!self.reach.circles(id, &column)).then_some(column)
            }
            Id::Constraint(table, _) => {
                let table = Id::Table(table.clone());
                let Some(Object::Constraint(constraint)) = self.to.objects.get(id) else {
                    return None;
                };
                (created.contains(&table)
                    && constraint.class != "f"
                    && !constraint.definition.ends_with(" NOT VALID")
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

impl<'a> Reach<'a> {
    fn new(model: &'a Model) -> Self {
        Self { model }
    }

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

/// `before -> after`.
fn edges(
    changes: &Changes,
    from: &Model,
    to: &Model,
    carrier: &BTreeMap<Node, Node>,
) -> BTreeSet<(Node, Node)> {
    let mut edges = BTreeSet::new();
    let mut edge = |before: Node, after: Node| {
        if let (Some(before), Some(after)) = (carrier.get(&before), carrier.get(&after))
            && before != after
        {
            edges.insert((before.clone(), after.clone()));
        }
    };
    // What needs something is gone, or has let go of it, before that is dropped or changed.
    for (id, needs) in &from.needs {
        for need in needs {
            edge((Act::Drop, id.clone()), (Act::Drop, need.clone()));
            edge((Act::Drop, id.clone()), (Act::Alter, need.clone()));
            edge((Act::Alter, id.clone()), (Act::Drop, need.clone()));
            if changes.retyped.contains(need) && !to.needs.get(id).is_some_and(|n| n.contains(need)) {
                edge((Act::Alter, id.clone()), (Act::Alter, need.clone()));
            }
        }
    }
    // What something needs is there, and as it shall be, before that is made or changed.
    for (id, needs) in &to.needs {
        for need in needs {
            for act in [Act::Create, Act::Alter] {
                edge((act, need.clone()), (Act::Create, id.clone()));
                edge((act, need.clone()), (Act::Alter, id.clone()));
            }
        }
    }
    // A name is free before it is taken again, be it by another kind of object.
    let mut freed: BTreeMap<String, Vec<&Id>> = BTreeMap::new();
    for id in &changes.dropped {
        edge((Act::Drop, id.clone()), (Act::Create, id.clone()));
        if let Some(name) = relation_name(id, from) {
            freed.entry(name).or_default().push(id);
        }
    }
    for id in &changes.created {
        for freed in relation_name(id, to)
            .and_then(|name| freed.get(&name))
            .into_iter()
            .flatten()
        {
            edge((Act::Drop, (*freed).clone()), (Act::Create, id.clone()));
        }
    }
    edges
}

/// Tables, views, indexes, sequences and types share one set of names in a schema; so do a table's constraints.
fn relation_name(id: &Id, model: &Model) -> Option<String> {
    match id {
        Id::Table(name) | Id::View(name) | Id::Index(name) | Id::Sequence(name) | Id::Enum(name) => {
            Some(name.sql())
        }
        Id::Constraint(table, part) => match model.objects.get(id) {
            Some(Object::Constraint(c)) if c.class == "p" || c.class == "u" => {
                Some(crate::name::Name::new(&table.schema, part).sql())
            }
            _ => None,
        },
        _ => None,
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

fn rank(id: &Id) -> u8 {
    match id {
        Id::Schema(_) => 0,
        Id::Extension(_) => 1,
        Id::Enum(_) => 2,
        Id::Sequence(_) => 3,
        Id::Function(..) => 4,
        Id::Table(_) => 5,
        Id::Column(..) => 6,
        Id::Default(..) => 7,
        Id::SequenceOwner(_) => 8,
        // Keys before the foreign keys that point at them; the needs see to that.
        Id::Constraint(..) => 9,
        Id::Index(_) => 10,
        Id::View(_) => 11,
        Id::Trigger(..) => 12,
        Id::Comment(_) => 13,
        Id::Privileges(..) => 14,
    }
}

//! What a policy says against a plan.

use std::collections::BTreeSet;

use ptah_contract::drift::Severity;
use ptah_contract::plan_document::PlanDocument;
use ptah_contract::policy::SchemaPolicy;

use crate::error::{Code, Error};

/// A rule that says no, and to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// `protected_table` or `destructive_not_allowed`.
    pub kind: Code,
    /// Qualified names, sorted.
    pub objects: Vec<String>,
}

impl Refusal {
    /// As a failure.
    #[must_use]
    pub fn to_error(&self) -> Error {
        let objects = self.objects.join(", ");
        let message = match self.kind {
            Code::ProtectedTable => format!("the plan touches a protected table: {objects}"),
            _ => format!("the plan is destructive and the policy does not allow that: {objects}"),
        };
        Error::new(self.kind, message).about(objects)
    }
}

/// Protected tables first: nothing overrides them.
pub(crate) fn refusals(plan: &PlanDocument, policy: &SchemaPolicy) -> Vec<Refusal> {
    let objects = |wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
        let all = plan.statements.iter().flat_map(|s| s.objects.iter());
        all.filter(|o| wanted(o))
            .cloned()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    };
    let mut refusals = Vec::new();
    let protected = objects(&|object| is_protected(object, &policy.protected_tables));
    if !protected.is_empty() {
        refusals.push(Refusal {
            kind: Code::ProtectedTable,
            objects: protected,
        });
    }
    if plan.destructive && !policy.allow_destructive {
        let bad = plan
            .statements
            .iter()
            .filter(|s| s.severity == Severity::Destructive);
        let objects: BTreeSet<String> = bad.flat_map(|s| s.objects.iter().cloned()).collect();
        refusals.push(Refusal {
            kind: Code::DestructiveNotAllowed,
            objects: objects.into_iter().collect(),
        });
    }
    refusals
}

/// Compared without regard to case, as the field promises: too much is protected rather than too little.
fn is_protected(object: &str, protected: &[String]) -> bool {
    let parts = parts(object);
    let [schema, table, ..] = parts.as_slice() else {
        return false;
    };
    protected.iter().any(|name| match name.split_once('.') {
        Some((s, t)) => s.eq_ignore_ascii_case(schema) && t.eq_ignore_ascii_case(table),
        None => name.eq_ignore_ascii_case(table),
    })
}

/// `a."b.c".d` into its parts, unquoted.
fn parts(path: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        let last = parts.len() - 1;
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                parts[last].push('"');
            }
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            c => parts[last].push(c),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_protected_with_its_parts_and_without_regard_to_case() {
        for (object, protected, expected) in [
            ("public.users", "users", true),
            ("public.users", "Public.USERS", true),
            ("public.users.name", "users", true),
            ("public.\"Users\"", "users", true),
            ("audit.users", "public.users", false),
            ("public.users_old", "users", false),
            ("public.\"a.users\"", "users", false),
            ("users", "users", false),
        ] {
            assert_eq!(
                is_protected(object, &[protected.to_owned()]),
                expected,
                "{object} {protected}"
            );
        }
        assert_eq!(parts("a.\"b.\"\"c\".d"), ["a", "b.\"c", "d"]);
    }
}

//! A statement in the making, with what it does to the database.

use ptah_contract::drift::Severity;
use ptah_contract::plan_document::{PrivilegeChange, Statement};

pub(super) const ACCESS_EXCLUSIVE: &str = "ACCESS EXCLUSIVE";
pub(super) const SHARE_ROW_EXCLUSIVE: &str = "SHARE ROW EXCLUSIVE";
pub(super) const SHARE: &str = "SHARE";
pub(super) const SHARE_UPDATE_EXCLUSIVE: &str = "SHARE UPDATE EXCLUSIVE";

/// A statement that removes nothing, locks nothing and may run anywhere, until something else is said.
pub(super) struct Draft(Statement);

impl Draft {
    pub(super) fn new(sql: impl Into<String>, reason: impl Into<String>) -> Self {
        Self(Statement {
            sql: sql.into(),
            severity: Severity::Safe,
            reason: reason.into(),
            lock: None,
            rewrites: false,
            scans: false,
            transactional: true,
            data_dependent: false,
            privileges: vec![],
            objects: vec![],
        })
    }

    pub(super) fn severity(mut self, severity: Severity) -> Self {
        self.0.severity = self.0.severity.max(severity);
        self
    }

    pub(super) fn warning(self) -> Self {
        self.severity(Severity::Warning)
    }

    pub(super) fn destructive(self) -> Self {
        self.severity(Severity::Destructive)
    }

    pub(super) fn lock(mut self, lock: &str) -> Self {
        self.0.lock = Some(lock.to_owned());
        self
    }

    pub(super) fn rewrites(mut self, rewrites: bool) -> Self {
        self.0.rewrites |= rewrites;
        self.0.scans |= rewrites;
        self
    }

    pub(super) fn scans(mut self) -> Self {
        self.0.scans = true;
        self
    }

    pub(super) fn data_dependent(mut self) -> Self {
        self.0.data_dependent = true;
        self
    }

    pub(super) fn alone(mut self) -> Self {
        self.0.transactional = false;
        self
    }

    pub(super) fn privilege(mut self, kind: PrivilegeChange) -> Self {
        self.0.privileges.push(kind);
        self.0.privileges.sort_unstable();
        self.0.privileges.dedup();
        self
    }

    pub(super) fn touching(mut self, objects: impl IntoIterator<Item = String>) -> Self {
        self.0.objects.extend(objects);
        self.0.objects.sort_unstable();
        self.0.objects.dedup();
        self
    }

    pub(super) fn finish(self) -> Statement {
        self.0
    }
}

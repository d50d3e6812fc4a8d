//! Waits for a condition, with a deadline.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Looks until `met` says yes; an error that names `what` when `limit` has passed.
pub fn until(what: &str, limit: Duration, mut met: impl FnMut() -> bool) -> Result<()> {
    let deadline = Instant::now() + limit;
    while !met() {
        if Instant::now() > deadline {
            bail!("{what}: not so after {} s", limit.as_secs());
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_is_never_met_ends_at_its_deadline_and_is_named() {
        let error = until("the moon is full", Duration::ZERO, || false).unwrap_err();
        assert_eq!(error.to_string(), "the moon is full: not so after 0 s");
    }
}

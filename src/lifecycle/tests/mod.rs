//! Scenarios: a small world carries steps out as the drivers do, and checks on every pass that only arrows of the
//! diagram are taken.

mod arrows;
mod crash;
mod missing;
mod runs;
mod scenarios;
mod world;

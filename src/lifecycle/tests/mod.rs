//! Scenarios: a small world carries steps out as the drivers do, and checks on every pass that only arrows of the
//! diagram are taken.

mod arrows;
mod cluster;
mod crash;
mod faults;
mod looks;
mod missing;
mod mutants;
mod runner;
mod runs;
mod scenarios;
mod signatures;
mod sources;
mod status;
mod stories;
mod world;

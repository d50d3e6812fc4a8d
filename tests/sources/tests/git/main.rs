//! Git sources against real servers.

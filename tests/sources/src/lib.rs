//! Real servers for the tests of sources: started by a test on a port that the system chose, and ended with it.

pub mod oci;

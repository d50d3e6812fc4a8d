//! See `ptah_fuzz::oci_link`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::oci_link(data));

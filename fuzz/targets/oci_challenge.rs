//! See `ptah_fuzz::oci_challenge`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::oci_challenge(data));

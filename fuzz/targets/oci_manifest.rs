//! See `ptah_fuzz::oci_manifest`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::oci_manifest(data));

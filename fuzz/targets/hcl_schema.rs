//! See `ptah_fuzz::hcl_schema`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::hcl_schema(data));

//! See `ptah_fuzz::yaml_schema`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::yaml_schema(data));

//! See `ptah_fuzz::source_policy`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::source_policy(data));

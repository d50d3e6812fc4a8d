//! See `ptah_fuzz::simple_signing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::simple_signing(data));

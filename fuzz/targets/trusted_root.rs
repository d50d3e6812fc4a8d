//! See `ptah_fuzz::trusted_root`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::trusted_root(data));

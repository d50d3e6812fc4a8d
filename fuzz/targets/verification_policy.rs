//! See `ptah_fuzz::verification_policy`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::verification_policy(data));

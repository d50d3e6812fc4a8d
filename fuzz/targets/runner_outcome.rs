//! See `ptah_fuzz::runner_outcome`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::runner_outcome(data));

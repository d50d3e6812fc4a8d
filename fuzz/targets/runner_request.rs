//! See `ptah_fuzz::runner_request`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::runner_request(data));

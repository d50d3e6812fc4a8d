//! See `ptah_fuzz::dsse_statement`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::dsse_statement(data));

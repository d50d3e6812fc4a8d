//! See `ptah_fuzz::plan_document`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::plan_document(data));

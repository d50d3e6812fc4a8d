//! See `ptah_fuzz::git_signature`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::git_signature(data));

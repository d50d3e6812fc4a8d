//! See `ptah_fuzz::git_keys`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::git_keys(data));

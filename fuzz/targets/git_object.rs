//! See `ptah_fuzz::git_object`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::git_object(data));

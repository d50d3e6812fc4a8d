//! See `ptah_fuzz::archive_compressed`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::archive_compressed(data));

//! See `ptah_fuzz::content_manifest`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::content_manifest(data));

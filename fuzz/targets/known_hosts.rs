//! See `ptah_fuzz::known_hosts`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::known_hosts(data));

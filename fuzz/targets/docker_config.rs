//! See `ptah_fuzz::docker_config`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::docker_config(data));

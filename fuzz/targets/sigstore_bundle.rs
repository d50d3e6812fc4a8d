//! See `ptah_fuzz::sigstore_bundle`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptah_fuzz::sigstore_bundle(data));

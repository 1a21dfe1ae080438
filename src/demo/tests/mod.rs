//! Tests of the embedded platform.

//! Tests of the file beside this one.

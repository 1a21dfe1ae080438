//! What several test files share. Must not hold assertions about the product.
#![allow(dead_code)]

pub mod apiserver;
pub mod cut;
pub mod escapes;
pub mod pty;
pub mod reading;
pub mod schema;
pub mod walk;
pub mod witness;

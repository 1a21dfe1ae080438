//! What several test files share. Must not hold assertions about the product.
#![allow(dead_code)]

pub mod apiserver;
pub mod pty;
pub mod schema;

//! The wire against scripted servers: what a session, its guard, its trail, its watches and its writes make of every kind of weather.
//! No sockets and no clock: the server is a tower service, time moves only when everything waits.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../support/reading.rs"]
mod reading;

mod access;
mod audit;
mod discovery;
mod faults;
mod hostile;
mod server;
mod watching;
mod writes;

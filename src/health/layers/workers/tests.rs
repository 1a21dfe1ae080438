//! Rows of the workers, each with a near miss.

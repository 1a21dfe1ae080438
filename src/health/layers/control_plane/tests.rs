//! Rows of the control plane, each with a near miss.

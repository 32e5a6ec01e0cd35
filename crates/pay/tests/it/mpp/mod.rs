//! Tests of MPP: challenges are issued, answered as a client does, tampered with and judged.

mod accepted;
mod attempt;
mod issued;
mod properties;
mod refused;
mod vector;

//! The engine against closed forms and published numbers. Every number says where it comes from; every tolerance is
//! what the approximation of the formula or the noise of the run leaves.

mod balance;
mod buffers;
mod dctcp;
mod fairness;
mod incast;
mod queueing;
mod response;
mod sawtooth;
mod scaling;
mod stability;

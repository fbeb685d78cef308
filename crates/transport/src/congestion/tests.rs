//! Laws against closed forms and committed traces, without a network.

//! Graphs, routes, failures and placement.

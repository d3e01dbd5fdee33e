//! The service's HTTP contract, shared by the client and the sandbox.

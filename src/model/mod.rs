//! The nouns of the flow, one file each, in its order.

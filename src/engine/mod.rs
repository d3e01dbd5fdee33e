//! The shell that joins the floors below: one owner of state.

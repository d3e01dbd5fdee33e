//! A reverse proxy that loses answers, for trying a client's reaction. It uses nothing of `reckon`.
//!
//! Run `reckon sandbox --plain-http`, then
//! `cargo run --release --example lossy_proxy -- --upstream http://127.0.0.1:8700 --seed 7 --lose 0.15 --error 0.05`,
//! and point `service.base_url` at the address that it prints. When you stop it (Ctrl-C), it prints its counts.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

use std::net::SocketAddr;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use crate::connection::Failed;

#[path = "rig/connection.rs"]
mod connection;
#[path = "rig/proxy.rs"]
#[expect(dead_code, reason = "the example uses only a part of the proxy")]
mod proxy;
#[path = "rig/random.rs"]
mod random;

/// Loses answers between a client and a sandbox.
#[derive(Debug, Parser)]
struct Arguments {
    /// The sandbox, on plain HTTP and as a numeric address.
    #[arg(long, default_value = "http://127.0.0.1:8700")]
    upstream: String,
    /// The same seed gives the same losses.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    odds: proxy::Odds,
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let Arguments { upstream, seed, odds } = Arguments::parse();
    let upstream: SocketAddr =
        upstream.trim_start_matches("http://").trim_end_matches('/').parse()?;
    let proxy = proxy::Proxy::start(upstream, odds, seed).await?;
    println!("listening http://{}", proxy.address);
    let mut end = signal(SignalKind::terminate())?;
    tokio::select! {
        asked = tokio::signal::ctrl_c() => asked?,
        _ = end.recv() => {}
    }
    eprintln!("{}", proxy.counts());
    Ok(())
}

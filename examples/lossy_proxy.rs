//! A reverse proxy that loses answers, for trying out what a client makes of it. It uses nothing of `reckon`.
//!
//! `reckon sandbox --plain-http`, then
//! `cargo run --release --example lossy_proxy -- --upstream http://127.0.0.1:8700 --seed 7 --lose 0.15 --error 0.05`,
//! and point `service.base_url` at the address that it prints. It tells what it did when it is stopped (Ctrl-C).

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

use std::net::SocketAddr;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use crate::connection::Failed;

#[path = "rig/connection.rs"]
mod connection;
#[path = "rig/proxy.rs"]
#[expect(dead_code, reason = "not everything that a proxy can do is used here")]
mod proxy;
#[path = "rig/random.rs"]
mod random;

/// Loses answers between a client and a sandbox.
#[derive(Debug, Parser)]
struct Arguments {
    /// The sandbox, on plain HTTP and by its number.
    #[arg(long, default_value = "http://127.0.0.1:8700")]
    upstream: String,
    /// The same seed has the same luck.
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

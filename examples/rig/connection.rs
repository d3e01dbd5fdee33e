//! HTTP/1 over one connection to this machine, opened on demand and reused while it lasts.

use std::error::Error;
use std::net::SocketAddr;

use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Any error of these programs; they end with it.
pub(crate) type Failed = Box<dyn Error + Send + Sync>;

/// A connection that opens itself.
#[derive(Debug)]
pub(crate) struct Connection {
    to: SocketAddr,
    open: Option<SendRequest<Full<Bytes>>>,
}

impl Connection {
    /// Makes a connection; it opens with the first request.
    pub(crate) fn new(to: SocketAddr) -> Self {
        Self { to, open: None }
    }

    /// Sends a request once and reads the whole answer.
    pub(crate) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Bytes>, Failed> {
        let mut sender = self.sender().await?;
        let (head, body) = sender.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        self.open = Some(sender);
        Ok(Response::from_parts(head, body))
    }

    async fn sender(&mut self) -> Result<SendRequest<Full<Bytes>>, Failed> {
        if let Some(mut sender) = self.open.take()
            && sender.ready().await.is_ok()
        {
            return Ok(sender);
        }
        let stream = TcpStream::connect(self.to).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        drop(tokio::spawn(connection));
        Ok(sender)
    }
}

//! The platform behind hyper on a socket, for tests and kubectl: plain HTTP/1.1, identity from the bearer token.
//! Owns accepting connections; answers come from [`Platform`].

use std::{io, net::SocketAddr};

use http_body_util::BodyExt;
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, task::JoinSet};

use super::Platform;

/// A listening platform. Dropping the handle closes the socket and its connections.
#[derive(Debug)]
pub struct Listening {
    /// Where it listens.
    pub addr: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Listening {
    /// `http://ADDR`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves `platform` on `addr` (port 0 picks one). The identity is that of the platform, or of each request's token for
/// [`Platform::by_token`]. Fails if the address can't be bound.
pub async fn serve(platform: Platform, addr: SocketAddr) -> io::Result<Listening> {
    let listener = TcpListener::bind(addr).await?;
    let addr = listener.local_addr()?;
    let task = tokio::spawn(async move {
        // The set ends its connections when the task is dropped.
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                    connections.spawn(connection(platform.clone(), TokioIo::new(stream)));
                },
                Some(_) = connections.join_next() => {}
            }
        }
    });
    Ok(Listening { addr, task })
}

async fn connection(platform: Platform, io: TokioIo<tokio::net::TcpStream>) {
    let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let platform = platform.clone();
        async move {
            let (parts, body) = request.into_parts();
            let bytes = body.collect().await.map_err(io::Error::other)?.to_bytes();
            // An error closes the connection, which is what a refused connection looks like from outside.
            platform.handle(http::Request::from_parts(parts, bytes)).await.map_err(io::Error::other)
        }
    });
    let _closed = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
}

//! The embedded platform on a socket with a witness: what arrived, as it arrived. Must not judge it.

use std::{
    net::TcpListener as Bound,
    path::Path,
    sync::{Arc, Mutex},
};

use http_body_util::BodyExt as _;
use hyper_util::rt::TokioIo;
use planedeck::demo::Platform;
use serde_json::json;

/// A listening platform that remembers every request: method and URI.
pub struct Witness {
    runtime: tokio::runtime::Runtime,
    asked: Arc<Mutex<Vec<(String, String)>>>,
    port: u16,
}

impl Witness {
    /// Serves on a free port.
    pub fn serve(platform: Platform) -> Witness {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let bound = Bound::bind("127.0.0.1:0").unwrap();
        bound.set_nonblocking(true).unwrap();
        let port = bound.local_addr().unwrap().port();
        let asked = Arc::default();
        let seen = Arc::clone(&asked);
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(bound).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(platform.clone(), Arc::clone(&seen), TokioIo::new(stream)));
            }
        });
        Witness { runtime, asked, port }
    }

    /// `http://HOST:PORT`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A kubeconfig for it in a home, with `tenant-acme` as the namespace; the path.
    pub fn kubeconfig(&self, home: &Path, token: &str) -> String {
        let path = home.join("kubeconfig");
        let text = json!({"apiVersion": "v1", "kind": "Config", "current-context": "fake",
            "clusters": [{"name": "fake", "cluster": {"server": self.url()}}],
            "users": [{"name": "planted", "user": {"token": token}}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "planted", "namespace": "tenant-acme"}}]});
        std::fs::write(&path, text.to_string()).unwrap();
        path.display().to_string()
    }

    /// Everything that arrived since this was last asked.
    pub fn take(&self) -> Vec<(String, String)> {
        let _inside = self.runtime.enter();
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

async fn connection(platform: Platform, seen: Arc<Mutex<Vec<(String, String)>>>, io: TokioIo<tokio::net::TcpStream>) {
    let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let (platform, seen) = (platform.clone(), Arc::clone(&seen));
        async move {
            seen.lock().unwrap().push((request.method().to_string(), request.uri().to_string()));
            let (parts, body) = request.into_parts();
            let bytes = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
            platform.handle(http::Request::from_parts(parts, bytes)).await.map_err(std::io::Error::other)
        }
    });
    let _closed = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
}

//! The platform over a real socket, with the client the console uses.

use http_body_util::Empty;
use hyper_util::rt::TokioIo;

use super::*;
use crate::demo::{Fault, Match, listen};

async fn request(addr: std::net::SocketAddr, path: &str, token: &str) -> Result<(u16, String), hyper::Error> {
    let stream = tokio::net::TcpStream::connect(addr).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = http::Request::get(path)
        .header("host", "demo")
        .header("authorization", format!("Bearer {token}"))
        .body(Empty::<Bytes>::new())
        .unwrap();
    let response = sender.send_request(request).await?;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await?.to_bytes();
    Ok((status, String::from_utf8(body.to_vec()).unwrap()))
}

#[tokio::test]
async fn tokens_are_identities_and_faults_reach_the_socket() {
    let p = default();
    let listening = listen::serve(p.by_token(), "127.0.0.1:0".parse().unwrap()).await.unwrap();
    let releases = "/apis/helm.toolkit.fluxcd.io/v2/namespaces/tenant-acme/helmreleases";
    let (status, body) = request(listening.addr, releases, "sre").await.unwrap();
    assert_eq!(status, 200);
    assert!(body.contains("computeplane-cluster-cilium"));
    assert_eq!(request(listening.addr, releases, "tenant-acme:view").await.unwrap().0, 403);
    assert_eq!(request(listening.addr, releases, "expired").await.unwrap().0, 401);
    p.faults().times(Match::default(), Fault::Refuse, 1);
    assert!(request(listening.addr, releases, "sre").await.is_err());
    p.faults().times(Match::default(), Fault::Truncate(100), 1);
    assert!(request(listening.addr, releases, "sre").await.is_err());
}

#[tokio::test]
async fn kube_speaks_to_the_service_directly() {
    let p = default();
    let client = kube::Client::new(p, "tenant-acme");
    let pods: kube::Api<k8s_openapi::api::core::v1::Pod> = kube::Api::namespaced(client.clone(), "tenant-acme");
    let list = pods.list(&kube::api::ListParams::default().limit(2)).await.unwrap();
    assert_eq!(list.items.len(), 2);
    assert!(list.metadata.continue_.is_some());
    assert_eq!(client.apiserver_version().await.unwrap().git_version, "v1.35.4");
}

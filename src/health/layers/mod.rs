//! One judge a layer; `status.md` 2.2, first match wins. Each file holds the rows of its layer as arms, top to bottom.

use crate::{
    health::view::View,
    model::{Kind, Object, projection::capi, verdict::LayerVerdict},
};

pub mod addons;
pub mod cluster;
pub mod control_plane;
pub mod module;
pub mod nodes;
pub mod patience;
pub mod pools;
pub mod tenant;
pub mod workers;

/// The verdict of a layer, or of one pool within it.
pub type Judgement = LayerVerdict;

/// Name of the module's release and application.
pub const MODULE: &str = "computeplane";
/// Name of the cluster release and of everything that it makes.
pub const CLUSTER: &str = "computeplane-cluster";
/// What the releases of pools are called before the pool's name (layout B).
pub const POOL_RELEASE: &str = "kubernetes-nodes-computeplane-cluster-";
/// The kubeconfig Secret that releases target this plane through. Only its name is ever used.
pub const KUBECONFIG: &str = "computeplane-cluster-admin-kubeconfig";

/// True for the releases of the chain itself: module, cluster, pools.
pub fn is_chain(name: &str) -> bool {
    name == MODULE || name == CLUSTER || name.starts_with(POOL_RELEASE)
}

/// True for an addon release of this plane.
pub fn is_addon(object: &Object) -> bool {
    let name = &*object.meta.name;
    let label = object.meta.labels.get("cozystack.io/target-cluster-name").is_some_and(|v| &**v == CLUSTER);
    label || name.strip_prefix(CLUSTER).is_some_and(|rest| rest.starts_with('-'))
}

/// The cluster that an object of Cluster API belongs to: its spec's word, else its label.
pub fn cluster_name(object: &Object) -> Option<&str> {
    capi::cluster_name(object)
}

/// The Service through which the platform's ingress reaches this plane's controller, if one is seen.
pub fn ingress_service<'a>(view: &View<'a>) -> Option<&'a Object> {
    let mut services = view.list(Kind::Service);
    services.find(|s| s.meta.name.starts_with(CLUSTER) && s.meta.name.contains("ingress-nginx")).map(|s| &**s)
}

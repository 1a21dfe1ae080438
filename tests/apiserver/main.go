// Command apiserver runs an embedded etcd and a real kube-apiserver in one process, for tests on a real server.
// It owns starting both and printing "ready"; it must not hold test logic.
package main

import (
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: apiserver DATA-DIR ETCD-CLIENT-PORT ETCD-PEER-PORT [kube-apiserver flags]")
		os.Exit(2)
	}
	dir, client, peer := os.Args[1], os.Args[2], os.Args[3]
	etcd, err := startEtcd(filepath.Join(dir, "etcd"), client, peer)
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
	// kube-apiserver handles SIGTERM itself; etcd must outlive it, and go when it is gone.
	signal.Ignore(syscall.SIGHUP)
	cmd := app.NewAPIServerCommand()
	args := append([]string{"--etcd-servers=http://127.0.0.1:" + client}, os.Args[4:]...)
	cmd.SetArgs(args)
	code := cli.Run(cmd)
	etcd.Close()
	os.Exit(code)
}

func startEtcd(dir, client, peer string) (*embed.Etcd, error) {
	cfg := embed.NewConfig()
	cfg.Dir = dir
	cfg.LogLevel = "error"
	cfg.UnsafeNoFsync = true
	at := func(port string) []url.URL { return []url.URL{{Scheme: "http", Host: "127.0.0.1:" + port}} }
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = at(client), at(client)
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = at(peer), at(peer)
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case <-time.After(30 * time.Second):
		etcd.Close()
		return nil, fmt.Errorf("not ready after 30 s")
	}
}

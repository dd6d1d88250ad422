// A Temporal server in one process: SQLite in memory, a port of the system's choice, a namespace of its own; or, with
// FILE PORT, its database in that file, so that it goes on where it was when it was killed. Prints "host:port namespace",
// and ends with its standard input, so that it does not outlive the program that started it.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/testing/freeport"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/temporaltest"
)

const host = "127.0.0.1"

func main() {
	if len(os.Args) == 3 {
		port, err := strconv.Atoi(os.Args[2])
		check(err)
		startOnFile(os.Args[1], port)
		fmt.Printf("%s:%d default\n", host, port)
	} else {
		server := temporaltest.NewServer()
		fmt.Println(server.GetFrontendHostPort(), server.GetDefaultNamespace())
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func startOnFile(file string, port int) {
	sql := &config.SQL{
		PluginName:        sqliteplugin.PluginName,
		ConnectAttributes: map[string]string{"mode": "rwc"},
		DatabaseName:      file,
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		check(sqlite.SetupSchema(sql))
	}
	namespace, err := sqlite.NewNamespaceConfig("active", "default", false, nil)
	check(err)
	check(sqlite.CreateNamespaces(sql, namespace))
	server, err := temporal.NewServer(
		temporal.WithConfig(configOf(sql, port)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithLogger(log.NewNoopLogger()),
	)
	check(err)
	check(server.Start())
}

// What temporaltest makes for its database in memory.
func configOf(sql *config.SQL, port int) *config.Config {
	address := fmt.Sprintf("%s:%d", host, port)
	off := config.Archival{
		History:    config.HistoryArchival{State: "disabled"},
		Visibility: config.VisibilityArchival{State: "disabled"},
	}
	result := &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     "sqlite",
			VisibilityStore:  "sqlite",
			NumHistoryShards: 1,
			DataStores:       map[string]config.DataStore{"sqlite": {SQL: sql}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        "active",
			CurrentClusterName:       "active",
			ClusterInformation: map[string]cluster.ClusterInformation{
				"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			"frontend": serviceOn(port),
			"history":  serviceOn(freeport.MustGetFreePort()),
			"matching": serviceOn(freeport.MustGetFreePort()),
			"worker":   serviceOn(freeport.MustGetFreePort()),
		},
		Archival:     off,
		PublicClient: config.PublicClient{HostPort: address},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}
	result.Global.Membership = config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: host}
	return result
}

func serviceOn(port int) config.Service {
	return config.Service{
		RPC: config.RPC{GRPCPort: port, MembershipPort: freeport.MustGetFreePort(), BindOnLocalHost: true},
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A Temporal server in one process: SQLite in memory, a port of the system's choice, a namespace of its own. Prints
// "host:port namespace", and ends with its standard input, so that it does not outlive the program that started it.
package main

import (
	"fmt"
	"io"
	"os"

	"go.temporal.io/server/temporaltest"
)

func main() {
	server := temporaltest.NewServer()
	fmt.Println(server.GetFrontendHostPort(), server.GetDefaultNamespace())
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

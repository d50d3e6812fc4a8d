// A registry in memory that serves the referrers API, which the pinned distribution does not.
//
// It listens on a port of loopback that the system chooses, and prints the address as its first line.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	handler := registry.New(registry.WithReferrersSupport(true))
	log.Fatal((&http.Server{Handler: handler, ReadHeaderTimeout: 10_000_000_000}).Serve(listener))
}

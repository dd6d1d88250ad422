module tunerank/conformance

go 1.22

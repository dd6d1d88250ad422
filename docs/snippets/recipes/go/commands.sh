go mod init example.com/call
go install \
  github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
oapi-codegen -generate types,client -package client \
  -o client/client.gen.go openapi-client.json
go mod tidy
go run ./rank

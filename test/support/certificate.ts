// A self-signed certificate of localhost and service.test for tests alone, valid until 2125; made with:
// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj "/CN=localhost"
//   -addext "subjectAltName=DNS:localhost,DNS:service.test,IP:127.0.0.1"

/** The certificate, which nobody but a test trusts. */
export const certificate: string = `-----BEGIN CERTIFICATE-----
MIIBqjCCAU+gAwIBAgIUMaPFNDiAPT+BRC4XQloND9utzdcwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjA2MjAxNFoYDzIxMjYxMDI5
MDYyMDE0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS7xL/6jKf8RfrHXEtXSCGNg++iCkJSWZ8fAbPTcZRyMEd9e0k86kI9
5+6PRb9QSokwDjVOMlGOnm5P0p7L5TQbo30wezAdBgNVHQ4EFgQUhWzUFFuZ356m
HQz1NwY44h8cf4kwHwYDVR0jBBgwFoAUhWzUFFuZ356mHQz1NwY44h8cf4kwDwYD
VR0TAQH/BAUwAwEB/zAoBgNVHREEITAfgglsb2NhbGhvc3SCDHNlcnZpY2UudGVz
dIcEfwAAATAKBggqhkjOPQQDAgNJADBGAiEA4coLrFR9s15q8Lul58IfM7rrEYo7
kwAZjcuLeuatligCIQC0Ws78x9Up+1Dwnc4mubHCnXMaAWCtpXAoW1bahDzL3w==
-----END CERTIFICATE-----
`;

/** Its key. */
export const certificateKey: string = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNGmwCPRxWOp2tJNB
V36xaOn6luy+ztzPhwIRprsTZyOhRANCAAS7xL/6jKf8RfrHXEtXSCGNg++iCkJS
WZ8fAbPTcZRyMEd9e0k86kI95+6PRb9QSokwDjVOMlGOnm5P0p7L5TQb
-----END PRIVATE KEY-----
`;

/** A certificate of localhost with the same key that ended on 2 January 2020; made with `openssl ca -selfsign`. */
export const expiredCertificate: string = `-----BEGIN CERTIFICATE-----
MIIBZTCCAQugAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMTAyMDAwMDAwWjAUMRIwEAYDVQQDDAls
b2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS7xL/6jKf8RfrHXEtX
SCGNg++iCkJSWZ8fAbPTcZRyMEd9e0k86kI95+6PRb9QSokwDjVOMlGOnm5P0p7L
5TQbo04wTDAPBgNVHRMBAf8EBTADAQH/MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcE
fwAAATAdBgNVHQ4EFgQUhWzUFFuZ356mHQz1NwY44h8cf4kwCgYIKoZIzj0EAwID
SAAwRQIhAKpwFB3uoOvburjnsnSS7D7GqmisXBlNaiajX1HnnjByAiBliMkQ+hse
5i1LA8BLo+OCQ8qkTnGSX8CeS1uCiSh6dA==
-----END CERTIFICATE-----
`;

// A self-signed certificate of localhost for tests alone, valid until 2125; made with:
// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj "/CN=localhost"
//   -addext "subjectAltName=DNS:localhost,IP:127.0.0.1"

/** The certificate, which nobody but a test trusts. */
export const certificate: string = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUea4FzCmoum5g782TTIRdxgTfv/gwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTExMjEwN1oYDzIxMjYxMDI4
MTEyMTA3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS7xL/6jKf8RfrHXEtXSCGNg++iCkJSWZ8fAbPTcZRyMEd9e0k86kI9
5+6PRb9QSokwDjVOMlGOnm5P0p7L5TQbo28wbTAdBgNVHQ4EFgQUhWzUFFuZ356m
HQz1NwY44h8cf4kwHwYDVR0jBBgwFoAUhWzUFFuZ356mHQz1NwY44h8cf4kwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAN60cMKN2x7sQzwtez7hyd7WSk6LH7h8c4uGgCYgfnPTAiAh
jyRSmMOq+qcoxffJx+t+mNwftEKgYAJyGnr/JQc/kA==
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

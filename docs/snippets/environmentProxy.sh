NODE_USE_ENV_PROXY=1 HTTPS_PROXY=http://proxy.example.com:3128 node my-program.js

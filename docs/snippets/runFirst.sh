node first.mjs

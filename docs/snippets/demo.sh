npm ci && npm run demo

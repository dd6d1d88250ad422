tunerank resume answer-quality --json | node -p 'JSON.parse(require("fs").readFileSync(0)).state'

npx tunerank conformance

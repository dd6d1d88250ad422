npx tunerank mock

npm install tunerank

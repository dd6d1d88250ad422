npm run mock -- --port 4010

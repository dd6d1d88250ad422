const express = require("express");
const { createClient, isStatusError } = require("tunerank");

// Its options are read at the first call.
const client = createClient();
const app = express().use(express.json());

app.post("/search", async (request, response) => {
  const { query, documents } = request.body;
  response.json(await client.rerank({ query, documents }));
});

app.use((error, _request, response, next) => {
  if (!isStatusError(error)) return next(error);
  console.error(error.message);
  const status = error.code === "INVALID_ARGUMENT" ? 400 : 502;
  response.status(status).json({ code: error.code });
});

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(server.address().port);
});

import { createClient } from "tunerank";
import { createOpenapiClient } from "tunerank/openapi-fetch";

const api = createOpenapiClient(createClient());

const { data, error } = await api.POST("/inference/v1/rerank", {
  body: { query: "capital of France", documents: ["Paris.", "Rome."] },
});
if (error) throw error; // a StatusError
console.log(data.data[0]?.index, data.model);

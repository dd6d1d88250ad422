import { Client, Connection } from "@temporalio/client";

const { TEMPORAL_ADDRESS = "localhost:7233", TEMPORAL_NAMESPACE = "default" } = process.env;

export const connection: Connection = await Connection.connect({ address: TEMPORAL_ADDRESS });
export const client: Client = new Client({ connection, namespace: TEMPORAL_NAMESPACE });

import { client, connection } from "./temporal.js";

const dayOfWeek = { start: "MONDAY", end: "FRIDAY" } as const;
for (const [hour, replicas] of [
  [20, 0],
  [7, 2],
] as const) {
  const args = ["prod", replicas];
  await client.schedule.create({
    scheduleId: `prod-at-${hour}`,
    spec: { calendars: [{ dayOfWeek, hour }], timezone: "Europe/Berlin" },
    action: { type: "startWorkflow", workflowType: "setReplicas", args, taskQueue: "tunerank" },
  });
  console.log(`at ${hour}:00 prod has ${replicas} replicas`);
}
await connection.close();

import { client, connection } from "./temporal.js";

const weekdays = { start: "MONDAY", end: "FRIDAY" } as const;
for (const [name, hour, replicas] of [
  ["night", 20, 0],
  ["morning", 7, 2],
] as const) {
  await client.schedule.create({
    scheduleId: `prod-${name}`,
    spec: { calendars: [{ dayOfWeek: weekdays, hour }], timezone: "Europe/Berlin" },
    action: {
      type: "startWorkflow",
      workflowType: "setReplicas",
      args: ["prod", replicas],
      taskQueue: "tunerank",
    },
  });
  console.log(`at ${hour}:00 prod has ${replicas} replicas`);
}
await connection.close();

/** Workers that die between RegisterEvent and the status update: each value has one event. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventRepositories } from "../../deploy/simulators/pipecd/eventrepository.ts";
import { ControlPlane, EventRegistration } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, startPipecd } from "../harness/pipecd.ts";
import { type EventStack, startEventStack } from "../harness/pipecdevents.ts";
import { names, polling, sideBySide } from "../harness/pipecdstack.ts";
import { has } from "../harness/testobjects.ts";

const repositories = eventRepositories();
let pipecd: Pipecd;
let stack: EventStack;
beforeAll(async () => {
  pipecd = await startPipecd({ repositories, env: { DENREI_ACK_WAIT_SECONDS: "4" } });
  stack = await startEventStack(pipecd, "events-killed", repositories);
}, sideBySide.timeout);
afterAll(() => pipecd?.stop());

/** Kills all workers before the response to the next RegisterEvent arrives, and restarts them after `meanwhile`. */
async function killWhileRegistering(change: () => Promise<void>, meanwhile?: () => Promise<void>) {
  const held = stack.server().hold("RegisterEvent");
  onTestFinished(() => held.drop());
  await change();
  await held.arrived;
  await Promise.all(pipecd.workers.map((worker) => worker.kill()));
  held.drop();
  await meanwhile?.();
  await Promise.all(pipecd.workers.map((worker) => worker.start()));
}

test("adopts the event, and registers the value that replaced it meanwhile once", async () => {
  await killWhileRegistering(() => stack.register("killed", { source: { data: "one" } }));
  await stack.untilState("killed", "one", "NotHandled");
  expect(stack.registered("killed")).toEqual(["one"]);

  await killWhileRegistering(
    () => stack.setData("killed", "two"),
    // Back to the value that the status has as the latest.
    () => stack.setData("killed", "one"),
  );
  await expect.poll(() => stack.registered("killed"), polling).toEqual(["one", "two", "one"]);
  await stack.until(
    EventRegistration,
    "killed",
    (found) =>
      has("Ready", "True")(found) &&
      found.status?.registered?.data === "one" &&
      found.status.announced === undefined &&
      found.status.registered.eventID === stack.server().events().at(-1)?.id,
  );
  await pipecd.untilQuiet();
  expect(stack.registered("killed")).toEqual(["one", "two", "one"]);
});

test("registers an event that no agent has handled again after PipeCD has lost its data", async () => {
  await stack.register("lost", { source: { data: "one" } });
  const before = await stack.untilState("lost", "one", "NotHandled");
  await stack.edit(ControlPlane as never, names.plane, { replicasServer: 0 });
  await stack.refused(ControlPlane as never, names.plane, "ScaledToZero");
  pipecd.pods.lose(stack.namespace);
  expect(stack.registered("lost")).toEqual([]);
  await stack.edit(ControlPlane as never, names.plane, { replicasServer: null });
  await stack.until(
    EventRegistration,
    "lost",
    (found) =>
      has("Ready", "True")(found) && found.status?.registered?.eventID !== before.status?.registered?.eventID,
  );
  expect(stack.registered("lost")).toEqual(["one"]);
  // PipeCD writes events in the background.
  await expect
    .poll(() => stack.notes(EventRegistration as never, "lost", "RegistrationLost"), polling)
    .toEqual([expect.stringContaining(before.status?.registered?.eventID ?? "-")]);
});

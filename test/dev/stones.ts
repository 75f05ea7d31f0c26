/** Objects of the test functions, and what has become of them. */
import { expect } from "vitest";
import type { KubeClient } from "../../bus/kube/client.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { type Stone, stoneKind } from "./stonecode.ts";

const patience = { timeout: 60_000, interval: 50 };

/** Puts a stone down. */
export const put = (
  client: KubeClient,
  name: string,
  { kind = "Pebble", spec = {} }: { kind?: string; spec?: Record<string, unknown> } = {},
): Promise<Stored<Stone>> =>
  client.create(
    stoneKind(kind),
    { apiVersion: "test.denrei.dev/v1", kind, metadata: { namespace: "default", name }, spec },
    { fieldManager: "test" },
  );

/** A stone as it is. */
export const stone = (client: KubeClient, name: string, kind = "Pebble"): Promise<Stored<Stone>> =>
  client.get(stoneKind(kind), { namespace: "default", name });

/** Waits until a stone has a mark. */
export const untilMarked = (client: KubeClient, name: string, mark: string, kind = "Pebble"): Promise<void> =>
  expect.poll(async () => (await stone(client, name, kind)).status?.mark, patience).toBe(mark);

/** The first mark that a stone gets. */
export async function firstMark(
  client: KubeClient,
  name: string,
  kind = "Pebble",
): Promise<string | undefined> {
  await expect.poll(async () => (await stone(client, name, kind)).status?.mark, patience).toBeDefined();
  return (await stone(client, name, kind)).status?.mark;
}

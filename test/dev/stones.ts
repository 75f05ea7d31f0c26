/** Objects of the test functions. */
import { expect } from "vitest";
import { z } from "zod";
import type { KubeClient } from "../../bus/kube/client.ts";
import { CustomResourceDefinition } from "../../bus/kube/install.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { type Stone, stoneKind } from "./stonecode.ts";

const Fields = z.object({ properties: z.record(z.string(), z.unknown()) });
const Versions = z.tuple([
  z.object({
    schema: z.object({ openAPIV3Schema: z.object({ properties: z.object({ spec: Fields }) }) }),
  }),
]);
const pollOptions = { timeout: 60_000, interval: 50 };

/** Creates a stone. */
export const put = (
  client: KubeClient,
  name: string,
  {
    kind = "Pebble",
    spec = {},
    namespace = "default",
  }: { kind?: string; spec?: Record<string, unknown>; namespace?: string } = {},
): Promise<Stored<Stone>> =>
  client.create(
    stoneKind(kind),
    { apiVersion: "test.denrei.dev/v1", kind, metadata: { namespace, name }, spec },
    { fieldManager: "test" },
  );

/** Reads a stone. */
export const stone = (
  client: KubeClient,
  name: string,
  kind = "Pebble",
  namespace = "default",
): Promise<Stored<Stone>> => client.get(stoneKind(kind), { namespace, name });

/** Waits until a stone has the mark. */
export const untilMarked = (client: KubeClient, name: string, mark: string, kind = "Pebble"): Promise<void> =>
  expect.poll(async () => (await stone(client, name, kind)).status?.mark, pollOptions).toBe(mark);

/** The first mark that a stone gets. */
export async function firstMark(
  client: KubeClient,
  name: string,
  kind = "Pebble",
): Promise<string | undefined> {
  await expect.poll(async () => (await stone(client, name, kind)).status?.mark, pollOptions).toBeDefined();
  return (await stone(client, name, kind)).status?.mark;
}

/** The spec fields of the CRD on the API server. */
export async function specFields(client: KubeClient, kind = "Pebble"): Promise<string[]> {
  const { plural, group } = stoneKind(kind);
  const { spec } = await client.get(CustomResourceDefinition, { name: `${plural}.${group}` });
  const [{ schema }] = Versions.parse(spec.versions);
  return Object.keys(schema.openAPIV3Schema.properties.spec.properties).sort();
}

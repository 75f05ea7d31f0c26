import { expect, test } from "vitest";
import type { Kind } from "../../../../bus/kube/kind.ts";
import type { Stored } from "../../../../bus/kube/object.ts";
import * as pipecd from "../../../../functions/pipecd/kinds.ts";
import { objectAddress } from "../bus/addresses.ts";
import { consequenceOf, resourceOf, screenOf, stackIn } from "./kinds.ts";

const kinds = (Object.values(pipecd) as unknown[]).filter(
  (value): value is Kind => typeof value === "object" && value !== null && "definition" in value,
);

test.each(kinds)("$kind is listed, has a screen, and explains the consequence of its deletion", (kind) => {
  const { group, plural } = kind;
  const key = { namespace: "team", name: "one" };
  expect(stackIn({}).map(([resource]) => resource)).toContainEqual(
    expect.objectContaining({ group, kind: kind.kind, plural }),
  );
  const screen = `/pipecd/${plural}/team/one`;
  expect(screenOf({ kind: kind.kind, metadata: key } as Stored)).toBe(screen);
  expect(objectAddress({ group, kind: kind.kind, ...key })).toBe(screen);
  const resource = resourceOf(plural);
  expect(resource && consequenceOf(resource)).not.toBe("");
});

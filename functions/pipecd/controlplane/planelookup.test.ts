import { describe, expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { ControlPlane } from "../kinds.ts";
import { type Dependent, isReady, oldest, planeOf } from "./planelookup.ts";

type Conditions = NonNullable<NonNullable<ControlPlane["status"]>["conditions"]>;

const plane = (
  name: string,
  created: string,
  { deleted, conditions }: { deleted?: string; conditions?: Conditions } = {},
): Stored<ControlPlane> => ({
  apiVersion: "pipecd.kanatakita.com/v1alpha1",
  kind: "ControlPlane",
  metadata: {
    name,
    uid: name,
    resourceVersion: "1",
    creationTimestamp: created,
    ...(deleted !== undefined && { deletionTimestamp: deleted }),
  },
  spec: { version: "v0.57.0", config: { datastore: {}, filestore: {} } },
  ...(conditions && { status: { conditions } }),
});
const dependent = (objectName?: string): Dependent => ({
  apiVersion: "pipecd.kanatakita.com/v1alpha1",
  kind: "Piped",
  metadata: { name: "p" },
  spec: objectName === undefined ? {} : { controlPlaneRef: { objectName } },
});

const first = plane("z", "2026-01-01T00:00:00Z");
const second = plane("b", "2026-01-01T00:00:01Z");
const third = plane("a", "2026-01-01T00:00:01Z");

test("the oldest runs, and the name decides between two created in the same second", () => {
  expect(oldest([second, third, first])).toBe(first);
  expect(oldest([second, third])).toBe(third);
  expect(oldest([third, second])).toBe(third);
  expect(oldest([])).toBeUndefined();
});

test("leaves the list unchanged", () => {
  const planes = Object.freeze([second, third, first]);
  expect(oldest(planes)).toBe(first);
  expect(planes).toEqual([second, third, first]);
});

test("one that is being deleted owns the names until it is gone", () => {
  const going = plane("z", "2026-01-01T00:00:00Z", { deleted: "2026-01-02T00:00:00Z" });
  expect(oldest([second, going])).toBe(going);
});

test("an object belongs to the control plane that it refers to, otherwise to the one that runs", () => {
  const planes = [second, third, first];
  expect(planeOf(dependent("b"), planes)).toBe(second);
  expect(planeOf(dependent(), planes)).toBe(first);
  expect(planeOf(dependent("none"), planes)).toBeUndefined();
  expect(planeOf(dependent(), [])).toBeUndefined();
});

describe("isReady when", () => {
  const condition = (type: string, status: "True" | "False" | "Unknown") => ({
    type,
    status,
    reason: "R",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  test.each<readonly [string, boolean, Stored<ControlPlane>]>([
    ["it is ready", true, plane("a", "", { conditions: [condition("Ready", "True")] })],
    ["it is not ready", false, plane("a", "", { conditions: [condition("Ready", "False")] })],
    ["its state is unknown", false, plane("a", "", { conditions: [condition("Ready", "Unknown")] })],
    ["only its store is ready", false, plane("a", "", { conditions: [condition("DatastoreReady", "True")] })],
    ["it is new", false, plane("a", "")],
    [
      "it is being deleted",
      false,
      plane("a", "", { deleted: "2026-01-02T00:00:00Z", conditions: [condition("Ready", "True")] }),
    ],
  ])("%s: %j", (_, expected, object) => {
    expect(isReady(object)).toBe(expected);
  });
});

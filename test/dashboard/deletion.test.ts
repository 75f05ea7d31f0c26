/** The steps of a deletion, derived from the remaining objects. */
import { expect, test } from "vitest";
import type { Stored } from "../../bus/kube/object.ts";
import { stepsOf } from "../../dashboard/web/src/pipecd/deletion.ts";
import { neededBy } from "../../functions/pipecd/kubernetes/usersmessage.ts";

const deletionTimestamp = "2026-11-20T18:30:00Z";

const object = (kind: string, name: string, more: object = {}, conditions: object[] = []) =>
  ({
    kind,
    metadata: { name, namespace: "team-a", uid: `${kind}-${name}`, ...more },
    status: { conditions },
  }) as unknown as Stored;
const leaving = (kind: string, name: string, ...conditions: object[]) =>
  object(kind, name, { deletionTimestamp, finalizers: ["pipecd"] }, conditions);
const inUse = (...users: string[]) => ({
  type: "Ready",
  status: "False",
  reason: "InUse",
  message: neededBy(users.map((user) => object(...(user.split(" ") as [string, string])))),
});

const states = (present: readonly Stored[], gone: readonly Stored[] = []) =>
  stepsOf(present, gone).map(({ name, state }) => `${name}: ${state}`);

test("has no steps if nothing is being deleted", () => {
  expect(states([object("ControlPlane", "cp"), object("Piped", "p")])).toEqual([]);
});

test("orders deleted objects by their dependencies, whatever their functions have reported yet", () => {
  const all = [
    leaving("Minio", "m"),
    leaving("ControlPlane", "cp", inUse("Piped p")),
    leaving("Environment", "e"),
    leaving("Application", "a"),
    leaving("Piped", "p", inUse("Application a")),
  ];
  expect(states(all)).toEqual([
    "Applications: going",
    "Pipeds: waiting",
    "Environments: waiting",
    "Control plane: waiting",
    "Stores: waiting",
  ]);
  const left = all.filter(({ kind }) => kind === "Minio" || kind === "ControlPlane");
  const gone = all.filter((one) => !left.includes(one));
  expect(states(left, gone)).toEqual([
    "Applications: gone",
    "Pipeds: gone",
    "Environments: gone",
    "Control plane: waiting",
    "Stores: waiting",
  ]);
});

test("an object that is not being deleted blocks only the objects that wait for it", () => {
  const present = [
    object("Application", "a"),
    object("Application", "other"),
    leaving("Piped", "p", inUse("Application a")),
    object("Minio", "m"),
  ];
  expect(states(present)).toEqual(["Applications: kept", "Pipeds: waiting"]);
  expect(stepsOf(present, [])[0]?.objects.map(({ object: { metadata } }) => metadata.name)).toEqual(["a"]);
});

test("each object says what it waits for", () => {
  const stalled = { type: "Stalled", status: "True", reason: "ServerUnavailable", message: "no answer" };
  const sentences = (one: Stored) => stepsOf([one], [])[0]?.objects.map(({ waitsFor }) => waitsFor);
  expect(sentences(leaving("Piped", "p", inUse("Application a", "Application b")))).toEqual([
    "It waits for Application a, Application b.",
  ]);
  expect(sentences(leaving("Piped", "p", stalled))).toEqual(["The deletion cannot continue: no answer"]);
  expect(sentences(leaving("Piped", "p"))).toEqual(["It waits until its function removes pipecd."]);
  const foreground = { deletionTimestamp, finalizers: ["foregroundDeletion"] };
  expect(sentences(object("ControlPlane", "cp", foreground))).toEqual(["It waits for its dependents."]);
});

/** The progress of a stack's deletion. An object is deleted after all objects that need it. Pure. */
import { usersIn } from "@denrei/functions/pipecd/kubernetes/usersmessage";
import type { KubeObject, Stored } from "denrei/kinds";
import { conditionsOf } from "../ui/health.ts";

/** The progress of an object. `kept`: later steps wait for it, but no user has deleted it. */
export type State = "gone" | "going" | "waiting" | "stalled" | "kept";

/** An object in a step. */
export interface DeletingObject {
  readonly object: Stored;
  readonly state: State;
  /** What the object waits for, as a sentence. */
  readonly waitsFor: string;
}

/** Objects of a stack that are deleted in the same step. */
export interface Step {
  readonly name: string;
  /** What the step does. */
  readonly does: string;
  readonly state: State;
  readonly objects: readonly DeletingObject[];
}

/** All steps in order. */
const stages = [
  { name: "Applications", kinds: ["Application"], does: "PipeCD deletes them too." },
  {
    name: "Pipeds",
    kinds: ["Piped"],
    does: "Their pods stop, PipeCD disables them, and their RBAC rights are removed.",
  },
  {
    name: "Environments",
    kinds: ["Environment"],
    does: "PipeCD is not involved: it cannot delete environments, or has none.",
  },
  {
    name: "Control plane",
    kinds: ["ControlPlane"],
    does: "Gateway, server, cache, and ops are deleted too.",
  },
  {
    name: "Stores",
    kinds: ["Mysql", "Mongo", "Minio"],
    does: "Their pods are deleted. Data in volume claims stays.",
  },
] as const;

/** The state of a step is the first of these that one of its objects has. */
const worstFirst = ["stalled", "going", "kept", "waiting", "gone"] as const;

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

/** Whether an object is being deleted. */
export const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** The steps in order. Steps without deleted or awaited objects are left out. */
export function stepsOf(present: readonly Stored[], gone: readonly Stored[]): readonly Step[] {
  const needed = new Set(present.filter(isDeleting).flatMap(usersOf));
  const steps: Step[] = [];
  for (const { name, kinds, does } of stages) {
    const isHere = ({ kind }: KubeObject) => (kinds as readonly string[]).includes(kind);
    const isLate = steps.some(({ state }) => state !== "gone");
    const objects = [
      ...gone.filter(isHere).map((object) => ({ object, state: "gone", waitsFor: "" }) as const),
      ...present
        .filter((object) => isHere(object) && (isDeleting(object) || needed.has(nameOf(object))))
        .map((object) => deletingObject(object, isLate ? "later" : "next")),
    ].sort((a, b) => nameOf(a.object).localeCompare(nameOf(b.object)));
    const state = worstFirst.find((one) => objects.some((object) => object.state === one));
    if (state !== undefined) steps.push({ name, does, state, objects });
  }
  return steps;
}

const readyOf = (object: KubeObject) => conditionsOf(object).find(({ type }) => type === "Ready");

/** The objects that still use this one, from its Ready condition. */
function usersOf(object: KubeObject): readonly string[] {
  const ready = readyOf(object);
  return ready?.reason === "InUse" ? usersIn(ready.message) : [];
}

function deletingObject(object: Stored, turn: "next" | "later"): DeletingObject {
  const { finalizers = [] } = object.metadata;
  if (!isDeleting(object))
    return { object, state: "kept", waitsFor: "Later steps wait for it, but it is not being deleted." };
  const stalled = conditionsOf(object).find(({ type, status }) => type === "Stalled" && status === "True");
  if (stalled) return { object, state: "stalled", waitsFor: stalled.message };
  const users = usersOf(object);
  if (users.length > 0) return { object, state: "waiting", waitsFor: `For ${users.join(", ")}.` };
  if (finalizers.includes("foregroundDeletion"))
    return { object, state: "going", waitsFor: "For its dependents." };
  // Its function has not set a condition yet.
  if (turn === "later") return { object, state: "waiting", waitsFor: "For earlier steps." };
  if (finalizers.length === 0) return { object, state: "going", waitsFor: "" };
  return { object, state: "going", waitsFor: `For its function to remove ${finalizers.join(", ")}.` };
}

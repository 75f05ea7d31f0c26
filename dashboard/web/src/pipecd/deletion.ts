/** The progress of a stack's deletion. An object is deleted after all objects that need it. Pure. */
import { usersIn } from "@denrei/functions/pipecd/kubernetes/usersmessage";
import type { KubeObject, Stored } from "denrei/kinds";
import { conditionsOf } from "../ui/health.ts";
import { deletionText as text } from "./text.ts";

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
  { ...text.stages.applications, kinds: ["Application"] },
  { ...text.stages.pipeds, kinds: ["Piped"] },
  { ...text.stages.environments, kinds: ["Environment"] },
  { ...text.stages.plane, kinds: ["ControlPlane"] },
  { ...text.stages.stores, kinds: ["Mysql", "Mongo", "Minio"] },
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
  if (!isDeleting(object)) return { object, state: "kept", waitsFor: text.waitsFor.deletion };
  const stalled = conditionsOf(object).find(({ type, status }) => type === "Stalled" && status === "True");
  if (stalled) return { object, state: "stalled", waitsFor: text.waitsFor.stalled(stalled.message) };
  const users = usersOf(object);
  if (users.length > 0) return { object, state: "waiting", waitsFor: text.waitsFor.users(users) };
  if (finalizers.includes("foregroundDeletion"))
    return { object, state: "going", waitsFor: text.waitsFor.dependents };
  // Its function has not set a condition yet.
  if (turn === "later") return { object, state: "waiting", waitsFor: text.waitsFor.earlier };
  if (finalizers.length === 0) return { object, state: "going", waitsFor: "" };
  return { object, state: "going", waitsFor: text.waitsFor.finalizers(finalizers) };
}

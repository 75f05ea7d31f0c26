/** The deletion of a stack, as far as it is: each goes when what needs it is gone. Pure. */
import type { KubeObject, Stored } from "../../../../bus/kube/object.ts";
import { usersIn } from "../../../../functions/pipecd/kubernetes/usersmessage.ts";
import { conditionsOf } from "../ui/health.ts";

/** How far an object is. One that nobody has deleted is `kept`. */
export type State = "gone" | "going" | "waiting" | "stalled" | "kept";

/** An object of a step. */
export interface Leaving {
  readonly object: Stored;
  readonly state: State;
  /** What it waits for, as a sentence. */
  readonly waitsFor: string;
}

/** Some of a stack, which goes together. */
export interface Step {
  readonly name: string;
  /** What happens in it. */
  readonly does: string;
  readonly state: State;
  readonly objects: readonly Leaving[];
}

/** In their order. */
const stages = [
  { name: "Applications", kinds: ["Application"], does: "PipeCD is told to delete them." },
  { name: "Pipeds", kinds: ["Piped"], does: "Their pods end, PipeCD disables them, and their rights go." },
  {
    name: "Environments",
    kinds: ["Environment"],
    does: "Nobody is told: PipeCD can not delete them, or has none.",
  },
  { name: "Control plane", kinds: ["ControlPlane"], does: "Gateway, server, cache and ops go with it." },
  {
    name: "Stores",
    kinds: ["Mysql", "Mongo", "Minio"],
    does: "Their pods go; what a volume claim keeps stays.",
  },
] as const;

/** The more of it that is in the way, the further a step is from being done. */
const worstFirst = ["stalled", "going", "kept", "waiting", "gone"] as const;

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

/** Whether any of it is being deleted. */
export const isLeaving = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** The steps in their order, without those in which nothing happens and that nothing waits for. */
export function stepsOf(present: readonly Stored[], gone: readonly Stored[]): readonly Step[] {
  const needed = new Set(present.filter(isLeaving).flatMap(usersOf));
  const steps: Step[] = [];
  for (const { name, kinds, does } of stages) {
    const isHere = ({ kind }: KubeObject) => (kinds as readonly string[]).includes(kind);
    const isLate = steps.some(({ state }) => state !== "gone");
    const objects = [
      ...gone.filter(isHere).map((object) => ({ object, state: "gone", waitsFor: "" }) as const),
      ...present
        .filter((object) => isHere(object) && (isLeaving(object) || needed.has(nameOf(object))))
        .map((object) => leaving(object, isLate ? "later" : "next")),
    ].sort((a, b) => nameOf(a.object).localeCompare(nameOf(b.object)));
    const state = worstFirst.find((one) => objects.some((object) => object.state === one));
    if (state !== undefined) steps.push({ name, does, state, objects });
  }
  return steps;
}

const readyOf = (object: KubeObject) => conditionsOf(object).find(({ type }) => type === "Ready");

/** Those that it names as what it waits for. */
function usersOf(object: KubeObject): readonly string[] {
  const ready = readyOf(object);
  return ready?.reason === "InUse" ? usersIn(ready.message) : [];
}

function leaving(object: Stored, turn: "next" | "later"): Leaving {
  const { finalizers = [] } = object.metadata;
  if (!isLeaving(object))
    return { object, state: "kept", waitsFor: "Nobody has deleted it, and what comes after waits for it." };
  const stalled = conditionsOf(object).find(({ type, status }) => type === "Stalled" && status === "True");
  if (stalled) return { object, state: "stalled", waitsFor: stalled.message };
  const users = usersOf(object);
  if (users.length > 0) return { object, state: "waiting", waitsFor: `For ${users.join(", ")}.` };
  if (finalizers.includes("foregroundDeletion"))
    return { object, state: "going", waitsFor: "For what belongs to it." };
  // Its function has not looked at it yet, and would say so.
  if (turn === "later") return { object, state: "waiting", waitsFor: "For the steps before." };
  if (finalizers.length === 0) return { object, state: "going", waitsFor: "" };
  return { object, state: "going", waitsFor: `For its function, which takes away ${finalizers.join(", ")}.` };
}

/** What the user may do, asked before the user tries. The API server decides again about every request. */
import { useEffect, useState } from "preact/hooks";
import type { Resource } from "./resource.ts";
import { request } from "./session.ts";

/** An action, as RBAC names it. */
export interface Action {
  readonly verb: "create" | "patch" | "delete";
  readonly resource: Resource;
  readonly subresource?: string;
  /** Undefined for all namespaces, and for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
}

/** Creating an object in a namespace that the user types: undefined before that. */
export const creating = (resource: Resource, namespace: string): Action | undefined =>
  namespace === "" ? undefined : { verb: "create", resource, namespace };

const keyOf = ({ verb, resource, subresource = "", namespace = "" }: Action): string =>
  [verb, resource.group, resource.plural, subresource, namespace].join(",");

/** How long an answer is used. Milliseconds. */
const keptMillis = 30_000;

/** Wait for the user to finish typing a namespace. Milliseconds. */
const typingMillis = 150;

interface Answer {
  readonly until: number;
  readonly allowed: Promise<boolean>;
}

const answers = new Map<string, Answer>();
let asked: { readonly keys: string[]; readonly allowed: Promise<readonly boolean[]> } | undefined;

/** Asks for all actions of a screen in one request. */
function ask(key: string): Promise<boolean> {
  if (asked === undefined) {
    const keys: string[] = [];
    asked = { keys, allowed: new Promise((resolve) => setTimeout(resolve)).then(() => send(keys)) };
  }
  const { keys, allowed } = asked;
  const at = keys.push(key) - 1;
  return allowed.then((all) => all[at] ?? true);
}

async function send(keys: readonly string[]): Promise<readonly boolean[]> {
  asked = undefined;
  const query = new URLSearchParams(keys.map((key) => ["ask", key] as [string, string]));
  return (await request<{ allowed: readonly boolean[] }>(`/api/access?${query}`)).allowed;
}

function mayI(key: string): Promise<boolean> {
  const known = answers.get(key);
  if (known !== undefined && known.until > Date.now()) return known.allowed;
  const allowed = ask(key);
  answers.set(key, { until: Date.now() + keptMillis, allowed });
  allowed.catch(() => answers.delete(key));
  return allowed;
}

/** Whether the user may do it: true until the answer says otherwise. */
export function useMay(action: Action | undefined): boolean {
  const key = action === undefined ? undefined : keyOf(action);
  const [denied, setDenied] = useState<string>();
  useEffect(() => {
    if (key === undefined) return undefined;
    let isCanceled = false;
    const timer = setTimeout(() => {
      mayI(key).then(
        (allowed) => !isCanceled && setDenied(allowed ? undefined : key),
        // Without an answer, the user may try.
        () => undefined,
      );
    }, typingMillis);
    return () => {
      isCanceled = true;
      clearTimeout(timer);
    };
  }, [key]);
  return key === undefined || denied !== key;
}

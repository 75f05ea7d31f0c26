/** Generated names of objects by the rule of cdk8s 0.27. The names of cdk8s 2 have another hash, and may contain dots. */
import { createHash } from "node:crypto";
import { type ApiObject, Chart } from "cdk8s";

const maxLength = 63;

/**
 * The name of an object at a path of constructs: the steps of the path and a hash of it, in letters, digits, and hyphens. To fit
 * the limit, the first steps are cut. Steps that equal the next one, and the words default and resource, are omitted.
 */
export function nameAt(path: string): string {
  const steps = path.split("/");
  if (steps.length === 1 && /^[-0-9a-z]{1,63}$/.test(path)) return path;
  const hash = createHash("sha256").update(path).digest("hex").slice(0, 8);
  const clean = steps.map((step) => step.toLowerCase().replace(/[^-0-9a-z]/g, ""));
  const parts = [...clean, hash].filter((part, index, all) => part !== all[index + 1]);
  const kept: string[] = [];
  let room = maxLength;
  for (const part of parts.reverse()) {
    if (room > 0) kept.unshift(part.slice(0, room));
    room -= part.length + 1;
  }
  const words = kept.join("-").split("-");
  return words.filter((word) => !["", "default", "resource"].includes(word)).join("-");
}

/** Makes all charts name their objects so, unless they override it. */
export function useLegacyNames(): void {
  const named = Chart.prototype.generateObjectName;
  Chart.prototype.generateObjectName = function (this: Chart, object: ApiObject): string {
    return Reflect.get(this, "_disableResourceNameHashes") === true
      ? named.call(this, object)
      : nameAt(object.node.path);
  };
}

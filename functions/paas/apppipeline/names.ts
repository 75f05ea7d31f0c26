/** Names of what a preview is made of. Pure. */
import { digestOf } from "../../../bus/values/digest.ts";
import { shortened } from "../shortened.ts";

const longestLabel = 63;

/** Of the Application and the RemoteSync, as modoki-operator has them; what would be too long is cut, with a digest. */
export function previewName(pipeline: string, number: number): string {
  const ending = `-pr-${number}`;
  return `${shortened(`modoki-pipeline-${pipeline}`, longestLabel - ending.length)}${ending}`;
}

/**
 * Patterns of previews' hosts: `pr-<number>-<pipeline>-<digest>`, which no other pipeline has, or that of modoki-operator,
 * `<namespace>-<pipeline>-pr-<number>`, which two pipelines may share.
 */
export const hostPatterns = ["unique", "modoki-operator"] as const;
export type HostPattern = (typeof hostPatterns)[number];

/** Host of a preview. One that has a label of more than 63 letters in the pattern of modoki-operator gets a unique one. */
export function previewHost(
  at: { readonly namespace: string; readonly name: string },
  number: number,
  domainBase: string,
  pattern: HostPattern,
): string {
  const domain = domainBase.replace(/^\*\./, "");
  if (pattern === "unique") return `${uniqueLabel(at, number)}.${domain}`;
  const start = `${at.namespace}-${at.name}-pr-${number}`;
  const fits = start.split(".").every((label) => label.length <= longestLabel);
  return `${fits ? start : uniqueLabel(at, number)}.${domain}`;
}

/** The digest tells pipelines of several namespaces apart. */
function uniqueLabel(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  number: number,
): string {
  const [start, digest] = [`pr-${number}-`, digestOf(`${namespace}/${name}`, 6)];
  // Dots would be further labels.
  const middle = name.replaceAll(".", "-").slice(0, longestLabel - start.length - digest.length - 1);
  return `${start}${middle}-${digest}`;
}

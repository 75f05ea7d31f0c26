/** Names and hosts of previews. Pure. */
import { digestOf } from "denrei";
import { shorten } from "../shorten.ts";
import type { HostPattern } from "../site/config.ts";

const longestLabel = 63;

/** Name of the Application and the RemoteSync, as modoki-operator builds it. A long name is cut and gets a digest. */
export function previewName(pipeline: string, number: number): string {
  const ending = `-pr-${number}`;
  return `${shorten(`modoki-pipeline-${pipeline}`, longestLabel - ending.length)}${ending}`;
}

/** Host of a preview. Where modoki-operator's pattern exceeds the 63 characters of a label, the host is a unique one. */
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

/** The digest distinguishes pipelines of different namespaces. */
function uniqueLabel(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  number: number,
): string {
  const [start, digest] = [`pr-${number}-`, digestOf(`${namespace}/${name}`, 6)];
  // Dots would split the label.
  const middle = name.replaceAll(".", "-").slice(0, longestLabel - start.length - digest.length - 1);
  return `${start}${middle}-${digest}`;
}

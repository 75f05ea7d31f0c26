/** Names of what a preview is made of. Pure. */
import { digestOf } from "../../../bus/digest.ts";
import { shortened } from "../shortened.ts";

const longestLabel = 63;

/** Of the Application and the RemoteSync, as modoki-operator has them; what would be too long is cut, with a digest. */
export function previewName(pipeline: string, number: number): string {
  const ending = `-pr-${number}`;
  return `${shortened(`modoki-pipeline-${pipeline}`, longestLabel - ending.length)}${ending}`;
}

/** Host of a preview. The digest tells pipelines of several namespaces apart. */
export function previewHost(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  number: number,
  domainBase: string,
): string {
  const [start, digest] = [`pr-${number}-`, digestOf(`${namespace}/${name}`, 6)];
  // Dots would be further labels.
  const middle = name.replaceAll(".", "-").slice(0, longestLabel - start.length - digest.length - 1);
  return `${start}${middle}-${digest}.${domainBase.replace(/^\*\./, "")}`;
}

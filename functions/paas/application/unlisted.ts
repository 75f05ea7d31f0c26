/** Advice on kinds that a site does not list, or lists with other names than the API server has. */
import type { Kind } from "../../../bus/kube/kind.ts";
import { apiVersionOf, kindText } from "../../../bus/kube/kind.ts";
import { platformNamespace } from "../../../bus/process/namespace.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { ChartError, type UnlistedKindError } from "../charts/chart.ts";
import { siteKeys, siteName } from "../site/config.ts";
import { listingOf, rightsCommand } from "../site/kinds.ts";
import { type Resource, resourceKey } from "./inventory.ts";

type Live = Pick<Context["live"], "kind">;

/** How to apply the roles for listed kinds. */
export const howToGrant = `apply its rights: ${rightsCommand} | kubectl apply -f -`;

const place = `under "kinds:" in ${siteKeys.config} of the ConfigMap ${siteName} in ${platformNamespace}`;

/** How to list a kind. */
export const howToList = (kind: Kind): string =>
  `add this line ${place}: ${listingOf(kind)} — and ${howToGrant}`;

/** The error with the exact line to add, as the API server knows the kind. */
export async function explained(
  error: UnlistedKindError,
  before: readonly Resource[],
  live: Live,
): Promise<ChartError> {
  const { where, apiVersion, kind } = error;
  const served = await live.kind(apiVersion, kind);
  const left = before.filter((one) => resourceKey(one) === resourceKey({ apiVersion, kind, name: one.name }));
  const kept =
    left.length === 0
      ? ""
      : ` Objects that it made before (${left.map(({ name }) => name).join(", ")}) stay, and are not repaired until then.`;
  return new ChartError("ChartNotAllowed", `${where}: ${adviceOn(apiVersion, kind, served)}.${kept}`, {
    cause: error,
  });
}

function adviceOn(apiVersion: string, kind: string, served: Kind | undefined): string {
  if (served === undefined)
    return (
      "this site does not list the kind, and the API server does not serve it. Install its CRD, and list it " +
      `${place}, with the plural that kubectl api-resources shows; or take it out of the chart`
    );
  if (served.scope === "Cluster")
    return (
      `a ${kind} is in no namespace. A chart makes objects in the namespace of its Application alone: ` +
      "one Application could take it from another. Take it out of the chart"
    );
  const version =
    apiVersionOf(served) === apiVersion
      ? ""
      : ` The API server serves it as ${apiVersionOf(served)}: write that.`;
  return `this site does not list the kind ${kindText(served)}. To let charts make it, ${howToList(served)}.${version} Otherwise take it out of the chart`;
}

/** What is wrong with an entry of the list, as far as the API server's answer shows it. */
export async function howListedWrong(kind: Kind, live: Live): Promise<string | undefined> {
  const served = await live.kind(apiVersionOf(kind), kind.kind);
  if (served === undefined) return undefined;
  if (served.scope === "Cluster")
    return `A ${kind.kind} is in no namespace, and charts may not make it: take it out of the list.`;
  if (served.plural === kind.plural && served.version === kind.version) return undefined;
  return `The API server knows it as ${listingOf(served)}: correct the line ${place}.`;
}

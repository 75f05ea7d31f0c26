/** Advice for kinds that a site does not list, or lists under other names than the API server's. */
import { apiVersionOf, type Context, type Kind, kindText, platformNamespace } from "denrei";
import { ChartError, type UnlistedKindError } from "../charts/chart.ts";
import { siteKeys, siteName } from "../site/config.ts";
import { listingOf, rightsCommand } from "../site/kinds.ts";
import { type Resource, resourceKey } from "./inventory.ts";

type Live = Pick<Context["live"], "kind">;

/** How to apply the roles for listed kinds. */
export const howToGrant = `apply its roles: ${rightsCommand} | kubectl apply -f -`;

const listPlace = `under "kinds:" in ${siteKeys.config} of the ConfigMap ${siteName} in ${platformNamespace}`;

/** How to list a kind. */
export const howToList = (kind: Kind): string =>
  `add this line ${listPlace}: ${listingOf(kind)} — and ${howToGrant}`;

/** Adds to the error the exact line to add to the list, as the API server knows the kind. */
export async function withAdvice(
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
      : ` Until then, existing objects (${left.map(({ name }) => name).join(", ")}) stay and are not repaired.`;
  return new ChartError("ChartNotAllowed", `${where}: ${adviceOn(apiVersion, kind, served)}.${kept}`, {
    cause: error,
  });
}

function adviceOn(apiVersion: string, kind: string, served: Kind | undefined): string {
  if (served === undefined)
    return (
      "this site does not list the kind, and the API server does not serve it. Install its CRD, and list it " +
      `${listPlace}, with the plural that kubectl api-resources shows, or remove the object from the chart`
    );
  if (served.scope === "Cluster")
    return (
      `a ${kind} is cluster-scoped. A chart may only make objects in the namespace of its Application: ` +
      "otherwise one Application could take them from another. Remove it from the chart"
    );
  const version =
    apiVersionOf(served) === apiVersion
      ? ""
      : ` The API server serves it as ${apiVersionOf(served)}: use that version.`;
  return `this site does not list the kind ${kindText(served)}. To allow it in charts, ${howToList(served)}.${version} Otherwise remove it from the chart`;
}

/** Compares an entry of the list with the API server's answer, and returns the problem, if any. */
export async function listingProblem(kind: Kind, live: Live): Promise<string | undefined> {
  const served = await live.kind(apiVersionOf(kind), kind.kind);
  if (served === undefined) return undefined;
  if (served.scope === "Cluster")
    return `A ${kind.kind} is cluster-scoped, and charts may not make it: remove it from the list.`;
  if (served.plural === kind.plural && served.version === kind.version) return undefined;
  return `The API server knows it as ${listingOf(served)}: correct the line ${listPlace}.`;
}

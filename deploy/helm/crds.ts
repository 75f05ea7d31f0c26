/** The CRDs of the chart: those of enabled components. They are templates, so that an upgrade of the release upgrades them. */
import { definedKinds, type ReconcileFunction } from "denrei/runtime";
import { withReleasesWebhook } from "./admission.ts";
import { type Components, enabledWith } from "./components.ts";
import { at } from "./manifesttemplates.ts";
import type { Source } from "./sources.ts";
import { conditional, templateText } from "./template.ts";

/** The template. Uninstalling the release, or disabling a component, keeps the CRDs and all objects of their kinds. */
export function crdTemplate(
  crds: readonly Source[],
  functions: readonly ReconcileFunction[],
  components: Components,
): string {
  const usersOf = (crd: Source): string[] =>
    functions
      .filter((fn) => definedKinds([fn]).some((kind) => crdName(kind) === crd.metadata.name))
      .map(({ name }) => name);
  return crds
    .map((crd) => {
      const text = `---\n${templateText([kept(crd)])}`;
      const condition = enabledWith(usersOf(crd), components);
      return condition === undefined ? text : conditional(condition, text);
    })
    .join("");
}

const crdName = ({ plural, group }: { readonly plural: string; readonly group: string }): string =>
  `${plural}.${group}`;

function kept(source: Source): Source {
  const { metadata } = source as Source & { readonly metadata: { readonly annotations?: object } };
  const annotations = { "helm.sh/resource-policy": "keep", ...metadata.annotations };
  const crd = { ...source, metadata: { ...metadata, annotations } };
  return at(crd, "spec").conversion === undefined
    ? crd
    : withReleasesWebhook(crd, (object) => [at(object, "spec", "conversion", "webhook")]);
}

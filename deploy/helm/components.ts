/** Parts of the chart that depend on which components of the project are enabled. */
import { bridgeRules, type PolicyRule, type ReconcileFunction } from "denrei/runtime";
import type { Fields } from "./manifesttemplates.ts";
import type { Source } from "./sources.ts";
import { conditionalList, expression, type TemplateField, when } from "./template.ts";

/** Names of functions, by the name of their component. */
export type Components = ReadonlyMap<string, readonly string[]>;

const isEnabled = (component: string): string =>
  `(index .Values.components ${JSON.stringify(component)}).enabled`;

/**
 * The condition under which one of these functions is enabled, as an argument of a template function. Undefined if one of them belongs to
 * no component.
 */
export function enabledWith(names: readonly string[], components: Components): string | undefined {
  const owners = names.map((name) => [...components].find(([, functions]) => functions.includes(name))?.[0]);
  const distinct = [...new Set(owners)];
  if (distinct.includes(undefined)) return undefined;
  const conditions = distinct.map((name) => isEnabled(name ?? ""));
  return conditions.length === 1 ? conditions[0] : `(or ${conditions.join(" ")})`;
}

/** `DENREI_COMPONENTS`, which is not set while all components are enabled. */
export function componentsSetting(components: Components): TemplateField | undefined {
  const names = [...components.keys()];
  if (names.length === 0) return undefined;
  const enabled = names.map((name) => `(ternary ${JSON.stringify(name)} "" ${isEnabled(name)})`);
  return when(
    `not (and ${names.map(isEnabled).join(" ")})`,
    expression(`list ${enabled.join(" ")} | compact | join "," | default "none" | quote`),
  );
}

/** A role of the bridge, whose rules cover only the kinds of enabled functions. */
export function bridgeRole(
  role: Source,
  functions: readonly ReconcileFunction[],
  components: Components,
): Source {
  const object = structuredClone(role) as Source & Fields;
  const watchers = new Map<string, string[]>();
  for (const fn of functions)
    for (const rule of [...bridgeRules([fn], "all"), ...bridgeRules([fn], "opted-in")])
      for (const resource of rule.resources) {
        const key = keyOf(rule, resource);
        watchers.set(key, [...(watchers.get(key) ?? []), fn.name]);
      }
  const conditionOf = (rule: PolicyRule, resources: readonly string[]) =>
    enabledWith(
      resources.flatMap((resource) => watchers.get(keyOf(rule, resource)) ?? []),
      components,
    );
  object.rules = conditionalList(
    (object.rules as readonly PolicyRule[]).map((rule) => ({
      condition: conditionOf(rule, rule.resources),
      value: {
        ...rule,
        resources: conditionalList(
          rule.resources.map((resource) => ({ condition: conditionOf(rule, [resource]), value: resource })),
        ),
      },
    })),
  );
  return object;
}

const keyOf = ({ apiGroups, verbs }: PolicyRule, resource: string): string =>
  JSON.stringify([apiGroups, [...verbs].sort(), resource]);

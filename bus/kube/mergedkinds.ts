/** Several declarations of one kind, each with the part of the objects that its functions need. */
import { isDeepStrictEqual } from "node:util";
import { type Kind, kindText } from "./kind.ts";

/** What a declaration needs on the bus. */
export type Published = Pick<Kind, "publish" | "fields">;

/** What covers all of these needs. */
export function mergedPublished(needs: readonly Published[]): Published {
  const whole = needs.filter(({ publish }) => publish === "object");
  return {
    publish: whole.length > 0 ? "object" : "metadata",
    fields: whole.some(({ fields }) => fields === undefined)
      ? undefined
      : [...new Set(whole.flatMap(({ fields = [] }) => fields))].sort(),
  };
}

/** Each kind once, with what all of its declarations need, in the version of the first one. */
export function mergedKinds(declared: readonly Kind[]): Kind[] {
  const byName = Map.groupBy(declared, kindText);
  return [...byName.values()].map((same) => {
    const [first] = same as [Kind];
    const needs = same.map(({ publish, fields, reach }) => ({ publish, fields, reach }));
    if (needs.every((one) => isDeepStrictEqual(one, needs[0]))) return first;
    const reach = needs.some((one) => one.reach === "all") ? "all" : "opted-in";
    return { ...first, ...mergedPublished(needs), reach };
  });
}

/** What the bridge needs to know about functions. It is data, so a bundle has it apart from their code. */
import type { Kind } from "../kube/kind.ts";
import { type ListedFor, listOf } from "../kube/listedkinds.ts";
import { mergedKinds } from "../kube/mergedkinds.ts";
import type { FunctionSubscription } from "../topology.ts";
import { type SelectedEvent, selectedEvent } from "../webhooks/sharedselection.ts";
import { definedKinds, namedKinds } from "./definedkinds.ts";
import { type ReconcileFunction, subscriptionOf } from "./function.ts";

/** What the bridge needs to know about one function. Can be written as JSON, except for `lists`, which has code. */
export interface FunctionNeeds extends Omit<FunctionSubscription, "scope" | "kinds" | "listed" | "webhooks"> {
  /** Its name. */
  readonly name: string;
  /** Without their definitions. */
  readonly kinds: readonly Kind[];
  /** Kinds that the installation lists for it. */
  readonly lists: readonly ListedFor[];
  /** Annotations to publish for kinds of which only the metadata is published. */
  readonly annotations: readonly string[];
  /** The events that it receives. */
  readonly webhooks: readonly SelectedEvent[];
}

/** What the bridge needs to know about these functions. Throws a `TypeError` if a kind has two definitions. */
export function needsOf(functions: readonly ReconcileFunction[]): FunctionNeeds[] {
  definedKinds(functions);
  return functions.map((fn) => {
    const { scope: _, ...subscription } = subscriptionOf(fn, "");
    return {
      ...subscription,
      name: fn.name,
      kinds: mergedKinds(namedKinds(fn)).map(({ definition: _, ...kind }) => kind),
      lists: listOf(fn),
      annotations: fn.annotations,
      webhooks: fn.webhooks.map(selectedEvent),
    };
  });
}

/** The parameters of a bridge that serves functions with these needs. */
export const bridgeNeeds = (needs: readonly FunctionNeeds[], cluster: string) => ({
  kinds: mergedKinds(needs.flatMap(({ kinds }) => kinds)),
  lists: needs.flatMap(({ lists }) => lists),
  annotations: new Set(needs.flatMap(({ annotations }) => annotations)),
  webhooks: needs.flatMap(({ webhooks }) => webhooks),
  subscriptions: needs.map(
    ({ name, lists: _, annotations: __, ...subscription }): FunctionSubscription => ({
      ...subscription,
      scope: { fn: name, cluster },
    }),
  ),
});

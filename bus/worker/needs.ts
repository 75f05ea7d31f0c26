/** What the bridge and the gateway need to know about functions. Most of it is data, so a bundle has it apart from their code. */
import type { Kind } from "../kube/kind.ts";
import { type ListedFor, listOf } from "../kube/listedkinds.ts";
import { mergedKinds } from "../kube/mergedkinds.ts";
import type { FunctionSubscription } from "../topology.ts";
import type { WebhookProvider } from "../webhooks/provider.ts";
import { type SelectedEvent, selectedEvent } from "../webhooks/sharedselection.ts";
import { definedKinds, namedKinds } from "./definedkinds.ts";
import { type ReconcileFunction, subscriptionOf } from "./function.ts";

/** What the bridge and the gateway need to know about one function. Can be written as JSON if `lists` and `providers` are empty. */
export interface FunctionNeeds extends Omit<FunctionSubscription, "scope" | "kinds" | "listed" | "webhooks"> {
  /** Its name. */
  readonly name: string;
  /** Without their definitions. */
  readonly kinds: readonly Kind[];
  /** Kinds that the installation lists for it. */
  readonly lists: readonly ListedFor[];
  /** Annotations to publish for kinds of which only the metadata is published. */
  readonly annotations: readonly string[];
  /** The webhooks that it receives. */
  readonly webhooks: readonly SelectedEvent[];
  /** The providers of these webhooks that are not built in. */
  readonly providers: readonly WebhookProvider[];
}

/** What the bridge and the gateway need to know about these functions. Throws a `TypeError` if a kind has two definitions. */
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
      providers: fn.webhooks.flatMap(({ provider }) => (provider.isBuiltIn ? [] : [provider])),
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
    ({ name, lists: _, annotations: __, providers: ___, ...subscription }): FunctionSubscription => ({
      ...subscription,
      scope: { fn: name, cluster },
    }),
  ),
});

/** The parameters of a gateway that serves functions with these needs. */
export const gatewayNeeds = (needs: readonly FunctionNeeds[]) => ({
  webhooks: needs.flatMap(({ webhooks }) => webhooks),
  providers: needs.flatMap(({ providers }) => providers),
});

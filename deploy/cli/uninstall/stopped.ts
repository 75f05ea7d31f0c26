/** Finds out whether workers of a project still run: they add their finalizers again at once. */
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeClient } from "denrei/kubernetes";
import { ExpectedError } from "denrei/runtime";
import { type Claim, finalizersOf, takeInventory } from "./inventory.ts";

/** Removing a finalizer is a change, which a running worker handles within this time. */
const reactionMillis = 10_000;
const pollMillis = 1_000;

/** Throws an {@link ExpectedError} as soon as an object has a finalizer again. */
export async function expectStopped(client: KubeClient, claim: Claim): Promise<void> {
  const deadline = Date.now() + reactionMillis;
  while (Date.now() < deadline) {
    const { own, others } = await takeInventory(client, claim);
    const again = [...own, ...others].flatMap(({ object }) => finalizersOf(object, claim));
    if (again.length > 0) {
      const names = [...new Set(again.map((one) => claim.finalizers.get(one)))].join(", ");
      throw new ExpectedError(
        `${again.length} finalizers are set again: workers of ${names} still run. Stop them, and run the command again`,
      );
    }
    await sleep(pollMillis);
  }
}

/** Which calls the API server answered, from its own metrics. */
import { request } from "undici";
import type { KubeConnection } from "../../bus/kube/connection.ts";

/** How often by call: `POST zundokos`, `PATCH hikawas/status`. A refused call is a call too. */
export type Calls = ReadonlyMap<string, number>;

/**
 * The kinds that either controller can have called. Not every one, because the API server calls itself, too (leases,
 * flow schemas); and a watch is counted when it ends, so those that are open do not show.
 */
const groups = new Set(["zundokokiyoshi.kaitoy.github.com", "events.k8s.io"]);

/** All calls so far. */
export async function readCalls(connection: KubeConnection): Promise<Calls> {
  const { statusCode, body } = await request(`${connection.server}/metrics`, {
    dispatcher: connection.requests,
  });
  const text = await body.text();
  if (statusCode !== 200)
    throw new Error(`expected the API server's /metrics, found ${statusCode}: ${text.slice(0, 200)}`);
  const calls = new Map<string, number>();
  for (const [, labelText = "", count] of text.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const labels = Object.fromEntries(
      [...labelText.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    );
    if (!groups.has(labels.group ?? "")) continue;
    const call = `${labels.verb} ${labels.resource}${labels.subresource ? `/${labels.subresource}` : ""}`;
    calls.set(call, (calls.get(call) ?? 0) + Number(count));
  }
  return calls;
}

/** The calls between two readings, without those that the benchmark itself made. */
export function callsBetween(before: Calls, after: Calls, own: Calls): Calls {
  const between = new Map<string, number>();
  for (const [call, count] of after) {
    const made = count - (before.get(call) ?? 0) - (own.get(call) ?? 0);
    if (made !== 0) between.set(call, made);
  }
  return between;
}

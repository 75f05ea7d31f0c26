/** The calls that the API server answered, from its own metrics. */
import { request } from "undici";
import type { KubeConnection } from "../../bus/kube/connection.ts";

/** Counts by call: `POST zundokos`, `PATCH hikawas/status`. Rejected calls count, too. */
export type Calls = ReadonlyMap<string, number>;

/**
 * The resources that either controller uses. Other resources are left out, because the API server calls itself (leases, flow
 * schemas). A watch is counted when it ends, so open watches are missing.
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

/** The calls between two readings, without the benchmark's own. */
export function callsBetween(before: Calls, after: Calls, own: Calls): Calls {
  const between = new Map<string, number>();
  for (const [call, count] of after) {
    const made = count - (before.get(call) ?? 0) - (own.get(call) ?? 0);
    if (made !== 0) between.set(call, made);
  }
  return between;
}

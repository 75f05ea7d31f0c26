/** How NATS servers share streams, as a monitoring port tells it. */

/** Servers that keep something together. */
export interface Group {
  readonly leader: string;
  readonly replicas?: readonly { readonly name: string }[];
}

/** How many servers there are, and who keeps which stream. */
export interface Groups {
  readonly size: number;
  readonly streams: readonly { readonly name: string; readonly cluster: Group }[];
}

/** What the server with this monitoring port knows. */
export async function groupsAt(monitorUrl: string): Promise<Groups> {
  const answer = await fetch(`${monitorUrl}/jsz?streams=true&config=true`);
  const { account_details, meta_cluster } = (await answer.json()) as {
    meta_cluster: { cluster_size: number };
    account_details: { stream_detail: Groups["streams"] }[];
  };
  return { size: meta_cluster.cluster_size, streams: account_details.flatMap((one) => one.stream_detail) };
}
